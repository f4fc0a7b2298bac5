"""Load checkpoints without running code from them, and find the one to resume from.

A checkpoint is a pickle, and a pickle can run any program. PyTorch's restricted unpickler refuses
everything but tensors, plain containers and the classes that were allowed by name. MMEngine's
checkpoints also hold its training history, and the curve of OneCycleLR; what these need is allowed
here, and nothing more.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mmengine.logging import HistoryBuffer
from mmengine.optim.scheduler.param_scheduler import OneCycleParamScheduler

from mmshufflemix.files import unpacked_size, write_bytes
from mmshufflemix.text import some

__all__ = [
    'allow_mmengine_globals',
    'checkpoints_there',
    'latest_checkpoint',
    'load_checkpoint_file',
    'mmengine_globals',
    'write_checkpoint_file',
]

# The ways in which PyTorch's unpickler says what a file asked for.
_WANTED = re.compile(
    r"(?:[Uu]nsupported (?:global: )?GLOBAL |Unsupported global: |unrecognized function |<class ')"
    r'([\w.<]+)'
)
_MOST_UNPACKED = 10
"""Times the size of the file. PyTorch packs nothing, so that a checkpoint unpacks to its size."""
_NUMBER = re.compile(r'(?:^|[A-Za-z_])(\d+)\.pth$')


class _OneCycleCurves:
    """Stands for OneCycleLR's class, which a file is not to build."""

    _annealing_cos = staticmethod(OneCycleParamScheduler._annealing_cos)
    _annealing_linear = staticmethod(OneCycleParamScheduler._annealing_linear)


def _known_attribute(owner: Any, name: str) -> Any:
    """Stand in for ``getattr``, which MMEngine's history and OneCycleLR name in their pickles."""
    if owner is HistoryBuffer and name in ('min', 'max', 'current', 'mean'):
        return getattr(owner, name)
    if owner is _OneCycleCurves and name in ('_annealing_cos', '_annealing_linear'):
        return getattr(owner, name)
    raise pickle.UnpicklingError(f'Unsupported global: getattr of {name!r} was asked for')


def mmengine_globals() -> list[Callable[..., Any] | tuple[Callable[..., Any], str]]:
    """List what MMEngine's checkpoints need beyond tensors, for ``torch.serialization``.

    Number arrays, number scalars, ``slice`` and MMEngine's history buffer; ``getattr`` is replaced
    by a function that only reaches the buffer's own statistics and the curves of OneCycleLR. Arrays
    of objects stay refused.

    Returns:
        Pairs of an object and the name under which a pickle asks for it.
    """
    core = np._core if hasattr(np, '_core') else np.core
    multiarray: Any = core.multiarray
    dtypes = sorted({type(np.dtype(code)) for code in '?bBhHiIlLqQefdFDU'}, key=repr)
    return [
        (HistoryBuffer, 'mmengine.logging.history_buffer.HistoryBuffer'),
        (_OneCycleCurves, 'mmengine.optim.scheduler.param_scheduler.OneCycleParamScheduler'),
        (_known_attribute, 'builtins.getattr'),
        (slice, 'builtins.slice'),
        (np.ndarray, 'numpy.ndarray'),
        (np.dtype, 'numpy.dtype'),
        *((dtype, f'numpy.dtypes.{dtype.__name__}') for dtype in dtypes),
        # NumPy 1 and NumPy 2 write different names.
        *((multiarray.scalar, f'numpy.{name}.multiarray.scalar') for name in ('core', '_core')),
        *(
            (multiarray._reconstruct, f'numpy.{name}.multiarray._reconstruct')
            for name in ('core', '_core')
        ),
    ]


def allow_mmengine_globals() -> None:
    """Let ``torch.load(..., weights_only=True)`` read MMEngine's checkpoints in this process.

    From PyTorch 2.6 on that is the default of ``torch.load``, which the official MMEngine calls
    without further arguments: without this, it cannot resume from its own checkpoints.
    """
    torch.serialization.add_safe_globals(mmengine_globals())


def load_checkpoint_file(path: str | Path, map_location: Any = 'cpu') -> Any:
    """Read one local checkpoint without running code from it.

    Args:
        path: The file.
        map_location: As for ``torch.load``.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is damaged, or asks for anything but data.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"checkpoint '{path}' does not exist{checkpoints_there(path)}; give the path of a .pth "
            'file that training wrote.'
        )
    try:
        allow_mmengine_globals()
        if unpacked_size(path) > _MOST_UNPACKED * path.stat().st_size:
            raise pickle.UnpicklingError('a packed file')
        return torch.load(path, map_location=map_location, weights_only=True)
    except pickle.UnpicklingError as error:
        wanted = _WANTED.search(str(error))
        if wanted is None:
            raise ValueError(_damaged(path)) from error
        raise ValueError(
            f"checkpoint '{path}' is refused because it asks for more than data "
            f'({wanted.group(1)}), which could run a program; use a file that holds only tensors '
            'and numbers.'
        ) from error
    except OSError:
        raise
    except Exception as error:  # a damaged file can fail in any way
        raise ValueError(_damaged(path)) from error


def checkpoints_there(path: str | Path) -> str:
    """Say which checkpoints, the newest first, are where one was looked for; '' if there are none.

    Args:
        path: What is no checkpoint file: a missing file, whose folder is searched, or a folder.
    """
    path = Path(path).expanduser()
    folder = path if path.is_dir() else path.parent
    found = [(file.stat().st_mtime, file.name) for file in folder.glob('*.pth') if file.is_file()]
    names = [name for _, name in sorted(found, reverse=True)]
    return f" ('{folder}' has {some(names, limit=4)})" if names else ''


def _damaged(path: Path) -> str:
    return f"checkpoint '{path}' is damaged or not a checkpoint; use another one or train again."


def latest_checkpoint(work_dir: str | Path) -> Path | None:
    """Find the newest complete checkpoint of a run.

    The file ``last_checkpoint`` is believed if it names a complete file. If it is missing, torn or
    points nowhere, the complete ``epoch_*.pth`` or ``iter_*.pth`` with the highest number is taken.

    Returns:
        The path, or ``None`` if the folder has no complete checkpoint.
    """
    folder = Path(work_dir)
    marker = folder / 'last_checkpoint'
    if marker.is_file():
        named = Path(marker.read_text(errors='replace').strip() or '.')
        for path in (named, folder / named.name):
            if _is_complete(path):
                return path
    numbered = []
    for path in folder.glob('*.pth'):
        number = _NUMBER.search(path.name)
        if number and not path.name.startswith('best_') and _is_complete(path):
            numbered.append((int(number.group(1)), path))
    return max(numbered)[1] if numbered else None


def _is_complete(path: Path) -> bool:
    # A zip archive ends with its table of contents, so a torn one does not read as an archive.
    return path.is_file() and zipfile.is_zipfile(path)


def write_checkpoint_file(path: str | Path, checkpoint: dict[str, Any]) -> None:
    """Write a checkpoint, whole or not at all; the folder is made if missing."""
    buffer = io.BytesIO()
    torch.save(checkpoint, buffer)
    write_bytes(path, buffer.getvalue())

"""Run a command line tool: users' mistakes end in one sentence, bugs in a traceback."""

from __future__ import annotations

import argparse
import gc
import io
import os
import re
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from torch import distributed

from mmshufflemix._early_stop import end_imports
from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.failure_file import report_failure
from mmshufflemix.first_process import wait_for_first_task
from mmshufflemix.near_names import with_near_names
from mmshufflemix.text import printable

__all__ = ['error_sentence', 'is_user_error', 'new_parser', 'run_cli']

TRACEBACK_VARIABLE = 'MMSHUFFLEMIX_TRACEBACK'

# Whatever fails while a config is read, while an object is built from it or while a picture is
# decoded comes from the config or the data.
_CONFIG_MODULES = ('mmengine.config.', 'mmengine.registry.', 'mmengine.utils.package_utils')
_READING_MODULES = ('mmcv.image.', 'mmcv.transforms.loading')
_CONFIG_ERRORS = (
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
_OWN_ERRORS = (ImportError, LookupError, NotImplementedError, RuntimeError, TypeError, ValueError)
_NAMED = (AttributeError, NameError, IndexError, NotImplementedError, SyntaxError)
_BUILD_PREFIX = re.compile(r'class `[^`]+` in [\w./]+(?:\.py)?: ')
_WORKER = re.compile(r'^Caught \w+ in .*?\.\nOriginal Traceback .*?:\n(?P<trace>.*)', re.DOTALL)
_WORKER_FRAME = re.compile(r'^  File "(?P<file>[^"]+)"', re.MULTILINE)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if report_failure(f'{message}; see --help', mistake=True):
            sys.exit(2)
        wait_for_first_task()
        super().error(message)


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """Make a parser with the options that every tool has."""
    parser = _Parser(description=description)
    parser.add_argument(
        '--traceback',
        action='store_true',
        help=f'show where an error came from (also: set {TRACEBACK_VARIABLE}=1)',
    )
    return parser


def run_cli(main: Callable[[], object]) -> None:
    """Run the main function of a tool, with checkpoints loaded without running code from them.

    A mistake of the user (see :func:`is_user_error`) is printed to stderr as
    ``error: <one sentence>`` and ends the process with 1. Everything else keeps its traceback, and
    ``--traceback`` or the environment variable ``MMSHUFFLEMIX_TRACEBACK=1`` keeps it always. Ctrl-C
    ends it with 130, and with the text of the interrupt if it has one.
    """
    use_safe_loading()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # File names need not be text, and a terminal need not know all letters.
        sys.stdout.reconfigure(errors='backslashreplace')
    try:
        end_imports()
        main()
        _leave_processes()
    except KeyboardInterrupt as stop:
        sys.stdout.flush()
        if str(stop):
            print(printable(str(stop)), file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        asked = '--traceback' in sys.argv or os.environ.get(TRACEBACK_VARIABLE) == '1'
        if asked or not is_user_error(error):
            report_failure(f'{type(error).__name__}: {error}', mistake=False)
            raise
        sys.stdout.flush()
        sentence = printable(error_sentence(error))
        if not report_failure(sentence, mistake=True):
            wait_for_first_task()
            print(f'error: {sentence}', file=sys.stderr)
        sys.exit(1)


def is_user_error(error: BaseException) -> bool:
    """Tell mistakes in configs, arguments and data from bugs.

    Mistakes are: files and addresses that cannot be read, whatever goes wrong while a config is
    read, an object is built from it or a picture is decoded, and the errors that this package and
    its tools raise themselves.
    """
    error = _original(error)
    if isinstance(error, OSError):
        return True
    trace = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    modules = [frame.f_globals.get('__name__', '') for frame in trace]
    worker = _WORKER.match(str(error))
    if worker:
        # A data loading worker sends its traceback as text; file names stand for modules.
        files = _WORKER_FRAME.findall(worker['trace'])
        modules = [_module_of(file) for file in files]
    if isinstance(error, _OWN_ERRORS) and modules[-1:] and _is_own(modules[-1]):
        return True
    from_config = any(
        module.startswith(_CONFIG_MODULES + _READING_MODULES) for module in modules
    ) or any(_builds(frame) for frame in trace)
    return isinstance(error, _CONFIG_ERRORS) and from_config


def error_sentence(error: BaseException) -> str:
    """Put the innermost message of an error on one line, without the builders' prefixes."""
    error = _original(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"cannot open '{error.filename}': {error.strerror.lower()}"
    if isinstance(error, ImportError) and isinstance(error.__cause__, ImportError):
        error = error.__cause__
    message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    worker = _WORKER.match(message)
    if worker:
        message = worker['trace'].rstrip().splitlines()[-1].split(': ', 1)[-1]
    builders = re.findall(r'class `([^`]+)`', ' '.join(_BUILD_PREFIX.findall(message)))
    message = ' '.join(_BUILD_PREFIX.sub('', message).split())
    message = re.sub(r' More details can be found at \S+', '', message)
    message = with_near_names(message, error)
    if isinstance(error, _NAMED) or not message:
        return f'{type(error).__name__}: {message}'.rstrip(': ')
    if isinstance(error, KeyError) and message.isidentifier():
        return f'the setting {message!r} is missing'
    if builders and message.startswith('__init__()'):
        return f'{builders[-1]}.{message}'
    if message.startswith('end should be larger than begin'):
        # MMEngine fills in the length of the training where a schedule has no end.
        return f'a schedule in param_scheduler does not fit the length of the training: {message}'
    return message


def _original(error: BaseException) -> BaseException:
    """The error of a hook, where the runner raised it anew with the hook behind its message."""
    inner = error.__context__
    return inner if inner and str(error).startswith(f'{inner} in <') else error


def _leave_processes() -> None:
    # Else a thread of gloo may let its last tensors go while Python ends, which aborts the process.
    # Threads end with the group, which the runner holds, and the runner is garbage in circles.
    joined = distributed.is_available() and distributed.is_initialized()
    if joined and distributed.get_backend() == 'gloo':
        gc.collect()
        distributed.destroy_process_group()


def _builds(frame: FrameType) -> bool:
    """Tell whether a frame is the runner building its parts."""
    name = frame.f_code.co_name
    return frame.f_globals.get('__name__') == 'mmengine.runner.runner' and (
        name in ('__init__', 'from_cfg') or name.startswith('build_')
    )


def _module_of(file: str) -> str:
    """Turn ``.../site-packages/mmcv/image/io.py`` into ``mmcv.image.io``."""
    parts = file.removesuffix('.py').replace(os.sep, '/').split('/')
    for package in ('mmshufflemix', 'mmcv', 'mmengine'):
        if package in parts:
            start = len(parts) - 1 - parts[::-1].index(package)
            return '.'.join(parts[start:])
    return parts[-1]


def _is_own(module: str) -> bool:
    return module == '__main__' or module.split('.')[0] == 'mmshufflemix'

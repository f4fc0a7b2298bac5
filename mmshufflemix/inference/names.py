"""Class names from a checkpoint, a config or a list."""

from __future__ import annotations

from pathlib import Path

from mmpretrain.utils import register_all_modules

from mmshufflemix.checkpoint import load_checkpoint_file
from mmshufflemix.checkpoint_content import checkpoint_classes
from mmshufflemix.class_names import check_class_names
from mmshufflemix.inference.build import config_classes
from mmshufflemix.prepare import check_local_file, read_config

__all__ = ['read_names']


def read_names(path: str) -> tuple[str, ...]:
    """Read class names, in the order of the class ids.

    Args:
        path: A checkpoint (``.pth``), a config (``.py``), or a text file with one name a line.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it has no class names, or one twice.
    """
    check_local_file(path, 'the file of class names')
    suffix = Path(path).suffix
    names: object
    if suffix == '.pth':
        names = checkpoint_classes(load_checkpoint_file(path))
    elif suffix == '.py':
        register_all_modules()
        names = config_classes(read_config(path))
    else:
        try:
            lines = Path(path).read_text(encoding='utf-8').splitlines()
        except UnicodeDecodeError as error:
            raise ValueError(f"'{path}' is not UTF-8 text; save it as UTF-8.") from error
        names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise ValueError(f"'{path}' names no classes; give a text file with one name a line.")
    return check_class_names(names)

"""Keep the user's config where MMEngine would write the merged one over it."""

from __future__ import annotations

import io
import re
import tokenize
from copy import deepcopy
from itertools import chain, count
from pathlib import Path

from mmengine.config import Config

from mmshufflemix.first_process import is_first_process

__all__ = ['keep_own_config']

_BASE = re.compile(r'^(?:_base_\s*=|with read_base\(\))', re.MULTILINE)


def keep_own_config(cfg: Config) -> Config:
    """Let MMEngine write the merged config beside a file of the user, not over it.

    A Runner writes its config into the work folder under the name of the config file. What lies
    there may be the config file itself, with its comments and its ``_base_``. It is left alone
    unless it is such a written config, and so holds nothing else.

    Args:
        cfg: With ``work_dir`` and, where it came from a file, ``filename``.

    Returns:
        The config, or a copy of it that is written under a name that is free.
    """
    if not cfg.filename or not cfg.get('work_dir'):
        return cfg
    target = Path(cfg.work_dir) / Path(cfg.filename).name
    if not target.is_file() or _is_written(target, Path(cfg.filename)):
        return cfg
    name = _free_name(target, cfg.dump())
    if is_first_process(cfg.get('launcher')):
        print(
            f"'{target}' is a config of yours and stays as it is; all settings of this run are in "
            f"'{name.name}' beside it"
        )
    cfg = deepcopy(cfg)
    # The name decides where MMEngine writes, and it can be given to a new Config only.
    object.__setattr__(cfg, '_filename', str(name))
    return cfg


def _is_written(target: Path, source: Path) -> bool:
    """Tell whether a file is one that MMEngine wrote."""
    text = _text(target)
    if source.is_file() and target.samefile(source):
        return text == Config.fromfile(source).dump()
    # Another file of that name is no part of this run, and a config is a program: it is not run.
    return not _BASE.search(text) and not _has_comment(text, target.suffix)


def _has_comment(text: str, suffix: str) -> bool:
    if suffix != '.py':
        return any(line.lstrip().startswith('#') for line in text.splitlines())
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return True
    return any(token.type == tokenize.COMMENT for token in tokens)


def _free_name(target: Path, content: str) -> Path:
    """Find a name beside ``target`` that is not taken, or taken by the same content."""
    ends = chain(['_merged'], (f'_merged_{number}' for number in count(2)))
    names = (target.with_name(f'{target.stem}{end}{target.suffix}') for end in ends)
    return next(name for name in names if not name.exists() or _text(name) == content)


def _text(path: Path) -> str:
    return path.read_text(encoding='utf-8', errors='replace')

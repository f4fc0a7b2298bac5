"""Find where config files use a variable while they are read, without running them."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mmengine.config import Config

from mmshufflemix.text import some

__all__ = ['lines_of_use', 'sources']

_HEAD = re.compile(r'^(\S.*\.(?:py|json|ya?ml))\n', re.MULTILINE)
_IN_TEXT = re.compile(r'\{\{\s*_base_\.(\w+)')
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.Lambda, *_COMPREHENSIONS)


def lines_of_use(files: dict[Path, ast.Module], name: str) -> str:
    """List the lines where expressions use a variable, ``''`` if there are none.

    Args:
        files: What :func:`sources` found.
        name: Of a variable at the top of these files.

    Returns:
        For example ``line 3 of a.py, lines 7, 9 of b.py``.
    """
    found = []
    for path, module in files.items():
        lines = sorted(set(_lines(module, name)))
        if lines:
            found.append(f'line{"s" * (len(lines) > 1)} {some(lines)} of {path.name}')
    return ', '.join(found)


def sources(cfg: Config) -> dict[Path, ast.Module]:
    """Parse the Python files that a config was read from, its bases behind it.

    Returns:
        The syntax tree of each file; none of a config that was not read from Python.
    """
    if not cfg.filename or Path(cfg.filename).suffix != '.py':
        return {}
    first = Path(cfg.filename).expanduser().resolve()
    # MMEngine keeps the name of each file before its text, where files are bases by ``_base_``.
    named = [Path(name).resolve() for name in _HEAD.findall(cfg.text) if Path(name).is_absolute()]
    files: dict[Path, ast.Module] = {}
    waiting = [first, *reversed(named)]
    while waiting:
        path = waiting.pop(0)
        if path in files:
            continue
        with suppress(OSError, SyntaxError, ValueError):
            files[path] = ast.parse(path.read_text(encoding='utf-8'))
            waiting += _imported_bases(files[path], path)
    return files


def _imported_bases(module: ast.Module, path: Path) -> Iterator[Path]:
    """Files that ``with read_base():`` imports."""
    blocks = [node for node in module.body if isinstance(node, ast.With)]
    for node in (node for block in blocks for node in block.body):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        package, *parts = node.module.split('.')
        if node.level:
            yield path.parents[node.level - 1].joinpath(package, *parts).with_suffix('.py')
        elif (spec := importlib.util.find_spec(package)) and parts:
            for folder in spec.submodule_search_locations or ():
                yield Path(folder, *parts).with_suffix('.py')


def _lines(node: ast.AST, name: str) -> Iterator[int]:
    """Lines where a variable at the top is loaded, by its name or as ``_base_.name``."""
    if isinstance(node, _SCOPES) and name in _own_names(node):
        return
    match node:
        # A new value of the variable itself, which an option replaces.
        case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
            return
        case ast.Name(id=found, ctx=ast.Load()) if found == name:
            yield node.lineno
        case ast.Attribute(value=ast.Name(id='_base_'), attr=found) if found == name:
            yield node.lineno
        # MMEngine puts variables into texts, too.
        case ast.Constant(value=str(text)) if name in _IN_TEXT.findall(text):
            yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _lines(child, name)


def _own_names(scope: ast.AST) -> set[str]:
    """Names that a function or comprehension binds for itself."""
    nodes = list(ast.walk(scope))
    return {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }

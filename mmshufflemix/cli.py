"""Run a command line tool: users' mistakes end in one sentence, bugs in a traceback."""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from mmshufflemix.checkpoint_schemes import use_safe_loading

__all__ = ['error_sentence', 'is_user_error', 'new_parser', 'run_cli']

TRACEBACK_VARIABLE = 'MMSHUFFLEMIX_TRACEBACK'

# Whatever fails while a config is read, or while an object is built from it, comes from the config.
_CONFIG_MODULES = ('mmengine.config.', 'mmengine.registry.', 'mmengine.utils.package_utils')
_CONFIG_ERRORS = (
    ArithmeticError,
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
_NAMELESS = (OSError, KeyError, RuntimeError, TypeError, ValueError, ImportError)
_BUILD_PREFIX = re.compile(r'class `[^`]+` in [\w./]+(?:\.py)?: ')
_WORKER = re.compile(r'^Caught \w+ in .*?\.\nOriginal Traceback .*?:\n(?P<trace>.*)', re.DOTALL)
_WORKER_FRAME = re.compile(r'^  File "(?P<file>[^"]+)"', re.MULTILINE)


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """Make a parser with the options that every tool has."""
    parser = argparse.ArgumentParser(description=description)
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
    ``--traceback`` or the environment variable ``MMSHUFFLEMIX_TRACEBACK=1`` keeps it always.
    """
    use_safe_loading()
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if '--traceback' in sys.argv or os.environ.get(TRACEBACK_VARIABLE) == '1':
            raise
        if not is_user_error(error):
            raise
        sys.stdout.flush()
        print(f'error: {error_sentence(error)}', file=sys.stderr)
        sys.exit(1)


def is_user_error(error: BaseException) -> bool:
    """Tell mistakes in configs, arguments and data from bugs.

    Mistakes are: files and addresses that cannot be read, whatever goes wrong while a config is
    read or an object is built from it, and the errors that this package raises itself.
    """
    if isinstance(error, OSError):
        return True
    modules = _modules(error.__traceback__)
    worker = _WORKER.match(str(error))
    if worker:
        last_file = _WORKER_FRAME.findall(worker['trace'])[-1]
        return os.path.dirname(os.path.abspath(__file__)) in last_file
    if isinstance(error, _OWN_ERRORS) and modules and modules[-1].startswith('mmshufflemix'):
        return True
    built = any(module.startswith(_CONFIG_MODULES) for module in modules)
    return isinstance(error, _CONFIG_ERRORS) and (built or _raised_in_runner_init(error))


def error_sentence(error: BaseException) -> str:
    """Put the innermost message of an error on one line, without the builders' prefixes."""
    message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    worker = _WORKER.match(message)
    if worker:
        last_line = worker['trace'].rstrip().splitlines()[-1]
        message = last_line.split(': ', 1)[-1]
    prefixes = _BUILD_PREFIX.findall(message)
    message = ' '.join(_BUILD_PREFIX.sub('', message).split())
    if not isinstance(error, _NAMELESS) or not message:
        message = f'{type(error).__name__}: {message}'.rstrip(': ')
    elif prefixes and 'argument' in message:
        # "__init__() got an unexpected keyword argument" says nothing without the class.
        message = f'{prefixes[-1].split("`")[1]}: {message}'
    elif isinstance(error, KeyError) and not isinstance(error.args[0] if error.args else '', str):
        message = f'missing key {message}'
    return re.sub(r' More details can be found at \S+', '', message)


def _modules(trace: TracebackType | None) -> list[str]:
    frames = (frame for frame, _ in traceback.walk_tb(trace))
    return [frame.f_globals.get('__name__', '') for frame in frames]


def _raised_in_runner_init(error: BaseException) -> bool:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    last = frames[-1] if frames else None
    return (
        last is not None
        and last.f_globals.get('__name__') == 'mmengine.runner.runner'
        and (last.f_code.co_name == '__init__' or last.f_code.co_name.startswith('build_'))
    )

"""Types of options: numbers within a range, a device that is there, settings of a config."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

import torch
from mmengine.config import DictAction

from mmshufflemix.option_values import read_value

__all__ = [
    'BATCH_SIZE',
    'PAIRS',
    'SEED',
    'SettingsAction',
    'add_cfg_options',
    'available_device',
    'number',
    'whole_number',
]


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Make a type for options that are whole numbers from ``least`` to ``most``."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f'must be a whole number from {least} to {most}, got {text!r}'
            )
        return value

    return convert


def number(least: float, most: float) -> Callable[[str], float]:
    """Make a type for options that are numbers from ``least`` to ``most``."""

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float('nan')
        # False for NaN, too.
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f'must be a number from {least:g} to {most:g}, got {text!r}'
            )
        return value

    return convert


def available_device(text: str) -> str:
    """Check an option that names a device, which has to be one whose end of work can be awaited.

    Raises:
        argparse.ArgumentTypeError: If it is another one, or is not there.
    """
    match = re.fullmatch(r'cpu|cuda(?::([0-9]{1,9}))?', text)
    if not match:
        raise argparse.ArgumentTypeError(f'must be cpu, cuda or cuda:NUMBER, got {text!r}')
    if text != 'cpu':
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(match[1] or 0) >= count:
            seen = f'only {count} of them' if count else 'no CUDA device'
            raise argparse.ArgumentTypeError(
                f'{text!r} is not there, since PyTorch sees {seen}; give another one, such as cpu'
            )
    return text


# NumPy takes seeds below 2**32, and the numbers of pairs are added to some.
SEED = whole_number(0, 2**31 - 1)
# A median with quartiles needs two.
PAIRS = whole_number(2, 10**6)
BATCH_SIZE = whole_number(1, 65536)


class SettingsAction(DictAction):
    """MMEngine's action for ``KEY=VALUE``, which here keeps spaces and refuses what is neither."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add the settings to those of earlier options of that name.

        Raises:
            argparse.ArgumentError: If there is no name, no ``=``, or no value that can be read.
        """
        options = dict(getattr(namespace, self.dest, None) or {})
        for word in values:
            name, equals, text = word.partition('=')
            if not equals or not all(part and part == part.strip() for part in name.split('.')):
                raise argparse.ArgumentError(
                    self, f'{word!r} is not KEY=VALUE, such as train_cfg.max_epochs=3'
                )
            try:
                options[name] = read_value(text)
            except ValueError as error:
                raise argparse.ArgumentError(self, f'{name} {error}') from error
        setattr(namespace, self.dest, options)


def add_cfg_options(
    parser: argparse._ActionsContainer, text: str = 'change settings of the config'
) -> None:
    """Add ``--cfg-options``.

    Args:
        parser: Of a tool.
        text: What ``--help`` says of it.
    """
    parser.add_argument(
        '--cfg-options', nargs='+', action=SettingsAction, metavar='KEY=VALUE', help=text
    )

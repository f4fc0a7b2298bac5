"""Logged values that are appended without copying all earlier ones.

MMEngine's ``HistoryBuffer`` makes a new array at every update: after 78 000 steps (200 epochs of
CIFAR) that costs more than the whole loading of a batch.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from mmengine.logging import HistoryBuffer

__all__ = ['GrowingHistories', 'GrowingHistory']


class _Column:
    """A growing array; the part in use is a view."""

    def __init__(self, values: Any) -> None:
        self._array = np.array(values)
        self._used = len(self._array)

    def append(self, value: float) -> None:
        kind = np.promote_types(self._array.dtype, type(value))
        if self._used == len(self._array) or kind != self._array.dtype:
            grown = np.empty(max(8, 2 * self._used), kind)
            grown[: self._used] = self.values
            self._array = grown
        self._array[self._used] = value
        self._used += 1

    @property
    def values(self) -> np.ndarray:
        return self._array[: self._used]


class GrowingHistory(HistoryBuffer):
    """A ``HistoryBuffer`` whose update takes constant time; copied or pickled it is a plain one."""

    def __init__(self, history: HistoryBuffer) -> None:
        super().__init__(*history.data, max_length=history.max_length)

    @property
    def _log_history(self) -> np.ndarray:
        return self._logs.values

    @_log_history.setter
    def _log_history(self, values: np.ndarray) -> None:
        self._logs = _Column(values)

    @property
    def _count_history(self) -> np.ndarray:
        return self._counts.values

    @_count_history.setter
    def _count_history(self, values: np.ndarray) -> None:
        self._counts = _Column(values)

    def update(self, log_val: float, count: int = 1) -> None:
        """Append a value, as ``HistoryBuffer.update`` does."""
        if len(self._log_history) >= self.max_length or not (
            isinstance(log_val, int | float) and isinstance(count, int | float)
        ):
            super().update(log_val, count)
        else:
            self._logs.append(log_val)
            self._counts.append(count)

    def __reduce__(self) -> tuple[Any, ...]:
        return HistoryBuffer, (
            self._log_history.copy(),
            self._count_history.copy(),
            self.max_length,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> HistoryBuffer:
        make, arguments = self.__reduce__()
        return make(*arguments)


class GrowingHistories(OrderedDict[str, HistoryBuffer]):
    """The scalars of a message hub: every buffer that is put in becomes a growing one."""

    def __setitem__(self, key: str, value: HistoryBuffer) -> None:
        grows = isinstance(value, GrowingHistory)
        super().__setitem__(key, value if grows else GrowingHistory(value))

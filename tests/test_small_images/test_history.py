from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from mmengine.logging import HistoryBuffer, MessageHub

from mmshufflemix.small_images.history import GrowingHistories, GrowingHistory


@pytest.mark.parametrize('start', [[], [1], [1.5, 2.5]])
@pytest.mark.parametrize('max_length', [5, 1000])
def test_equals_the_plain_buffer(start: list[float], max_length: int):
    plain = HistoryBuffer(start, [1] * len(start), max_length)
    growing = GrowingHistory(plain)
    for step in range(20):
        value = step if step < 3 else step / 3
        plain.update(value, step % 2 + 1)
        growing.update(value, step % 2 + 1)
        for one, two in zip(plain.data, growing.data, strict=True):
            np.testing.assert_array_equal(one, two)
            assert one.dtype == two.dtype
    for name in ('min', 'max', 'mean'):
        assert plain.statistics(name, 4) == growing.statistics(name, 4)
    assert plain.current() == growing.current()


def test_values_handed_out_stay():
    growing = GrowingHistory(HistoryBuffer([1.0], [1]))
    early = growing.data[0]
    for value in range(50):
        growing.update(float(value))
    assert early.tolist() == [1.0]


def test_copies_and_pickles_are_plain():
    """So that checkpoints need nothing of this package."""
    growing = GrowingHistory(HistoryBuffer([1.0, 2.0], [1, 3], 7))
    for copy in (deepcopy(growing), pickle.loads(pickle.dumps(growing))):
        assert type(copy) is HistoryBuffer
        assert copy.max_length == 7
        assert [part.tolist() for part in copy.data] == [[1.0, 2.0], [1, 3]]


def test_wrong_values_are_refused_as_before():
    with pytest.raises(TypeError, match='log_val must be int or float'):
        GrowingHistory(HistoryBuffer()).update('1')


def test_a_message_hub_saves_and_loads():
    hub = MessageHub('growing')
    hub._log_scalars = GrowingHistories()
    for value in (1.0, 2.0, 4.0):
        hub.update_scalar('train/loss', value)
    assert isinstance(hub.get_scalar('train/loss'), GrowingHistory)
    state = hub.state_dict()
    assert type(state['log_scalars']['train/loss']) is HistoryBuffer
    other = MessageHub('growing too')
    other._log_scalars = GrowingHistories()
    other.load_state_dict(state)
    other.update_scalar('train/loss', 5.0)
    assert other.get_scalar('train/loss').data[0].tolist() == [1.0, 2.0, 4.0, 5.0]
    assert hub.get_scalar('train/loss').data[0].tolist() == [1.0, 2.0, 4.0]

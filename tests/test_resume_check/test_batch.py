"""Batches of a resumed run."""

from __future__ import annotations

import pytest

from mmshufflemix.resume_check.batch import Batch, batch_warnings, read_batch

FOUR = Batch(4, 1, 1)


@pytest.mark.parametrize(
    ('before', 'now', 'epochs', 'bent'),
    [
        (FOUR, FOUR, (3, 3), ['LinearLR']),
        (None, FOUR, (3, 3), ['LinearLR']),
        # Twice the processes with half the pictures each: the same steps.
        (FOUR, Batch(2, 2, 1), (3, 3), ['LinearLR']),
        # More pictures are no other batch, and nothing counts iterations.
        (FOUR, FOUR, (3, 9), []),
        (FOUR, Batch(2, 1, 2), (3, 6), []),
    ],
)
def test_nothing_to_say(
    before: Batch | None, now: Batch, epochs: tuple[int, int], bent: list[str]
) -> None:
    assert list(batch_warnings(before, now, *epochs, bent)) == []


@pytest.mark.parametrize(
    ('before', 'now', 'epochs', 'bent', 'parts'),
    [
        (FOUR, Batch(4, 2, 1), (6, 3), [], ['takes 8 (4 x 2 x 1) images and took 4 (4 x 1 x 1)']),
        (FOUR, Batch(4, 2, 1), (6, 3), ['PolyLR'], ['takes 8', 'PolyLR', 'leaves its plan']),
        (FOUR, FOUR, (3, 9), ['PolyLR'], ['9 iterations and had 3', 'another training set']),
        (None, FOUR, (3, 9), [], ['another batch size, number of processes', 'is not adapted']),
        (None, FOUR, (3, 9), ['PolyLR', 'PolyLR'], ['PolyLR in param_scheduler']),
    ],
)
def test_one_sentence_says_it(
    before: Batch | None,
    now: Batch,
    epochs: tuple[int, int],
    bent: list[str],
    parts: list[str],
) -> None:
    [sentence] = batch_warnings(before, now, *epochs, bent)
    assert all(part in sentence for part in parts)
    assert sentence.endswith('no --resume')


@pytest.mark.parametrize('content', [None, [], 'x', {}, {'size': 1}, {'size': 'a'}])
def test_a_checkpoint_without_a_note(content: object) -> None:
    assert read_batch(content) is None


def test_a_note_is_read() -> None:
    assert read_batch({'size': 3, 'processes': 2, 'accumulation': 5}) == Batch(3, 2, 5)
    assert Batch(3, 2, 5).images == 30

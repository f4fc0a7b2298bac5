import numpy as np
import pytest
import torch

from mmshufflemix.evaluation.multi_label_sample import read_sample

NAMES = ('bird', 'cat', 'dog')


def sample(**fields):
    return {'pred_score': torch.tensor([0.1, 0.2, 0.3]), 'gt_label': torch.tensor([1]), **fields}


def read(**fields):
    return read_sample(sample(**fields), 'a.jpg', NAMES)


def test_reads_scores_and_labels():
    cells = read(gt_label_difficult=[0, 1])
    np.testing.assert_array_equal(cells.scores, np.float32([0.1, 0.2, 0.3]))
    assert cells.targets.tolist() == [False, True, False]
    assert cells.difficult.tolist() == [True, False, False]


@pytest.mark.parametrize('value', [[], torch.tensor([]), torch.tensor([], dtype=torch.long)])
def test_empty_lists_are_no_labels(value):
    cells = read(gt_label=value, gt_label_difficult=value)
    assert not cells.targets.any()
    assert cells.difficult is not None
    assert not cells.difficult.any()


def test_no_difficult_field_is_told_apart_from_an_empty_one():
    assert read().difficult is None


@pytest.mark.parametrize('soft', [[0.7, 0.3, 0.0], [1.0, 0.0, 1.0]])
def test_gt_score_beside_gt_label_does_not_matter(soft):
    assert read(gt_score=torch.tensor(soft)).targets.tolist() == [False, True, False]


def test_gt_score_alone_is_read_if_hard_and_refused_if_soft():
    scores = torch.tensor([0.1, 0.2, 0.3])
    hard = {'pred_score': scores, 'gt_score': torch.tensor([1, 0, 1])}
    assert read_sample(hard, 'a.jpg', NAMES).targets.tolist() == [True, False, True]
    soft = {'pred_score': scores, 'gt_score': torch.tensor([0.7, 0.3, 0.0])}
    with pytest.raises(ValueError, match=r'gt_score of a.jpg has values other than 0 and 1'):
        read_sample(soft, 'a.jpg', NAMES)
    with pytest.raises(ValueError, match=r'a.jpg has neither gt_label nor gt_score'):
        read_sample({'pred_score': scores}, 'a.jpg', NAMES)


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_float_types_are_read(dtype):
    got = read(pred_score=torch.tensor([0.25, 0.5, 1.0], dtype=dtype)).scores
    assert got.tolist() == [0.25, 0.5, 1.0]


@pytest.mark.parametrize('shape', [(1, 3), (80,), (3, 1, 1), ()])
def test_wrong_shape_of_scores_is_refused(shape):
    with pytest.raises(ValueError, match=r'pred_score of a.jpg has shape .*, expected \(3,\), one'):
        read(pred_score=torch.zeros(shape))


def test_nan_score_is_refused():
    with pytest.raises(ValueError, match='2 of 3 scores .* NaN, the first one of class cat'):
        read(pred_score=torch.tensor([0.1, float('nan'), float('nan')]))


@pytest.mark.parametrize('field', ['gt_label', 'gt_label_difficult'])
@pytest.mark.parametrize(
    'value',
    [
        torch.tensor([1, 0, 1]),
        torch.tensor([3]),
        torch.tensor([-1]),
        torch.tensor([0.5]),
        torch.tensor([True, False]),
        torch.tensor([[0, 1]]),
        torch.tensor(2),
    ],
)
def test_other_than_distinct_class_ids_are_refused(field, value):
    with pytest.raises(ValueError, match=rf'{field} of a.jpg is .*, expected a list of distinct'):
        read(**{field: value})


def test_sample_is_not_written():
    given = sample(gt_score=torch.tensor([0.5, 0.5, 0.0]), gt_label_difficult=[0, 1])
    copies = {key: torch.as_tensor(value).clone() for key, value in given.items()}
    cells = read_sample(given, 'a.jpg', NAMES)
    cells.targets[:] = True
    assert all(torch.equal(torch.as_tensor(given[key]), copies[key]) for key in copies)

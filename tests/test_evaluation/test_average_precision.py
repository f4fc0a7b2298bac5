import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from mmshufflemix.evaluation.average_precision import average_precision


def loop_oracle(scores, targets, valid):
    aps = []
    for k in range(scores.shape[1]):
        precisions = []
        for i in range(len(scores)):
            if not (valid[i][k] and targets[i][k]):
                continue
            above = [j for j in range(len(scores)) if valid[j][k] and scores[j][k] >= scores[i][k]]
            precisions.append(sum(targets[j][k] for j in above) / len(above))
        aps.append(sum(precisions) / len(precisions) if precisions else float('nan'))
    return aps


def cells(seed, levels=None, shape=(40, 6)):
    rng = np.random.default_rng(seed)
    scores = rng.random(shape) if levels is None else rng.integers(0, levels, shape) / levels
    return scores, rng.random(shape) < 0.3, rng.random(shape) < 0.8


def test_equals_scikit_learn_without_ties():
    scores, targets, _ = cells(0)
    expected = [average_precision_score(targets[:, k], scores[:, k]) for k in range(6)]
    np.testing.assert_allclose(average_precision(scores, targets), expected, rtol=1e-12)


def test_equals_scikit_learn_with_ties():
    scores, targets, _ = cells(1, levels=5)
    expected = [average_precision_score(targets[:, k], scores[:, k]) for k in range(6)]
    np.testing.assert_allclose(average_precision(scores, targets), expected, rtol=1e-12)


@pytest.mark.parametrize('levels', [None, 1, 2, 7])
@pytest.mark.parametrize('seed', [0, 1, 2])
def test_equals_loop_oracle_with_ties_and_masks(seed, levels):
    scores, targets, valid = cells(seed, levels)
    expected = loop_oracle(scores, targets, valid)
    np.testing.assert_allclose(average_precision(scores, targets, valid), expected, rtol=1e-12)


@pytest.mark.parametrize('levels', [None, 3])
def test_order_of_samples_changes_nothing(levels):
    scores, targets, valid = cells(3, levels)
    expected = average_precision(scores, targets, valid)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(scores))
        got = average_precision(scores[order], targets[order], valid[order])
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize('positives', [(0, 1), (4, 5), (0, 5)])
def test_all_scores_equal_give_the_share_of_positives(positives):
    targets = np.zeros((6, 1))
    targets[list(positives)] = 1
    assert average_precision(np.full((6, 1), 0.5), targets) == pytest.approx([1 / 3])


def test_left_out_cell_is_as_if_the_sample_were_not_there():
    scores, targets, _ = cells(4, shape=(12, 1))
    valid = np.ones((12, 1), bool)
    valid[5] = False
    expected = average_precision(np.delete(scores, 5, 0), np.delete(targets, 5, 0))
    assert average_precision(scores, targets, valid) == expected


def test_class_without_valid_positive_is_undefined():
    targets = np.array([[0, 1, 1], [0, 0, 1]])
    valid = np.array([[True, False, True], [True, True, True]])
    got = average_precision(np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4]]), targets, valid)
    np.testing.assert_array_equal(got, [np.nan, np.nan, 1.0])


def test_infinite_logits_are_ranked():
    scores = np.array([[np.inf], [-np.inf], [0.0]])
    assert average_precision(scores, np.array([[1], [0], [1]])) == [1.0]


def test_nan_score_is_refused():
    scores = np.zeros((3, 2))
    scores[2, 1] = np.nan
    with pytest.raises(ValueError, match='1 of 6 scores are NaN, the first one of sample 2 and cl'):
        average_precision(scores, np.zeros((3, 2)))


@pytest.mark.parametrize(
    ('scores', 'targets'), [((3, 2), (3, 3)), ((3,), (3,)), ((3, 1, 2), (3, 1, 2))]
)
def test_wrong_shapes_are_refused(scores, targets):
    with pytest.raises(ValueError, match=r'must have one shape \(samples, classes\)'):
        average_precision(np.zeros(scores), np.zeros(targets))


@pytest.mark.parametrize('value', [0.7, -1])
def test_soft_and_minus_one_targets_are_refused(value):
    with pytest.raises(ValueError, match='targets must be 0 or 1, got values from'):
        average_precision(np.zeros((2, 1)), np.array([[value], [0.0]]))

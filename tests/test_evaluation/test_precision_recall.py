import numpy as np
import pytest

from mmshufflemix.evaluation.precision_recall import precision_recall_f1, top_k_cells


def f1(p, r):
    return 0.0 if p + r == 0 else 2 * p * r / (p + r)


def loop_oracle(predicted, targets, valid):
    precisions, recalls, all_right, all_chosen, all_positives = [], [], 0, 0, 0
    for k in range(predicted.shape[1]):
        right = chosen = positives = 0
        for i in range(predicted.shape[0]):
            if not valid[i, k]:
                continue
            chosen += int(predicted[i, k])
            positives += int(targets[i, k])
            right += int(predicted[i, k] and targets[i, k])
        all_right, all_chosen = all_right + right, all_chosen + chosen
        all_positives += positives
        if positives:
            precisions.append(right / chosen if chosen else 0.0)
            recalls.append(right / positives)
    cp, cr = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    op, o_r = all_right / all_chosen if all_chosen else 0.0, all_right / all_positives
    return {'CP': cp, 'CR': cr, 'CF1': f1(cp, cr), 'OP': op, 'OR': o_r, 'OF1': f1(op, o_r)}


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('share', [0.05, 0.4])
def test_equals_loop_oracle(seed, share):
    rng = np.random.default_rng(seed)
    predicted = rng.random((15, 7)) < share
    targets = rng.random((15, 7)) < 0.2
    targets[:, 3] = False
    valid = rng.random((15, 7)) < 0.8
    expected = loop_oracle(predicted, targets, valid)
    assert precision_recall_f1(predicted, targets, valid) == pytest.approx(expected, abs=1e-12)
    everything = np.ones_like(valid)
    expected = loop_oracle(predicted, targets, everything)
    assert precision_recall_f1(predicted, targets) == pytest.approx(expected, abs=1e-12)


def test_nothing_predicted_gives_zeros():
    got = precision_recall_f1(np.zeros((2, 3), bool), np.eye(3)[:2])
    assert got == {'CP': 0, 'CR': 0, 'CF1': 0, 'OP': 0, 'OR': 0, 'OF1': 0}


def test_class_without_positives_counts_overall_but_not_in_class_means():
    got = precision_recall_f1(np.array([[True, True]]), np.array([[1, 0]]))
    assert got['CP'] == got['CR'] == got['CF1'] == 1
    assert (got['OP'], got['OR']) == (0.5, 1)


def test_no_positive_at_all_is_refused():
    with pytest.raises(ValueError, match='none of the 6 targets is positive'):
        precision_recall_f1(np.ones((2, 3), bool), np.zeros((2, 3)))


def test_scores_instead_of_predictions_are_refused():
    with pytest.raises(TypeError, match='predicted must be boolean, got float64'):
        precision_recall_f1(np.full((2, 3), 0.7), np.ones((2, 3)))


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match='must have one shape'):
        precision_recall_f1(np.ones((2, 3), bool), np.ones((2, 4)))


def test_top_k_takes_the_lower_class_index_of_equal_scores():
    scores = np.array([[0.5, 0.9, 0.5, 0.5], [0.1, 0.2, 0.3, 0.4]])
    expected = [[True, True, False, False], [False, False, True, True]]
    np.testing.assert_array_equal(top_k_cells(scores, 2), expected)


def test_top_k_with_fewer_classes_takes_all():
    assert top_k_cells(np.zeros((2, 2)), 3).all()

import itertools
import json
import logging

import numpy as np
import pytest
import torch
from mmengine.evaluator import Evaluator
from mmengine.logging import MMLogger
from mmpretrain.evaluation import AveragePrecision, MultiLabelMetric, VOCAveragePrecision
from mmpretrain.registry import METRICS
from mmpretrain.structures import DataSample
from sklearn.metrics import average_precision_score

from mmshufflemix.evaluation import MultiLabelReport

NAMES = ('bird', 'cat', 'dog', 'tree')
SCORES = torch.tensor(
    [[0.9, 0.8, 0.3, 0.2], [0.6, 0.2, 0.55, 0.1], [0.7, 0.5, 0.9, 0.6], [0.4, 0.1, 0.6, 0.45]]
)
LABELS = [[0, 1], [1, 3], [2], [0, 2]]

# By hand. Ranks of the positives: bird 1 and 4, cat 1 and 3, dog 1 and 2, tree 4. At 0.5, classes
# are predicted 3, 2, 3, 1 times and right 1, 1, 2, 0 times, of 2, 2, 2, 1 positives.
APS = {'AP_bird': 75.0, 'AP_cat': 250 / 3, 'AP_dog': 100.0, 'AP_tree': 25.0}
AT_HALF = {'CP': 37.5, 'CR': 50, 'CF1': 300 / 7, 'OP': 400 / 9, 'OR': 400 / 7, 'OF1': 50}
# Among the three highest of image 3 is no cat, although it scores 0.5.
TOP3_MLGCN = {'CP': 50, 'CR': 50, 'CF1': 50, 'OP': 50, 'OR': 400 / 7, 'OF1': 800 / 15}
# Predicted 4, 2, 4, 2 times and right 2, 2, 2, 0 times.
TOP3_ALL = {'CP': 50, 'CR': 75, 'CF1': 60, 'OP': 50, 'OR': 600 / 7, 'OF1': 1200 / 19}


def make_samples(scores=SCORES, labels=LABELS, difficult=None, soft=None):
    samples = []
    for index, (score, label) in enumerate(zip(scores, labels, strict=True)):
        sample = DataSample(metainfo={'img_path': f'{index}.jpg'})
        sample.set_pred_score(score).set_gt_label(label)
        if difficult is not None:
            sample.set_field(difficult[index], 'gt_label_difficult', field_type='metainfo')
        if soft is not None:
            sample.set_gt_score(soft[index])
        samples.append(sample)
    return samples


def evaluate(samples, metrics=None, classes=NAMES, **options):
    evaluator = Evaluator(MultiLabelReport(**options) if metrics is None else metrics)
    evaluator.dataset_meta = {'classes': classes} if classes else {}
    for start in range(0, len(samples), 3):
        evaluator.process(samples[start : start + 3])
    return evaluator.evaluate(len(samples))


def keyed(values, suffix=''):
    return {f'multi-label/{key}{suffix}': value for key, value in values.items()}


@pytest.fixture
def log():
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append((record.levelname, record.getMessage()))
    logger = MMLogger.get_current_instance()
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


@pytest.mark.parametrize(('rule', 'top3'), [('mlgcn', TOP3_MLGCN), ('all', TOP3_ALL)])
def test_numbers_of_a_hand_calculation(rule, top3):
    expected = {
        **keyed({'mAP': 850 / 12, 'absent_classes': 0, **APS, **AT_HALF}),
        **keyed(top3, '_top3'),
    }
    got = evaluate(make_samples(), top_k_rule=rule)
    assert got == pytest.approx(expected)
    assert next(iter(got)) == 'multi-label/mAP'
    assert all(isinstance(value, float | int) for value in got.values())


def test_is_in_the_registry():
    assert isinstance(METRICS.build({'type': 'MultiLabelReport'}), MultiLabelReport)


def test_top_k_is_in_the_key():
    got = evaluate(make_samples(), top_k=1, top_k_rule='all')
    # The highest: bird, bird, dog, dog.
    assert got['multi-label/OP_top1'] == pytest.approx(75)
    assert 'multi-label/OP_top3' not in got


def test_score_equal_to_the_threshold_is_predicted():
    # 0.7 is a little less in float32, where the comparison is made.
    samples = make_samples(torch.tensor([[0.7, 0.1]]), [[0]])
    assert evaluate(samples, classes=('a', 'b'), thr=0.7)['multi-label/OR'] == 100


def test_difficult_cells_are_left_out_of_ap_and_by_option_of_the_others():
    # Bird of image 2: ranks of the positive birds 1 and 3, bird predicted twice without it.
    difficult = [[], [], [0], []]
    got = evaluate(make_samples(difficult=difficult))
    assert got['multi-label/AP_bird'] == pytest.approx(250 / 3)
    assert got['multi-label/mAP'] == pytest.approx((250 / 3 + 250 / 3 + 125) / 4)
    assert {key: got[key] for key in keyed(AT_HALF)} == pytest.approx(keyed(AT_HALF))
    got = evaluate(make_samples(difficult=difficult), difficult_in_f1='ignore')
    assert got['multi-label/OP'] == pytest.approx(50)
    assert got['multi-label/CP'] == pytest.approx(100 * (1 / 2 + 1 / 2 + 2 / 3) / 4)


def test_ignored_cell_still_takes_its_place_among_the_top():
    difficult = [[], [], [0], []]
    options = {'top_k': 2, 'top_k_rule': 'all'}
    got = evaluate(make_samples(difficult=difficult), difficult_in_f1='ignore', **options)
    # The two highest: bird cat, bird dog, dog (bird), dog tree; right are bird, cat, dog, dog.
    assert got['multi-label/OP_top2'] == pytest.approx(400 / 7)


def test_class_in_both_lists_is_positive():
    # MMPretrain's VOC lists a class as difficult too if it has objects of both kinds.
    assert evaluate(make_samples(difficult=LABELS)) == evaluate(make_samples())


def test_absent_classes_are_left_out_counted_and_named(log):
    samples = make_samples(labels=[[0, 1], [1], [], [0]], difficult=[[], [3], [], []])
    got = evaluate(samples)
    assert got['multi-label/mAP'] == pytest.approx((75 + 250 / 3) / 2)
    assert got['multi-label/absent_classes'] == 2
    assert 'multi-label/AP_dog' not in got
    assert 'multi-label/AP_tree' not in got
    assert 'classes without a positive (2): dog, tree' in log[-1][1]
    assert 'over 2 of 4 classes' in log[-1][1]


def test_table_has_names_support_and_rules(log):
    evaluate(make_samples(difficult=[[], [], [0], []]), top_k_rule='all')
    level, text = log[-1]
    assert level == 'INFO'
    assert [line.split() for line in text.split('\n')[1:4]] == [
        ['class', 'positives', 'difficult', 'AP'],
        ['bird', '2', '1', '83.33'],
        ['cat', '2', '0', '83.33'],
    ]
    assert 'score >= 0.5: CP 37.50  CR 50.00  CF1 42.86  OP 44.44  OR 57.14  OF1 50.00' in text
    assert 'top 3 (all): CP 50.00' in text
    assert 'count as negative' in text


def test_missing_difficult_field_is_said_once(log):
    metric = MultiLabelReport()
    for _ in range(2):
        evaluate(make_samples(), metric)
    warnings = [text for level, text in log if level == 'WARNING']
    assert len(warnings) == 1
    assert "add 'gt_label_difficult' to meta_keys of PackInputs" in warnings[0]
    log.clear()
    evaluate(make_samples(difficult=[[]] * 4))
    assert [level for level, _ in log] == ['INFO']


@pytest.mark.parametrize('positives', [(0, 1), (4, 5)])
def test_equal_scores_do_not_depend_on_the_order(positives):
    labels = [[0] if index in positives else [] for index in range(6)]
    got = evaluate(make_samples(torch.full((6, 1), 0.5), labels), classes=('a',))
    assert got['multi-label/mAP'] == pytest.approx(100 / 3)


def test_order_of_samples_changes_nothing_and_scikit_learn_agrees():
    rng = np.random.default_rng(0)
    scores = torch.from_numpy(rng.random((30, 4)).astype(np.float32))
    labels = [np.flatnonzero(row).tolist() for row in rng.random((30, 4)) < 0.4]
    expected = evaluate(make_samples(scores, labels))
    order = rng.permutation(30)
    assert evaluate(make_samples(scores[order], [labels[i] for i in order])) == expected
    for index, name in enumerate(NAMES):
        truth = [index in label for label in labels]
        ap = 100 * average_precision_score(truth, scores[:, index].numpy())
        assert expected[f'multi-label/AP_{name}'] == pytest.approx(ap)


@pytest.mark.parametrize('soft', [None, [[0.7, 0.3, 0.0, 0.0]] * 4, [[1.0, 0.0, 1.0, 0.0]] * 4])
def test_other_metrics_and_soft_scores_do_not_matter(soft):
    difficult = [[3], [], [0], []]
    alone = evaluate(make_samples(difficult=difficult))

    def others():
        return [
            AveragePrecision(prefix='ap'),
            VOCAveragePrecision(prefix='voc'),
            MultiLabelMetric(thr=0.5, prefix='f1'),
        ]

    without = evaluate(make_samples(difficult=difficult, soft=soft), others())
    for order in itertools.permutations(range(4)):
        metrics = [*others(), MultiLabelReport()]
        samples = make_samples(difficult=difficult, soft=soft)
        got = evaluate(samples, [metrics[index] for index in order])
        assert got == {**without, **alone}


def test_report_beside_average_precision_needs_another_prefix():
    both = [AveragePrecision(), MultiLabelReport()]
    with pytest.raises(ValueError, match='same metric name multi-label/mAP'):
        evaluate(make_samples(), both)
    renamed = [AveragePrecision(), MultiLabelReport(prefix='report')]
    got = evaluate(make_samples(), renamed)
    assert got['report/mAP'] == pytest.approx(got['multi-label/mAP'])


def test_without_class_names_classes_have_numbers():
    got = evaluate(make_samples(), classes=None)
    assert got['multi-label/AP_3'] == pytest.approx(25)


def test_scores_of_another_number_of_classes_are_refused():
    with pytest.raises(ValueError, match=r'pred_score of 0.jpg has shape \(4,\), expected \(20,\)'):
        evaluate(make_samples(), classes=[str(index) for index in range(20)])


def test_extra_axis_is_refused():
    sample = {'img_path': 'a.jpg', 'pred_score': torch.zeros(1, 4), 'gt_label': torch.tensor([0])}
    for classes in (NAMES, None):
        with pytest.raises(ValueError, match=r'has shape \(1, 4\), expected \(4,\)'):
            evaluate([sample], classes=classes)


def test_nan_score_names_image_and_class():
    scores = SCORES.clone()
    scores[2, 1] = float('nan')
    with pytest.raises(ValueError, match='of 2.jpg are NaN, the first one of class cat'):
        evaluate(make_samples(scores))
    samples = make_samples(scores)
    del samples[2].img_path
    with pytest.raises(ValueError, match='scores of sample 2 are NaN'):
        evaluate(samples)


def test_nothing_to_evaluate_is_refused():
    with pytest.raises(ValueError, match='none of the 16 targets is positive'):
        evaluate(make_samples(labels=[[]] * 4))
    with pytest.raises(ValueError, match='no sample was evaluated'):
        evaluate([])


def test_repeated_class_names_are_refused():
    with pytest.raises(ValueError, match='cat repeated'):
        evaluate(make_samples(), classes=('cat', 'cat', 'dog', 'tree'))


def test_files_hold_the_last_evaluation(tmp_path):
    samples = make_samples(labels=[[0, 1], [1], [], [0]])
    metric = MultiLabelReport(out_dir=str(tmp_path / 'out'))
    evaluate(make_samples(), metric)
    got = evaluate(samples, metric)
    content = json.loads((tmp_path / 'out' / 'multi_label_report.json').read_text())
    assert keyed(content['metrics']) == got
    assert content['absent_classes'] == ['dog', 'tree']
    assert content['classes'][2] == {'class': 'dog', 'positives': 0, 'difficult': 0, 'AP': None}
    assert (content['images'], content['thr'], content['top_k_rule']) == (4, 0.5, 'mlgcn')
    lines = (tmp_path / 'out' / 'multi_label_report.csv').read_text().splitlines()
    assert lines[:2] == ['class,positives,difficult,AP', 'bird,2,0,75.0']


@pytest.mark.parametrize('thr', [0, 1, -0.5, None, True, float('nan'), '0.5'])
def test_bad_threshold_is_refused(thr):
    with pytest.raises(ValueError, match='thr must be a number between 0 and 1, both excluded'):
        MultiLabelReport(thr=thr)


@pytest.mark.parametrize('top_k', [0, -1, 2.0, None, True])
def test_bad_top_k_is_refused(top_k):
    with pytest.raises(ValueError, match='top_k must be an integer of at least 1'):
        MultiLabelReport(top_k=top_k)


def test_unknown_rules_are_refused():
    with pytest.raises(ValueError, match="top_k_rule must be 'mlgcn' or 'all', got 'any'"):
        MultiLabelReport(top_k_rule='any')
    with pytest.raises(ValueError, match="must be 'negative' or 'ignore', got 'positive'"):
        MultiLabelReport(difficult_in_f1='positive')

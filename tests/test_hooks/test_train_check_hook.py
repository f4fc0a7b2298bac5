from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from mmengine.runner import Runner

from mmshufflemix.hooks import TrainCheckHook
from tests.test_hooks.test_label_graph_hook import job, log  # noqa: F401

LINEAR = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}


def train(folder: Path, **options: Any) -> Runner:
    """Train a plain multi-label job with the hook."""
    config = job(folder, custom_hooks=[], experiment_name=uuid.uuid4().hex)
    config.model.head = LINEAR
    config.merge_from_dict({key.replace('__', '.'): value for key, value in options.items()})
    runner = Runner.from_cfg(config)
    runner.register_hook(TrainCheckHook())
    runner.train()
    return runner


def test_what_fits_is_trained(tmp_path: Path) -> None:
    assert train(tmp_path).iter == 4


def test_training_by_iterations_has_no_epochs_to_fill(tmp_path: Path) -> None:
    by_iteration = {'_delete_': True, 'by_epoch': False, 'max_iters': 3, 'val_interval': 3}
    assert train(tmp_path, train_cfg=by_iteration).iter == 3


def test_training_needs_no_validation(tmp_path: Path) -> None:
    off = {'val_dataloader': None, 'val_cfg': None, 'val_evaluator': None}
    assert train(tmp_path, **off).iter > 0


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (
            {'train_dataloader__batch_size': 9, 'train_dataloader__drop_last': True},
            'its 4 images do not fill one of 9; lower train_dataloader.batch_size',
        ),
        (
            {'model__head__num_classes': 5, 'data_preprocessor__num_classes': 5},
            'the training set has 3 classes but the head has num_classes=5; set '
            r'model.head.num_classes .* to 3; .* at the top of .*/mine_json\.py',
        ),
        (
            {'data_preprocessor__num_classes': 5},
            r'num_classes=5 but the head has num_classes=3; set data_preprocessor\.num_classes=3',
        ),
        ({'data_preprocessor__num_classes': None}, 'has num_classes=None but the head'),
        (
            {'val_dataloader__dataset__metainfo__classes': ('dog', 'cat', 'person')},
            "same classes in another order, starting with 'cat' and 'dog'",
        ),
        (
            {'val_dataloader__dataset__metainfo__classes': ('cat', 'dog', 'person', 'cow')},
            'training set has 3 classes but the validation set has 4',
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_step(
    tmp_path: Path, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(tmp_path, **options)
    assert not list((tmp_path / 'work').glob('*.pth'))


def own_labels(folder: Path, labels: list[Any]) -> dict[str, Any]:
    """Options that read the pictures by MMPretrain's own data set, with these labels."""
    job(folder)
    rows = [
        {'img_path': f'{name}.jpg', 'gt_label': label}
        for name, label in zip('abcd', labels, strict=True)
    ]
    content = {'metainfo': {'classes': ['cat', 'dog', 'person']}, 'data_list': rows}
    path = folder / 'labels.json'
    path.write_text(json.dumps(content))
    pipeline = job(folder).train_dataloader.dataset.pipeline
    dataset = {
        '_delete_': True,
        'type': 'MultiLabelDataset',
        'ann_file': str(path),
        'data_prefix': str(folder / 'VOC2007' / 'JPEGImages'),
        'pipeline': pipeline,
    }
    return {'train_dataloader__dataset': dataset, 'model__train_cfg': None}


def test_labels_of_other_data_sets(tmp_path: Path) -> None:
    assert train(tmp_path, **own_labels(tmp_path, [[0, 2], [], 1, [2]])).iter == 4


@pytest.mark.parametrize(
    ('label', 'shown', 'wrapper'),
    [
        ([1, 1], r'\[1, 1\]', None),  # a target of 2
        ([1, 0, 1], r'\[1, 0, 1\]', 'RepeatDataset'),  # one-hot, read as ids
        ([3], r'\[3\]', 'ConcatDataset'),
        ([-1], r'\[-1\]', None),
        ([0.5], r'\[0\.5\]', None),
        (['dog'], r"\['dog'\]", None),
        ([[0], [1]], r'\[\[0\], \[1\]\]', None),
    ],
)
def test_labels_that_would_become_other_targets_are_refused(
    tmp_path: Path, label: list, shown: str, wrapper: str | None
) -> None:
    options = own_labels(tmp_path, [[0], [1], label, []])
    inner = options['train_dataloader__dataset']
    if wrapper:
        inner.pop('_delete_')
        inside = {'datasets': [inner]} if 'Concat' in wrapper else {'dataset': inner, 'times': 2}
        wrapped = {'_delete_': True, 'type': wrapper, **inside}
        options['train_dataloader__dataset'] = wrapped
    with pytest.raises(
        ValueError, match=rf'labels of .*c\.jpg are {shown}, expected distinct .*0..2'
    ):
        train(tmp_path, **options)


def test_classes_that_mmpretrains_voc_leaves_out(tmp_path: Path) -> None:
    """Its list of names does not have these, so that every target would be empty."""
    classes = ('zebra', 'ant', 'bee')
    dataset = {'type': 'VOC', 'metainfo': {'classes': classes}}
    options = {
        'train_dataloader__dataset': dataset,
        'val_dataloader': None,
        'val_cfg': None,
        'val_evaluator': None,
    }
    with pytest.raises(ValueError, match=r'none of the 4 training images has a label.*metainfo'):
        train(tmp_path, **options)


@pytest.mark.parametrize(
    ('size', 'drop_last', 'warned'), [(3, False, 1), (3, True, 0), (2, False, 0)]
)
def test_a_last_batch_of_one_image_is_warned_about(
    tmp_path: Path,
    log: pytest.LogCaptureFixture,  # noqa: F811
    size: int,
    drop_last: bool,
    warned: int,
) -> None:
    train(tmp_path, train_dataloader__batch_size=size, train_dataloader__drop_last=drop_last)
    found = [r for r in log.records if 'last batch of an epoch has one image' in r.getMessage()]
    assert len(found) == warned

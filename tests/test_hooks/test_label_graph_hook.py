"""The hook in real runs of a four-picture job."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.logging import MMLogger
from mmengine.runner import Runner
from torch import distributed

import mmshufflemix  # noqa: F401
from mmshufflemix.hooks import LabelGraphHook
from mmshufflemix.label_graph import LabelGraph, load_label_graph, save_label_graph
from tests.voc_tree import write_voc_tree

NAMES = ('cat', 'dog', 'person')
IMAGES = {
    'a': [('cat', False), ('person', False)],
    'b': [('cat', False), ('person', True)],
    'c': [('person', False)],
    'd': [('dog', False), ('cat', False)],
}


def job(folder: Path, names: tuple[str, ...] = NAMES, **options: Any) -> Config:
    """Two epochs of ML-GCN on a VOC tree, with its own folder and graph file."""
    tree = folder / 'VOC2007'
    if not tree.exists():
        write_voc_tree(tree, IMAGES, {'trainval': list(IMAGES), 'test': list(IMAGES)})
    pipeline = [
        {'type': 'LoadImageFromFile'},
        {'type': 'Resize', 'scale': (32, 32)},
        {
            'type': 'PackInputs',
            'meta_keys': ('sample_idx', 'img_path', 'gt_label_difficult'),
        },
    ]

    def loader(split: str, **dataset: Any) -> dict:
        return {
            'batch_size': 2,
            'num_workers': 0,
            'sampler': {'type': 'DefaultSampler', 'shuffle': split == 'trainval'},
            'collate_fn': {'type': 'default_collate'},
            'dataset': {
                'type': 'VOCMultiLabel',
                'data_root': str(tree),
                'split': split,
                'metainfo': {'classes': names},
                'pipeline': pipeline,
                **dataset,
            },
        }

    config = Config(
        {
            'default_scope': 'mmpretrain',
            'work_dir': str(folder / 'work'),
            'experiment_name': folder.name,
            'data_preprocessor': {
                'num_classes': 3,
                'to_onehot': True,
                'mean': [120] * 3,
                'std': [60] * 3,
            },
            'model': {
                'type': 'ImageClassifier',
                'backbone': {
                    'type': 'ResNet_CIFAR',
                    'depth': 18,
                    'stem_channels': 4,
                    'base_channels': 4,
                },
                'neck': {'type': 'GlobalMaxPooling'},
                'head': {
                    'type': 'MLGCNHead',
                    'num_classes': 3,
                    'in_channels': 32,
                    'hidden_channels': 8,
                    'embed_dim': 5,
                    'label_graph': str(folder / 'graphs' / 'toy.npz'),
                },
                'train_cfg': {'augments': {'type': 'ShuffleMix', 'label_threshold': 0.3}},
            },
            'train_dataloader': loader('trainval'),
            'val_dataloader': loader('test', test_mode=True),
            'test_dataloader': loader('test', test_mode=True),
            'val_evaluator': {'type': 'MultiLabelReport'},
            'test_evaluator': {'type': 'MultiLabelReport'},
            'optim_wrapper': {'optimizer': {'type': 'SGD', 'lr': 0.01}},
            'train_cfg': {'by_epoch': True, 'max_epochs': 2},
            'val_cfg': {},
            'test_cfg': {},
            'custom_hooks': [{'type': 'LabelGraphHook'}],
        }
    )
    config.merge_from_dict({key.replace('__', '.'): value for key, value in options.items()})
    return config


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """MMEngine's loggers do not pass messages on, so its handlers get one more."""
    original = MMLogger.callHandlers

    def both(self: MMLogger, record: logging.LogRecord) -> None:
        caplog.handler.handle(record)
        original(self, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MMLogger, 'callHandlers', both)
        yield caplog


def head_of(runner: Runner) -> Any:
    return runner.model.head


def test_a_missing_graph_is_built_and_said(tmp_path: Path, log: Any) -> None:
    runner = Runner.from_cfg(job(tmp_path))
    assert not head_of(runner).has_graph
    runner.train()
    graph = load_label_graph(tmp_path / 'graphs' / 'toy.npz')
    assert graph.classes == NAMES
    assert graph.counts.tolist() == [3, 1, 2]
    assert graph.cooccurrence.tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    np.testing.assert_array_equal(head_of(runner).embeddings, graph.embeddings)
    assert head_of(runner).classes == NAMES
    assert (
        f'The label graph {tmp_path}/graphs/toy.npz did not exist and was built from the 4 images '
        "of the training set; class vectors: the labels' own co-occurrence (PPMI and SVD)."
    ) in log.messages


def test_a_checkpoint_is_tested_without_the_graph_file(tmp_path: Path) -> None:
    runner = Runner.from_cfg(job(tmp_path))
    runner.train()
    before = runner.val_loop.run()
    graph_file = tmp_path / 'graphs' / 'toy.npz'
    graph_file.unlink()
    config = job(tmp_path, load_from=str(tmp_path / 'work' / 'epoch_2.pth'))
    tester = Runner.from_cfg(config)
    assert not head_of(tester).has_graph
    assert tester.test() == before
    assert not graph_file.exists()


def test_a_resumed_run_keeps_the_graph_of_its_checkpoint(tmp_path: Path, log: Any) -> None:
    Runner.from_cfg(job(tmp_path, train_cfg__max_epochs=1)).train()
    path = tmp_path / 'graphs' / 'toy.npz'
    first = load_label_graph(path)
    path.unlink()
    runner = Runner.from_cfg(job(tmp_path, resume=True))
    runner.train()
    assert runner.epoch == 2
    np.testing.assert_array_equal(head_of(runner).embeddings, first.embeddings)
    assert not path.exists()

    other = LabelGraph(NAMES, first.counts, first.cooccurrence, first.embeddings + 1, 'another')
    save_label_graph(path, other)
    runner = Runner.from_cfg(job(tmp_path, resume=True, train_cfg__max_epochs=3))
    runner.train()
    np.testing.assert_array_equal(head_of(runner).embeddings, first.embeddings)
    assert any(
        'graph in the loaded checkpoint is used; it differs' in line for line in log.messages
    )


def test_a_graph_of_other_labels_is_used_with_a_warning(tmp_path: Path, log: Any) -> None:
    Runner.from_cfg(job(tmp_path, train_dataloader__dataset__indices=2)).train()
    log.clear()
    Runner.from_cfg(job(tmp_path, work_dir=str(tmp_path / 'again'))).train()
    [warning] = [line for line in log.messages if 'was made from other labels' in line]
    assert 'cat 2 times there, 3 here, and 3 classes differ. Delete the file' in warning


def test_a_checkpoint_of_other_classes_does_not_bring_its_graph(tmp_path: Path) -> None:
    Runner.from_cfg(job(tmp_path / 'first')).train()
    renamed = {
        name: [('cow' if label == 'person' else label, flag) for label, flag in objects]
        for name, objects in {**IMAGES, 'e': [('dog', False)]}.items()
    }
    tree = tmp_path / 'second' / 'VOC2007'
    write_voc_tree(tree, renamed, {'trainval': list(renamed), 'test': list(renamed)})
    checkpoint = str(tmp_path / 'first' / 'work' / 'epoch_2.pth')
    runner = Runner.from_cfg(job(tmp_path / 'second', ('cat', 'cow', 'dog'), load_from=checkpoint))
    runner.train()
    graph = load_label_graph(tmp_path / 'second' / 'graphs' / 'toy.npz')
    assert graph.counts.tolist() == [3, 2, 2]
    np.testing.assert_array_equal(head_of(runner).embeddings, graph.embeddings)


def test_an_averaged_model_has_the_graph_too(tmp_path: Path) -> None:
    hooks = [{'type': 'EMAHook', 'begin_epoch': 1}, {'type': 'LabelGraphHook'}]
    runner = Runner.from_cfg(job(tmp_path, custom_hooks=hooks))
    runner.train()
    checkpoint = torch.load(tmp_path / 'work' / 'epoch_2.pth', weights_only=False)
    for weights in (checkpoint['state_dict'], checkpoint['ema_state_dict']):
        name = next(key for key in weights if key.endswith('head.embeddings'))
        torch.testing.assert_close(weights[name].cpu(), head_of(runner).embeddings.cpu())
        assert weights[name.replace('embeddings', 'adjacency')].any()


def test_other_class_names_are_refused(tmp_path: Path) -> None:
    Runner.from_cfg(job(tmp_path)).train()
    swapped = ('dog', 'cat', 'person')
    runner = Runner.from_cfg(job(tmp_path, swapped))
    with pytest.raises(ValueError, match=r"class 0 is 'cat' in .*toy\.npz but 'dog' in the train"):
        runner.train()
    options = {'val_dataloader__dataset__metainfo': {'classes': swapped}}
    with pytest.raises(ValueError, match=r"class 0 is 'cat' in .* but 'dog' in the validation set"):
        Runner.from_cfg(job(tmp_path, **options)).train()
    options = {'test_dataloader__dataset__metainfo': {'classes': swapped}}
    with pytest.raises(ValueError, match=r"class 0 is 'cat' in .* but 'dog' in the test set"):
        Runner.from_cfg(job(tmp_path, **options)).test()


def test_options_reach_the_graph(tmp_path: Path) -> None:
    hook = {'type': 'LabelGraphHook', 'method': 'random', 'seed': 5}
    Runner.from_cfg(job(tmp_path, custom_hooks=[hook])).train()
    assert load_label_graph(tmp_path / 'graphs' / 'toy.npz').source == 'random draw with seed 5'


def test_a_model_without_the_head_is_refused(tmp_path: Path) -> None:
    linear = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}
    config = job(tmp_path)
    config.model.head = linear
    with pytest.raises(ValueError, match='LabelGraphHook found no MLGCNHead in the ImageClassifie'):
        Runner.from_cfg(config).train()


def test_the_hook_comes_before_averaging() -> None:
    assert LabelGraphHook.priority == 'HIGH'


def train_on_two(rank: int, folder: str, port: int, names: tuple[str, ...]) -> None:
    """One of two processes of a run with its own working folder, as on two machines."""
    torch.set_num_threads(1)
    environment = {'RANK': rank, 'LOCAL_RANK': rank, 'WORLD_SIZE': 2, 'MASTER_PORT': port}
    os.environ.update({key: str(value) for key, value in environment.items()})
    os.environ['MASTER_ADDR'] = '127.0.0.1'
    wrapper = {
        'type': 'MMDistributedDataParallel',
        'broadcast_buffers': False,
        'find_unused_parameters': False,
        'device_ids': None,
    }
    config = job(
        Path(folder),
        launcher='pytorch',
        env_cfg={'dist_cfg': {'backend': 'gloo'}},
        model_wrapper_cfg=wrapper,
        model__head__label_graph=f'{folder}/graphs/{rank}.npz',
        train_dataloader__dataset__metainfo={'classes': names},
    )
    distributed.init_process_group('gloo')
    message = ''
    try:
        runner = Runner.from_cfg(config)
        runner.train()
        torch.save(runner.model.module.head.state_dict(), f'{folder}/{rank}.pth')
    except ValueError as error:
        message = str(error)
    Path(folder, f'{rank}.txt').write_text(message)
    distributed.destroy_process_group()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


@pytest.mark.slow
def test_two_processes_share_the_graph_of_the_first(tmp_path: Path) -> None:
    job(tmp_path)
    torch.multiprocessing.spawn(train_on_two, (str(tmp_path), free_port(), NAMES), nprocs=2)
    first, second = (torch.load(tmp_path / f'{rank}.pth', weights_only=True) for rank in (0, 1))
    assert first['adjacency'].any()
    for name, value in first.items():
        torch.testing.assert_close(value, second[name])
    assert [path.name for path in (tmp_path / 'graphs').iterdir()] == ['0.npz']


@pytest.mark.slow
def test_an_error_stops_both_processes(tmp_path: Path) -> None:
    """Rank 0 alone reads the graph; rank 1 must hear of its failure rather than wait."""
    job(tmp_path)
    names = ('dog', 'cat', 'person')
    graph = LabelGraph(NAMES, np.ones(3), np.zeros((3, 3)), np.ones((3, 5), dtype=np.float32))
    save_label_graph(tmp_path / 'graphs' / '0.npz', graph)
    torch.multiprocessing.spawn(train_on_two, (str(tmp_path), free_port(), names), nprocs=2)
    for rank in (0, 1):
        assert "class 0 is 'cat'" in (tmp_path / f'{rank}.txt').read_text()

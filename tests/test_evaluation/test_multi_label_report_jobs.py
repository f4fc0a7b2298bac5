"""The report inside MMEngine: checkpoints by its keys, and two processes."""

import json
import os

import numpy as np
import pytest
import torch
from mmengine.dataset import DefaultSampler
from mmengine.evaluator import Evaluator
from mmengine.hooks import Hook
from mmengine.model import BaseModel
from mmengine.runner import Runner
from mmpretrain.structures import DataSample
from torch.multiprocessing.spawn import spawn
from torch.utils.data import Dataset

from mmshufflemix.evaluation import MultiLabelReport

NAMES = ('bird', 'cat', 'dog')
LABELS = [[0], [0, 1], [], [2], [1, 2], [0, 2], [1]]


class Images(Dataset):
    """Seven samples whose inputs are their scores."""

    @property
    def metainfo(self):
        return {'classes': NAMES}

    def __len__(self):
        return len(LABELS)

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        scores = torch.from_numpy(rng.integers(0, 8, 3) / 8)
        sample = DataSample(metainfo={'gt_label_difficult': [index % 3]})
        return {'inputs': scores, 'data_samples': sample.set_gt_label(LABELS[index])}


class Scorer(BaseModel):
    """Gives the inputs back as scores, reversed once the bias has sunk (in epoch 2)."""

    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(1))

    def forward(self, inputs, data_samples=None, mode='tensor'):
        if mode == 'loss':
            return {'loss': self.bias.sum()}
        inputs = torch.stack(list(inputs))
        scores = inputs if self.bias.item() > -1.5 else 1 - inputs
        return [
            sample.set_pred_score(score) for sample, score in zip(data_samples, scores, strict=True)
        ]


def evaluate_images(**sampler_options):
    images = Images()
    evaluator = Evaluator(MultiLabelReport())
    evaluator.dataset_meta = images.metainfo
    for index in DefaultSampler(images, seed=0, **sampler_options):
        item = images[index]
        evaluator.process([item['data_samples'].set_pred_score(item['inputs'])])
    return evaluator.evaluate(len(images))


def evaluate_in_process(rank, folder):
    torch.distributed.init_process_group(
        'gloo', init_method=f'file://{folder}/store', rank=rank, world_size=2
    )
    # MMEngine gathers results through a folder in the working directory.
    os.chdir(folder)
    got = [
        evaluate_images(shuffle=False),
        evaluate_images(shuffle=True),
        evaluate_images(shuffle=False, round_up=False),
    ]
    with open(f'{folder}/{rank}.json', 'w') as file:
        json.dump(got, file)
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_give_the_numbers_of_one(tmp_path):
    expected = evaluate_images(shuffle=False)
    spawn(evaluate_in_process, args=(str(tmp_path),), nprocs=2)
    for rank in range(2):
        padded, _, unpadded = json.loads((tmp_path / f'{rank}.json').read_text())
        assert padded == expected
        assert unpadded == expected
    assert expected['multi-label/mAP'] > 0


class Recorder(Hook):
    def __init__(self):
        self.seen = []

    def after_val_epoch(self, runner, metrics=None):
        self.seen.append(metrics)


def train(tmp_path, **checkpoint):
    images = Images()
    loader = {
        'dataset': images,
        'batch_size': 4,
        'num_workers': 0,
        'sampler': {'type': 'DefaultSampler', 'shuffle': False},
    }
    runner = Runner(
        model=Scorer(),
        work_dir=str(tmp_path),
        train_dataloader=loader,
        train_cfg={'by_epoch': True, 'max_epochs': 2},
        optim_wrapper={'optimizer': {'type': 'SGD', 'lr': 0.5}},
        val_dataloader=loader,
        val_cfg={},
        val_evaluator={'type': 'MultiLabelReport'},
        default_hooks={'checkpoint': {'type': 'CheckpointHook', **checkpoint}},
        default_scope='mmpretrain',
        experiment_name=tmp_path.name,
    )
    recorder = Recorder()
    runner.register_hook(recorder)
    runner.train()
    return recorder.seen, runner.message_hub


@pytest.mark.parametrize('key', ['multi-label/mAP', 'auto'])
def test_best_checkpoint_by_map(tmp_path, key):
    seen, hub = train(tmp_path, save_best=key)
    maps = [metrics['multi-label/mAP'] for metrics in seen]
    assert maps[0] != maps[1]
    assert hub.get_info('best_score') == max(maps)
    best = tmp_path / f'best_multi-label_mAP_epoch_{1 + maps.index(max(maps))}.pth'
    assert best.is_file()


def test_best_checkpoint_by_one_class(tmp_path):
    seen, hub = train(tmp_path, save_best='multi-label/AP_dog', rule='greater')
    aps = [metrics['multi-label/AP_dog'] for metrics in seen]
    assert aps[0] != aps[1]
    assert hub.get_info('best_score') == max(aps)
    assert (tmp_path / f'best_multi-label_AP_dog_epoch_{1 + aps.index(max(aps))}.pth').is_file()


def test_one_class_without_a_rule_is_refused_by_mmengine(tmp_path):
    with pytest.raises(ValueError, match='multi-label/AP_dog'):
        train(tmp_path, save_best='multi-label/AP_dog')

"""A network, a data set and a job that take milliseconds: 10 classes of 16 x 16 pictures.

Nothing here imports mmshufflemix: one test is about a job whose recipe is the first to do so.
"""

from __future__ import annotations

import uuid
from typing import Any

import mmpretrain.models  # noqa: F401
import numpy as np
import torch
from mmengine.config import Config
from mmengine.optim import OptimWrapper
from mmengine.runner import Runner
from mmpretrain.datasets import BaseDataset
from mmpretrain.registry import DATASETS, MODELS
from mmpretrain.structures import DataSample

NUM_CLASSES = 10
CHANNELS = {'layer1': 8, 'layer2': 16, 'layer3': 32, 'layer4': 64}
STAGES = tuple(f'backbone.{name}' for name in CHANNELS)


@DATASETS.register_module()
class TinyPictures(BaseDataset):
    """Random pictures, always the same ones."""

    def __init__(self, size: int = 24, pipeline: Any = (dict(type='PackInputs'),)) -> None:
        self.size = size
        super().__init__(ann_file='', pipeline=pipeline)

    def load_data_list(self) -> list[dict[str, Any]]:
        rng = np.random.default_rng(0)
        pictures = rng.integers(0, 256, (self.size, 16, 16, 3), dtype=np.uint8)
        return [
            dict(img=picture, gt_label=index % NUM_CLASSES, sample_idx=index)
            for index, picture in enumerate(pictures)
        ]


def model_config(augment: Any = None, probs: Any = None, **backbone: Any) -> dict[str, Any]:
    """Config of a ResNet-18 with 8 to 64 channels; ``augment`` may be one or a list."""
    augments = {} if augment is None else dict(augments=augment, probs=probs)
    return dict(
        type='ImageClassifier',
        backbone=dict(type='ResNet_CIFAR', depth=18, base_channels=8, stem_channels=8, **backbone),
        neck=dict(type='GlobalAveragePooling'),
        head=dict(type='LinearClsHead', num_classes=NUM_CLASSES, in_channels=64, topk=(1,)),
        data_preprocessor=dict(num_classes=NUM_CLASSES, mean=[127.5] * 3, std=[127.5] * 3),
        train_cfg=augments or None,
    )


def build_model(augment: Any = None, probs: Any = None, seed: int = 0, **backbone: Any) -> Any:
    """Build the network in training mode; one seed gives one set of weights."""
    torch.manual_seed(seed)
    model = MODELS.build(model_config(augment, probs, **backbone))
    model.init_weights()
    return model.train()


def batch(size: int = 8, seed: int = 0) -> dict[str, Any]:
    """Make a batch as a data loader gives it, all labels different up to ten images."""
    rng = torch.Generator().manual_seed(seed)
    return dict(
        inputs=torch.randint(0, 256, (size, 3, 16, 16), dtype=torch.uint8, generator=rng),
        data_samples=[DataSample().set_gt_label(i % NUM_CLASSES) for i in range(size)],
    )


def sgd(model: Any, lr: float = 0.05, **kwargs: Any) -> OptimWrapper:
    """Make an optimizer wrapper for a model."""
    return OptimWrapper(torch.optim.SGD(model.parameters(), lr=lr), **kwargs)


def seed_all(seed: int) -> None:
    """Seed the sources of MMPretrain's choice of augment and of our draws."""
    np.random.seed(seed)
    torch.manual_seed(seed)


def gradients(model: Any) -> dict[str, torch.Tensor]:
    """Copy the gradients of a model by name."""
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def job(work_dir: Any, augment: Any = None, max_epochs: int = 2, **options: Any) -> Config:
    """Config of training with validation and a checkpoint after each epoch of three steps."""
    loader = dict(
        batch_size=8,
        num_workers=0,
        dataset=dict(type='TinyPictures'),
        sampler=dict(type='DefaultSampler', shuffle=True),
        collate_fn=dict(type='default_collate'),
    )
    cfg = dict(
        default_scope='mmpretrain',
        work_dir=str(work_dir),
        experiment_name=uuid.uuid4().hex,
        log_level='ERROR',
        model=model_config(augment),
        train_dataloader=loader,
        val_dataloader=loader | dict(sampler=dict(type='DefaultSampler', shuffle=False)),
        val_evaluator=dict(type='Accuracy', topk=(1,)),
        train_cfg=dict(by_epoch=True, max_epochs=max_epochs),
        val_cfg=dict(),
        optim_wrapper=dict(optimizer=dict(type='SGD', lr=0.05, momentum=0.9)),
        randomness=dict(seed=3),
    )
    return Config(cfg | options)


def run_job(cfg: Config) -> Runner:
    """Train a job and return its runner."""
    runner = Runner.from_cfg(cfg)
    runner.train()
    return runner

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import torch
from mmengine.runner import Runner

from mmshufflemix.hooks import ChannelsLastHook
from tests.tiny_job import load_job, write_job


def train(config: Path, work_dir: Path, hooks: list[dict]) -> Runner:
    cfg = load_job(config, work_dir, train_cfg__max_epochs=1)
    cfg.custom_hooks = [*cfg.custom_hooks, *hooks]
    cfg.experiment_name = work_dir.name
    runner = Runner.from_cfg(cfg)
    runner.train()
    return runner


def test_reorders_weights_and_features_and_keeps_values(tmp_path: Path) -> None:
    config = write_job(tmp_path)
    plain = train(config, tmp_path / 'plain', [])
    ordered = train(config, tmp_path / 'ordered', [dict(type='ChannelsLastHook')])
    for name, value in ordered.model.state_dict().items():
        if value.ndim == 4:
            assert value.is_contiguous(memory_format=torch.channels_last), name
        expected = plain.model.state_dict()[name]
        torch.testing.assert_close(value, expected, rtol=1e-3, atol=1e-4)
    ordered.model.eval()
    (feature,) = ordered.model.backbone(torch.zeros(2, 3, 16, 16))
    assert feature.is_contiguous(memory_format=torch.channels_last)
    saved = torch.load(tmp_path / 'ordered' / 'epoch_1.pth', weights_only=False)['state_dict']
    plain.model.load_state_dict(saved)


def test_weights_of_other_dimensions_stay() -> None:
    model = torch.nn.ModuleList([torch.nn.Conv3d(2, 3, 2), torch.nn.Conv2d(2, 3, 2)])
    model.register_buffer('image', torch.zeros(1, 2, 3, 3))
    strides = model[0].weight.stride()
    ChannelsLastHook().before_train(SimpleNamespace(model=model))
    assert model[0].weight.stride() == strides
    for tensor in (model[1].weight, model.image):
        assert tensor.is_contiguous(memory_format=torch.channels_last)

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from mmengine.config import Config
from mmpretrain.utils import register_all_modules

from mmshufflemix import InMemoryImages
from mmshufflemix.benchmark.data import LoadingCost, measure_loading, start_runner

register_all_modules()


def test_both_pipelines_are_timed():
    done: list[int] = []
    cost = LoadingCost(images=20, batch_size=8, pairs=2)
    result = measure_loading(cost, done.append)
    assert done == [1, 2]
    assert result['fast_q1'] <= result['fast'] <= result['fast_q3']
    assert result['speedup'] > 0
    assert result['images'] == 20


def test_what_is_timed_is_a_whole_epoch(tmp_path: Path):
    cost = LoadingCost(images=20, batch_size=8, steps_before=1000)
    for runner_type in ('Runner', 'SmallImageRunner'):
        runner = start_runner(runner_type, cost, str(tmp_path))
        fast = isinstance(runner.train_dataloader.dataset, InMemoryImages)
        assert fast == (runner_type == 'SmallImageRunner')
        inputs: list[torch.Tensor] = []
        runner.model.register_forward_pre_hook(
            partial(_note, inputs.append), with_kwargs=True, prepend=True
        )
        runner.train_loop.run_epoch()
        assert runner.iter == 2
        assert [(tuple(x.shape), x.dtype) for x in inputs] == [((8, 3, 32, 32), torch.float32)] * 2
        losses, _ = runner.message_hub.get_scalar('train/loss').data
        assert len(losses) == 1002
        # The loss is 8 times a number that SGD with momentum 0.9 and rate 0.1 takes down by 0.8.
        torch.testing.assert_close(torch.tensor(losses[-2:]), torch.tensor([0.0, -6.4]).double())


@pytest.mark.parametrize('runner_type', ['Runner', 'SmallImageRunner'])
def test_the_config_can_be_printed_and_read_again(tmp_path: Path, runner_type: str):
    # MMEngine 0.10 prints it when a run starts, which fails if a type is a class.
    cfg = start_runner(runner_type, LoadingCost(images=8, batch_size=8), str(tmp_path)).cfg
    again = Config.fromstring(cfg.pretty_text, '.py')
    assert again.model == {'type': 'NoOpModel'}
    assert again.train_dataloader.dataset.type == 'RandomImages'


def _note(note: Callable[[torch.Tensor], object], _: Any, args: tuple, kwargs: dict) -> None:
    note(kwargs['inputs'])

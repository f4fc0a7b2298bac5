"""Misspelled types and arguments: the nearest name, and none where none is near."""

from __future__ import annotations

from typing import Any

import pytest
from mmengine.registry import MODELS as ROOT_MODELS
from mmengine.registry import OPTIMIZERS, PARAM_SCHEDULERS, RUNNERS, Registry
from mmengine.runner import Runner
from mmpretrain.registry import BATCH_AUGMENTS, HOOKS, MODELS, TRANSFORMS

from mmshufflemix.augments import ManifoldMixup, ShuffleMix, ShuffleMixNFM
from mmshufflemix.cli import error_sentence, is_user_error
from mmshufflemix.near_names import argument_hint, argument_names, closest, type_meant
from tests.tiny_job import load_job, write_job

OWN = 'A class of your own has to be imported by custom_imports'


def sentence(registry: Registry, **cfg: Any) -> str:
    with pytest.raises((KeyError, TypeError)) as failed:
        registry.build(cfg)
    assert is_user_error(failed.value)
    return error_sentence(failed.value)


def classifier(**parts: Any) -> dict[str, Any]:
    return dict(type='ImageClassifier', **{'backbone': dict(type='LeNet5'), **parts})


@pytest.mark.parametrize(
    ('registry', 'name', 'meant'),
    [
        (BATCH_AUGMENTS, 'ShufleMix', 'ShuffleMix'),
        (BATCH_AUGMENTS, 'shufflemix', 'ShuffleMix'),
        (BATCH_AUGMENTS, 'mmshufflemix.ShufleMix', 'ShuffleMix'),
        (BATCH_AUGMENTS, 'mmshuflemix.ShuffleMix', 'ShuffleMix'),
        (BATCH_AUGMENTS, 'mmpretrain.Mixupp', 'Mixup'),
        (HOOKS, 'EpochSedHook', 'EpochSeedHook'),
        # Of MMEngine's registry above MMPretrain's.
        (HOOKS, 'EMAHok', 'EMAHook'),
        (TRANSFORMS, 'RandomFlp', 'RandomFlip'),
        (MODELS, 'ResNet_CIFR', 'ResNet_CIFAR'),
    ],
)
def test_types(registry: Registry, name: str, meant: str) -> None:
    said = sentence(registry, type=name)
    assert said.startswith(f'{name} is not in the ')
    assert said.endswith(f' registry; did you mean {meant}? {OWN}')
    assert registry.get(meant) is not None


def test_what_is_below_a_registry_needs_its_scope() -> None:
    assert type_meant('ResNet_CIFR', ROOT_MODELS) == 'mmpretrain.ResNet_CIFAR'


def test_a_type_inside_another() -> None:
    said = sentence(MODELS, **classifier(backbone=dict(type='ResNet_CIFR')))
    assert said.endswith(f'model registry; did you mean ResNet_CIFAR? {OWN}')
    said = sentence(MODELS, **classifier(head=dict(type='LinearClsHed')))
    assert said.endswith(f'did you mean LinearClsHead? {OWN}')


@pytest.mark.parametrize(
    'name',
    ['NoSuchBackbone', 'mmshufflemix.Xyz', 'Q', 'mmdet.ResNet', 'MyHead', 'BCELoss'],
)
def test_no_type_is_guessed(name: str) -> None:
    said = sentence(MODELS, type=name)
    assert said.startswith(f'{name} is not in the mmpretrain::model registry. Please check')
    assert 'did you mean' not in said


def test_other_builders() -> None:
    warmup = dict(type='LinearLR', convert_to_iter_based=True, epoch_length=2)
    said = sentence(PARAM_SCHEDULERS, **{**warmup, 'type': 'LinearRL'})
    assert said.endswith(f'did you mean LinearLR? {OWN}')
    said = sentence(PARAM_SCHEDULERS, **warmup, optimizer=None, start_fator=0.1)
    assert said.endswith("keyword argument 'start_fator'; did you mean start_factor?")
    said = sentence(RUNNERS, runner_type='SmalImageRunner')
    assert said.endswith(f'did you mean SmallImageRunner? {OWN}')
    assert 'did you mean SGD? ' in sentence(OPTIMIZERS, type='SGDD')


@pytest.mark.parametrize(
    ('registry', 'cfg', 'name', 'hint'),
    [
        (BATCH_AUGMENTS, dict(type='Mixup', alpa=1.0), 'alpa', 'did you mean alpha?'),
        (TRANSFORMS, dict(type='RandomFlip', probb=1), 'probb', 'did you mean prob?'),
        (TRANSFORMS, dict(type='PackInputs', zzz=1), 'zzz', 'it takes algorithm_keys, input_key, '),
        # ResNet refuses it, ResNet_CIFAR is what the user wrote.
        (MODELS, dict(type='ResNet_CIFAR', depth=18, dept=3), 'dept', 'did you mean depth?'),
        (MODELS, dict(type='LeNet5', depth=3), 'depth', 'it takes num_classes'),
        (MODELS, classifier(hed=1), 'hed', 'did you mean head?'),
        (MODELS, classifier(neck=dict(type='GlobalAveragePooling', dm=1)), 'dm', 'mean dim?'),
    ],
)
def test_arguments(registry: Registry, cfg: dict[str, Any], name: str, hint: str) -> None:
    said = sentence(registry, **cfg)
    kind = cfg['neck']['type'] if 'neck' in cfg else cfg['type']
    assert said.startswith(f"{kind}.__init__() got an unexpected keyword argument '{name}'; ")
    assert hint in said


def test_arguments_of_augments() -> None:
    """Also without a config; arguments that only other augments take are not offered."""
    start = 'ShuffleMix got unknown arguments: '
    with pytest.raises(TypeError, match=rf'^{start}ratoi; did you mean ratio\?$'):
        ShuffleMix(ratoi=0.5)
    with pytest.raises(TypeError, match=rf'^{start}moed, ratoi; did you mean mode and ratio\?$'):
        ShuffleMix(ratoi=0.5, moed='soft')
    with pytest.raises(TypeError, match=rf'^{start}add_nois; it takes alpha, channel_axis, '):
        ShuffleMix(add_nois=0.5)
    with pytest.raises(TypeError, match=r'add_nois; did you mean add_noise\?'):
        ShuffleMixNFM(add_nois=0.5)
    with pytest.raises(TypeError, match=r'it takes alpha, .*, per_sample$'):
        ManifoldMixup(zzz=1)
    said = sentence(BATCH_AUGMENTS, type='ShuffleMix', ratoi=0.5)
    assert said == f'{start}ratoi; did you mean ratio?'


def test_an_argument_of_something_that_the_class_makes_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not in the config, so nothing of the config can be meant."""

    def make(self: Any, depth: int = 1) -> None:
        closest(nme='dept', known=[])  # type: ignore[call-arg]

    monkeypatch.setattr(MODELS.get('LeNet5'), '__init__', make)
    said = sentence(MODELS, type='LeNet5')
    assert said.startswith("closest() got an unexpected keyword argument 'nme'")
    assert 'it takes' not in said


def test_an_argument_that_a_hook_hands_on(tmp_path: Any) -> None:
    """EMAHook takes any and gives them to its model at the start of the training."""
    job = load_job(write_job(tmp_path), tmp_path / 'run')
    job.custom_hooks = [dict(type='EMAHook', momentm=0.1)]
    runner = Runner.from_cfg(job)
    with pytest.raises(TypeError) as failed:
        runner.train()
    assert is_user_error(failed.value)
    said = error_sentence(failed.value)
    assert said.startswith('ExponentialMovingAverage.__init__() got an unexpected keyword argument')
    assert said.endswith("'momentm'; did you mean momentum?")


def test_an_argument_that_the_checkpoint_hook_would_hand_on() -> None:
    """CheckpointHook takes any, too, and fails after an epoch."""
    said = sentence(HOOKS, type='SafeCheckpointHook', intervl=2)
    assert said == 'SafeCheckpointHook got unknown arguments: intervl; did you mean interval?'


def test_an_argument_of_the_loop(tmp_path: Any) -> None:
    """The runner builds it without a registry."""
    job = load_job(write_job(tmp_path), tmp_path / 'run')
    job.train_cfg.max_epoch = 3
    with pytest.raises(TypeError) as failed:
        Runner.from_cfg(job).train()
    said = error_sentence(failed.value)
    assert said.startswith('EpochBasedTrainLoop.__init__() got an unexpected keyword')
    assert said.endswith("argument 'max_epoch'; did you mean max_epochs?")


def test_closest() -> None:
    assert closest('ratoi', ['alpha', 'ratio']) == 'ratio'
    assert closest('EMAHOOK', ['EMAHook', 'IterTimerHook']) == 'EMAHook'
    assert closest('x', ['alpha']) is None
    assert closest('x', []) is None
    assert argument_hint(['x'], []) == '; it takes none'


def test_argument_names() -> None:
    class Base:
        def __init__(self, a: int, *rest: int, b: int = 1) -> None: ...

    class Open(Base):
        def __init__(self, c: int, **others: Any) -> None: ...

    class Forwards:
        def __init__(self, **others: Any) -> None: ...

    assert argument_names(Base) == {'a', 'b'}
    assert argument_names(Open) == {'a', 'b', 'c'}
    assert argument_names(Forwards) is None
    assert argument_names(dict) is None

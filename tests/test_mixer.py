from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import weakref

import pytest
import torch
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample

import mmshufflemix
from mmshufflemix.mixer import HiddenMixer
from tests.integration.tiny import batch, build_model, model_config, sgd

LAYER = {'type': 'ShuffleMix', 'layers': ['layer2']}


def hook_count(module: torch.nn.Module) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in module.modules())


def test_models_are_bound_when_built_and_attach_gives_the_same_mixer():
    model = build_model(LAYER)
    mixer = mmshufflemix.attach(model)
    assert isinstance(mixer, HiddenMixer)
    assert mmshufflemix.attach(model) is mixer
    assert model.hidden_mixer is mixer


def test_detach_removes_everything_and_attach_brings_it_back():
    model = build_model(LAYER)
    model.train_step(batch(), sgd(model))
    assert hook_count(model) == 5
    mmshufflemix.detach(model)
    assert hook_count(model) == 0
    with pytest.raises(RuntimeError, match='mmshufflemix.attach'):
        model.train_step(batch(), sgd(model))
    mmshufflemix.attach(model)
    model.train_step(batch(), sgd(model))
    assert model.hidden_mixer.layers.fired == 1
    mmshufflemix.detach(model)
    mmshufflemix.detach(model)
    assert hook_count(model) == 0


def test_only_models_with_a_preprocessor_can_be_bound():
    with pytest.raises(TypeError, match='BaseModel of MMEngine is needed, got Linear'):
        mmshufflemix.attach(torch.nn.Linear(2, 2))


def test_a_new_preprocessor_is_watched_and_the_old_one_let_go():
    model = build_model(LAYER)
    old, new = model.data_preprocessor, build_model(LAYER).data_preprocessor
    model.data_preprocessor = new
    assert hook_count(old) == 0
    assert hook_count(new) == 2
    model.train_step(batch(), sgd(model))
    assert model.hidden_mixer.layers.fired == 1


def test_a_shared_preprocessor_serves_the_model_that_took_it_last():
    first, second = build_model(LAYER), build_model(LAYER)
    optimizer = sgd(second)
    second.data_preprocessor = first.data_preprocessor
    second.train_step(batch(), optimizer)
    assert second.hidden_mixer.layers.fired == 1
    with pytest.raises(RuntimeError, match='hidden layer of another model'):
        first.train_step(batch(), sgd(first))


def test_labels_mixed_and_the_model_not_called_is_an_error_once():
    model = build_model(LAYER)
    data = model.data_preprocessor(batch(), True)
    model.loss(data['inputs'], data['data_samples'])
    with pytest.raises(RuntimeError, match=r"layer 'backbone\.layer2'.*mode='loss'"):
        model.train_step(batch(), sgd(model))
    model.train_step(batch(), sgd(model))
    assert model.hidden_mixer.layers.fired == 1


def test_a_plan_serves_the_batch_whose_labels_were_mixed():
    model = build_model(LAYER)
    data = model.data_preprocessor(batch(), True)
    other = batch()['data_samples']
    torch.manual_seed(0)
    for samples, fired in [(data['data_samples'], 1), (data['data_samples'], 1), (other, 0)]:
        model(data['inputs'], samples, mode='loss')
        assert model.hidden_mixer.layers.fired == fired


def test_a_batch_mixed_for_one_model_is_refused_by_another():
    student, teacher = build_model(LAYER), build_model()
    data = student.data_preprocessor(batch(), True)
    student(**data, mode='loss')
    for other in (teacher, copy.deepcopy(student)):
        with pytest.raises(RuntimeError, match='hidden layer of another model'):
            other(**data, mode='loss')
        assert other.eval()(data['inputs']).shape == (8, 10)


def test_samples_that_are_used_again_are_no_error():
    model = build_model(LAYER)
    optimizer = sgd(model)
    data = batch()
    for augments in (True, False, True):
        recipe = model.data_preprocessor.batch_augments
        model.data_preprocessor.batch_augments = recipe if augments else None
        model.train_step(dict(data), optimizer)
        assert model.hidden_mixer.layers.fired == augments
        model.data_preprocessor.batch_augments = recipe


def test_data_without_labels_is_refused():
    model = build_model(LAYER)
    data = batch()
    data['data_samples'] = [DataSample() for _ in data['data_samples']]
    with pytest.raises(ValueError, match='ShuffleMix needs labels to mix'):
        model.data_preprocessor(data, True)
    model.data_preprocessor(data, False)


def test_an_interrupted_forward_pass_does_not_reach_into_evaluation():
    model = build_model(LAYER)
    twin = copy.deepcopy(model).eval()

    def interrupt(*args):
        raise KeyboardInterrupt

    handle = model.backbone.layer4.register_forward_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.train_step(batch(), sgd(model))
    handle.remove()
    twin.load_state_dict(model.state_dict())
    images = torch.randn(8, 3, 16, 16)
    assert torch.equal(model.eval().extract_feat(images)[0], twin.extract_feat(images)[0])
    model.train()
    model.train_step(batch(), sgd(model))
    assert model.hidden_mixer.layers.fired == 1


def test_parts_of_a_model_are_copied_and_saved_without_the_rest():
    model = build_model(LAYER)
    model.train_step(batch(), sgd(model))
    part = copy.deepcopy(model.backbone.layer2)
    hook = next(iter(part._forward_hooks.values()))
    assert hook.args[0]._model is None
    images = torch.randn(8, 8, 16, 16)
    assert part(images).shape == model.backbone.layer2(images).shape
    expected = 4 * sum(p.numel() for p in model.backbone.layer2.parameters())
    assert len(pickle.dumps(model.backbone.layer2)) < 2 * expected


def test_models_are_freed_at_once():
    model = build_model(LAYER)
    model.train_step(batch(), sgd(model))
    known = weakref.ref(model)
    del model
    assert known() is None


def logged(caplog: pytest.LogCaptureFixture, model: BaseModel, steps: int) -> list[str]:
    """Train and return the messages of MMEngine's log, which goes past pytest's."""
    optimizer = sgd(model)
    logger = MMLogger.get_current_instance()
    logger.addHandler(caplog.handler)
    try:
        for _ in range(steps):
            model.train_step(batch(), optimizer)
    finally:
        logger.removeHandler(caplog.handler)
    return [record.getMessage() for record in caplog.records]


def test_the_layer_table_is_resolved_and_logged_once(caplog):
    model = build_model({'type': 'ShuffleMix'})
    tables = [text for text in logged(caplog, model, 3) if 'Mixed layers' in text]
    assert len(tables) == 1
    assert 'input (3 channels, axis 1)' in tables[0]
    assert 'backbone.layer4 (64 channels, axis 1)' in tables[0]


@pytest.mark.parametrize(('threshold', 'warnings'), [(None, 1), (0.3, 0)])
def test_soft_targets_for_a_loss_of_hard_ones_are_warned_about_once(caplog, threshold, warnings):
    config = model_config({**LAYER, 'label_threshold': threshold})
    config['head'] = {
        'type': 'MultiLabelLinearClsHead',
        'num_classes': 10,
        'in_channels': 64,
        'loss': {'type': 'AsymmetricLoss'},
    }
    model = MODELS.build(config).train()
    found = [text for text in logged(caplog, model, 3) if 'set label_threshold' in text]
    assert len(found) == warnings


def test_models_that_exist_at_the_import_are_bound():
    script = (
        'from tests.integration.tiny import batch, model_config, sgd\n'
        'from mmpretrain.registry import MODELS, BATCH_AUGMENTS\n'
        'from mmpretrain.models.utils import RandomBatchAugment\n'
        'import sys\n'
        'model = MODELS.build(model_config()).train()\n'
        "assert 'mmshufflemix' not in sys.modules\n"
        'recipe = RandomBatchAugment(dict(type="mmshufflemix.ShuffleMix", layers=["layer2"]))\n'
        'model.data_preprocessor.batch_augments = recipe\n'
        'model.train_step(batch(), sgd(model))\n'
        'print("fired", model.hidden_mixer.layers.fired)\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, check=False
    )
    assert 'fired 1' in done.stdout, done.stderr

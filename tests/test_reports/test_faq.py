"""Every piece of config in docs/faq.md can be used as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mmpretrain.registry import DATASETS, HOOKS, METRICS, MODELS, TRANSFORMS

from mmshufflemix.prepare import prepare_config, read_config
from mmshufflemix.resumable import make_resumable
from tests.tiny_job import ROOT

SNIPPETS = re.findall(r'```python\n(.*?)```', (ROOT / 'docs' / 'faq.md').read_text(), re.DOTALL)


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) > 15


@pytest.mark.parametrize('number', range(len(SNIPPETS)))
def test_everything_in_it_can_be_built(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Away from any label graph.
    monkeypatch.chdir(tmp_path)
    base = ROOT / 'configs' / 'voc07' / 'mlgcn_resnet18_baseline_224.py'
    path = tmp_path / 'config.py'
    path.write_text(f"_base_ = ['{base}']\n{SNIPPETS[number]}")
    cfg = make_resumable(prepare_config(read_config(str(path))))
    assert set(re.findall(r'^(\w+) = ', SNIPPETS[number], re.MULTILINE)) <= set(cfg)
    model = MODELS.build({**cfg.model, 'data_preprocessor': cfg.data_preprocessor})
    wanted = (cfg.model.get('train_cfg') or {}).get('augments') or []
    built = getattr(model.data_preprocessor.batch_augments, 'augments', [])
    assert sum(augment is not None for augment in built) == (
        1 if isinstance(wanted, dict) else len(wanted)
    )
    for hook in [*cfg.custom_hooks, cfg.default_hooks.checkpoint]:
        assert HOOKS.build(hook) is not None
    assert METRICS.build(cfg.val_evaluator) is not None
    for name in ('train', 'val', 'test'):
        dataset = cfg[f'{name}_dataloader'].dataset
        classes = DATASETS.build({**dataset, 'lazy_init': True}).metainfo['classes']
        assert len(classes) == model.head.num_classes == cfg.data_preprocessor.num_classes
    if 'pack' in cfg:
        assert 'gt_label_difficult' in TRANSFORMS.build(cfg.pack).meta_keys

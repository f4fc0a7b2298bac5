"""Build a model for inference from its config and checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from mmcv.transforms import LoadImageFromFile
from mmengine.config import Config, ConfigDict
from mmengine.model import BaseModel
from mmengine.runner import CheckpointLoader
from mmpretrain.registry import DATASETS, MODELS, TRANSFORMS
from mmpretrain.utils import register_all_modules

from mmshufflemix.checkpoint_content import check_weights, checkpoint_classes, plain_weights
from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.class_names import listed_classes
from mmshufflemix.hooks.class_check_hook import check_fit
from mmshufflemix.prepare import (
    check_local_file,
    drop_pretrained,
    lookup,
    prepare_config,
    read_config,
)
from mmshufflemix.trained_config import warn_of_other_preprocessing
from mmshufflemix.wrapped_datasets import loader_datasets

__all__ = ['build_model', 'config_classes', 'is_loader', 'test_dataset']


def build_model(
    config: str | Config,
    checkpoint: str,
    device: str | torch.device | None = None,
    options: dict[str, Any] | None = None,
) -> BaseModel:
    """Build the model of a config in evaluation mode, with the weights of a checkpoint.

    Like the command line tools, this makes MMEngine load checkpoints without running code from
    them, for the whole process. Averaged weights (EMA) are what MMEngine stores as the weights.

    Args:
        config: File or config.
        checkpoint: File, or address of one.
        device: Default: a GPU if there is one.
        options: Dotted names of settings and their values, to change in the config.

    Returns:
        The model, with ``_config`` and ``_dataset_meta`` as MMPretrain's inferencers expect them.

    Raises:
        FileNotFoundError: If a file is missing.
        ValueError: If the config cannot be used, or the checkpoint is of another model.
    """
    check_local_file(checkpoint, 'checkpoint')
    cfg = read_config(config, options) if isinstance(config, str) else config
    register_all_modules()
    use_safe_loading()
    cfg = prepare_config(cfg)
    if cfg.get('model') is None:
        raise ValueError('the config has no model, so nothing can be predicted.')
    if cfg.get('data_preprocessor') is not None:
        cfg.model.setdefault('data_preprocessor', cfg.data_preprocessor)
    drop_pretrained(cfg.model)
    model = MODELS.build(cfg.model)
    loaded = CheckpointLoader.load_checkpoint(checkpoint, 'cpu', logger='silent')
    _load_weights(model, loaded)
    warn_of_other_preprocessing(loaded, cfg)
    classes = checkpoint_classes(loaded)
    model._config = cfg
    model._dataset_meta = {'classes': classes or config_classes(cfg)}
    return model.to(device or ('cuda' if torch.cuda.is_available() else 'cpu')).eval()


def test_dataset(cfg: Config) -> ConfigDict:
    """The test set's config; of a wrapped one, the first inside that has a pipeline.

    Raises:
        ValueError: If there is none.
    """
    for dataset in loader_datasets(cfg, 'test_dataloader'):
        if dataset.get('pipeline') is not None:
            return dataset
    raise ValueError(
        'the config has no pipeline in test_dataloader.dataset, so that it is unknown how pictures '
        'are prepared; add test_dataloader=dict(dataset=dict(pipeline=[...])).'
    )


def is_loader(step: Mapping[str, Any]) -> bool:
    """Tell whether a step of a pipeline, as its config, reads the picture."""
    kind = lookup(TRANSFORMS, step.get('type'))
    return isinstance(kind, type) and issubclass(kind, LoadImageFromFile)


def config_classes(cfg: Config) -> tuple[str, ...] | None:
    """The class names of a config's test set without reading any data, or None if unknown.

    They come from its ``metainfo`` or ``classes``, else from the class of the data set.
    """
    try:
        dataset = test_dataset(cfg)
    except ValueError:
        return None
    dataset_class = lookup(DATASETS, dataset.get('type'))
    if dataset_class is None:
        return None
    own = {'classes': dataset['classes']} if dataset.get('classes') else {}
    meta = dataset_class._load_metainfo({**own, **(dataset.get('metainfo') or {})})
    return listed_classes(meta) or None


def _load_weights(model: BaseModel, checkpoint: Any) -> None:
    weights = checkpoint.get('state_dict', checkpoint) if isinstance(checkpoint, Mapping) else None
    if not isinstance(weights, Mapping):
        raise ValueError('the checkpoint holds no weights; give a .pth file that training wrote.')
    weights = plain_weights(weights)
    known = [name for name in model.state_dict() if name in weights]
    check_weights({'state_dict': {name: weights[name] for name in known}})
    check_fit(model, weights)
    model.load_state_dict(weights, strict=False)

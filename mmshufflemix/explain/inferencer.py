"""The inferencer for heads of one label and of several labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from mmengine.config import Config
from mmengine.model import BaseModel

from mmshufflemix.export.pipeline import loads_bgr
from mmshufflemix.inference.class_thresholds import Threshold
from mmshufflemix.inference.inferencer import MultiLabelInferencer, Picture

__all__ = ['AnyHeadInferencer']


class AnyHeadInferencer(MultiLabelInferencer):
    """A :class:`MultiLabelInferencer` that takes single-label models too.

    Their scores are the probabilities of the classes. Data sets that bring RGB pictures themselves,
    such as CIFAR, get pictures in this order.

    Args:
        model: Config file, config, a model of
            :func:`~mmshufflemix.inference.build.build_model`, or another inferencer, whose classes
            and thresholds are taken over.
        pretrained: Checkpoint, where the model is a config.
        device: Default: a GPU if there is one; a built model stays where it is.
        threshold: Lowest score of a predicted label.
        classes: Class names in place of the checkpoint's.
        options: Dotted names of settings and their values, to change in the config file.

    Attributes:
        bgr: Whether the pipeline works on BGR pictures.

    Raises:
        FileNotFoundError: If a file is missing.
        ValueError: If a part does not fit another.
    """

    def __init__(
        self,
        model: str | Config | BaseModel | MultiLabelInferencer,
        pretrained: str | None = None,
        device: str | torch.device | None = None,
        threshold: Threshold = 0.5,
        classes: Sequence[str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        given = model if isinstance(model, MultiLabelInferencer) else None
        if given is not None:
            model, classes = given.model, given.classes
        if isinstance(model, BaseModel):
            pretrained = None
        super().__init__(model, pretrained, device, threshold, classes, options)
        if given is not None:
            self.threshold = given.threshold
        self.bgr = loads_bgr(self.config)

    def _check_model(self, model: BaseModel) -> None:
        """Take every head, but no model that does not know how pictures are prepared."""
        if getattr(model, '_config', None) is None:
            raise ValueError(
                'the model does not know its config, which says how pictures are prepared; build '
                'it by mmshufflemix.inference.build.build_model'
            )

    def load(self, picture: Picture) -> dict[str, Any]:
        """Load one picture, in the channel order of the pipeline."""
        loaded = super().load(picture)
        if not self.bgr and loaded['img'].ndim == 3:
            loaded['img'] = np.ascontiguousarray(loaded['img'][..., ::-1])
        return loaded

    def to_rgb(self, image: np.ndarray) -> np.ndarray:
        """Turn a picture of the pipeline, grey or of three channels, to RGB (H, W, 3) of uint8."""
        image = np.clip(np.rint(image), 0, 255).astype(np.uint8)
        if image.ndim == 2 or image.shape[2] == 1:
            return np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)
        return np.ascontiguousarray(image[..., ::-1] if self.bgr else image)

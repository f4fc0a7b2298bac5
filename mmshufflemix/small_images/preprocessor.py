"""The data preprocessor of the fast path."""

from __future__ import annotations

from typing import Any

import torch
from mmpretrain.models import ClsDataPreprocessor
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample
from torch import Tensor
from torch.nn import functional as F

from mmshufflemix._device import send
from mmshufflemix.small_images.samples import set_labels, set_scores

__all__ = ['SmallImagePreprocessor']


@MODELS.register_module()
class SmallImagePreprocessor(ClsDataPreprocessor):
    """MMPretrain's ``ClsDataPreprocessor``, which also crops and flips, on the model's device.

    What was drawn for crops and flips comes with the batch, from
    :class:`~mmshufflemix.small_images.InMemoryImages`. Batches of other datasets pass, too.
    Arguments and results are those of ``ClsDataPreprocessor``.
    """

    def forward(self, data: dict[str, Any], training: bool = False) -> dict[str, Any]:
        """Crop, flip, normalise and augment a batch.

        Args:
            data: ``inputs``, images (N, C, H, W), ``data_samples``, and the ``views`` of the batch.
            training: Whether batch augments are applied.
        """
        samples: Any = data.get('data_samples')
        inputs = self.cast_data(data['inputs'])
        for view in data.get('views', ()):
            inputs = view.apply(inputs)
        labels = _labels(samples)
        if labels is None:
            return super().forward({'inputs': inputs, 'data_samples': samples}, training)
        inputs = self._normalise(inputs)
        if self.to_onehot:
            num_classes = self.num_classes or samples[0].get('num_classes')
            if num_classes is None:
                raise ValueError(
                    'labels cannot be made one-hot without the number of classes; set '
                    'data_preprocessor=dict(num_classes=...)'
                )
            scores = F.one_hot(send(labels, self.device), num_classes)
            if training and self.batch_augments is not None:
                inputs, scores = self.batch_augments(inputs, scores)
            set_scores(samples, scores)
        if labels.device != self.device:
            set_labels(samples, send(labels, self.device))
        return {'inputs': inputs, 'data_samples': samples}

    def _normalise(self, images: Any) -> Tensor:
        """Do with images what the parent class does, writing to one new tensor instead of three."""
        if (
            not isinstance(images, Tensor)
            or images.dtype != torch.uint8
            or self.pad_size_divisor > 1
        ):
            return super().forward({'inputs': images})['inputs']
        if self.to_rgb and images.size(1) == 3:
            images = images.flip(1)
        images = images.float()
        if not self._enable_normalize:
            return images
        if images.size(1) == 1:
            # Becomes as many channels as there are means.
            return (images - self.mean) / self.std
        return images.sub_(self.mean).div_(self.std)


def _labels(samples: Any) -> Tensor | None:
    """Labels (N,) of samples that have one each and nothing else to learn from, else None."""
    if not samples or type(samples[0]) is not DataSample:
        return None
    if 'gt_label' not in samples[0] or 'gt_score' in samples[0]:
        return None
    each = [sample.gt_label for sample in samples]
    labels = torch.cat(each)
    return labels if len(labels) == len(each) else None

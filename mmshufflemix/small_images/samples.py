"""DataSamples as ``PackInputs`` makes them, for a whole batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmpretrain.structures import DataSample
from torch import Tensor

__all__ = ['make_samples', 'set_labels', 'set_scores']

# The setters of a DataSample check and convert each value, which takes longer than all that is done
# with the pixels. What is written here has been checked for the batch; tests hold the objects
# against ordinary ones.


def make_samples(
    labels: Tensor, common: dict[str, Any], columns: Mapping[str, Sequence[Any]]
) -> list[DataSample]:
    """Make a sample of each label.

    Args:
        labels: Class ids (N,), int64; the samples hold views of them.
        common: Meta information that all samples share.
        columns: Meta information that differs, N values by name.
    """
    meta_keys = frozenset([*common, *columns])
    keys = ('gt_label', *columns)
    samples = []
    for values in zip(_one_by_one(labels), *columns.values(), strict=True):
        sample = DataSample.__new__(DataSample)
        fields = sample.__dict__
        fields.update(common, _metainfo_fields=set(meta_keys), _data_fields={'gt_label'})
        fields.update(zip(keys, values, strict=True))
        samples.append(sample)
    return samples


def set_labels(samples: Sequence[DataSample], labels: Tensor) -> None:
    """Give each sample, which has a label already, one of ``labels`` (N,)."""
    for sample, label in zip(samples, _one_by_one(labels), strict=True):
        sample.__dict__['gt_label'] = label


def set_scores(samples: Sequence[DataSample], scores: Tensor) -> None:
    """Give each sample its row of ``scores`` (N, K), and the number of classes K."""
    num_classes = scores.size(1)
    for sample, score in zip(samples, scores.unbind(), strict=True):
        fields = sample.__dict__
        fields['gt_score'] = score
        fields['num_classes'] = num_classes
        fields['_data_fields'].add('gt_score')
        fields['_metainfo_fields'].add('num_classes')


def _one_by_one(labels: Tensor) -> tuple[Tensor, ...]:
    return labels.unsqueeze(1).unbind()

"""A seeded part of each class of a data set, and of its classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import mmengine.dataset
import numpy as np
from mmpretrain.datasets import MultiLabelDataset
from mmpretrain.registry import DATASETS

from mmshufflemix.class_names import dataset_classes, listed_classes
from mmshufflemix.datasets.checked_multi_label import CheckedDataset
from mmshufflemix.text import some

__all__ = ['ClassSubset', 'choose_classes', 'count_kept', 'draw_subset']


@DATASETS.register_module()
class ClassSubset(CheckedDataset):
    """Part of the images of each class of another dataset, and optionally some of its classes.

    For data sparsity studies (the paper, arXiv 2305.18684, keeps 50 to 10 % of each class). The
    choice depends on ``seed`` and on the label alone, not on the run's seed, the rank or the other
    classes, and a smaller part is contained in a larger one of the same seed. The images keep
    their order, pipeline and ``test_mode``. Data with several labels an image is refused, since its
    classes cannot be cut independently.

    Args:
        dataset: Config of the dataset, or the dataset itself, which stays as it is.
        fraction: Share of each class to keep, in (0, 1]; see :func:`count_kept` for rounding.
        per_class: Number of images of each class to keep, in place of ``fraction``.
        classes: Names of the classes to keep, or how many of the first. They are renumbered 0..K-1
            in the order given; set ``num_classes`` of the head and the data preprocessor to K.
        seed: Seed of the choice, at least 0.
        lazy_init: Read nothing until :meth:`full_init` is called.

    Raises:
        TypeError: If ``dataset`` is neither a config nor a dataset.
        ValueError: If an argument is out of range, a class name is unknown, a class has fewer
            images than ``per_class``, or the data has several labels an image.

    Example:
        >>> train = dict(type='ClassSubset', dataset=dict(type='CIFAR100', ...), fraction=0.1)
    """

    def __init__(
        self,
        dataset: dict | mmengine.dataset.BaseDataset,
        fraction: float = 1.0,
        per_class: int | None = None,
        classes: int | Sequence[str] | None = None,
        seed: int = 0,
        lazy_init: bool = False,
    ) -> None:
        _check_amount(fraction, per_class)
        _check_seed(seed)
        inner = _build(dataset, lazy_init)
        self.fraction = fraction
        self.per_class = per_class
        self.seed = seed
        self._inner: mmengine.dataset.BaseDataset | None = inner
        self._classes = classes
        super().__init__(
            ann_file=inner.ann_file,
            # Paths are already joined in what the inner dataset lists.
            data_prefix=dict(inner.data_prefix),
            metainfo=inner.metainfo,
            serialize_data=inner.serialize_data,
            pipeline=inner.pipeline.transforms,
            test_mode=inner.test_mode,
            max_refetch=inner.max_refetch,
            lazy_init=lazy_init,
        )

    @classmethod
    def _load_metainfo(cls, metainfo: Any = None) -> dict:
        # Not checked again: some sets, like ImageNet, have two classes of one name.
        return super(CheckedDataset, cls)._load_metainfo(metainfo)

    def load_data_list(self) -> list[dict]:
        """Read the inner dataset, which is let go of, and keep the chosen part of its list."""
        inner, self._inner = self._inner, None
        if inner is None:
            raise RuntimeError('ClassSubset has been read already')
        inner.full_init()
        infos = [inner.get_data_info(index) for index in range(len(inner))]
        labels = np.array([_label(info) for info in infos], dtype=np.int64)
        if self._classes is None:
            chosen = np.unique(labels).tolist()
            new_ids = {label: label for label in chosen}
        else:
            chosen = choose_classes(self._classes, dataset_classes(inner))
            new_ids = {label: index for index, label in enumerate(chosen)}
        self._metainfo.update(
            _cut_metainfo(inner.metainfo, None if self._classes is None else chosen)
        )
        counts = {
            label: count_kept(int((labels == label).sum()), self.fraction, self.per_class)
            for label in chosen
        }
        kept = draw_subset(labels, counts, self.seed)
        return [{**infos[index], 'gt_label': new_ids[int(labels[index])]} for index in kept]

    def extra_repr(self) -> list[str]:
        """Return the settings for the text that describes the dataset."""
        amount = f'{self.per_class} images' if self.per_class is not None else self.fraction
        return [f'Kept of each class: \t{amount}', f'Seed: \t{self.seed}']


def count_kept(available: int, fraction: float = 1.0, per_class: int | None = None) -> int:
    """Return how many of the ``available`` images of a class are kept.

    That is ``per_class``, or else ``fraction * available`` rounded to the nearest integer, halves
    up, but at least one image of a class that has any.

    Raises:
        ValueError: If there are fewer than ``per_class``.
    """
    if per_class is None:
        # Through its decimal text, so that 0.35 of 10 is 3.5 and rounds up.
        exact = Fraction(str(fraction)) * available
        return min(available, max(1, int(exact + Fraction(1, 2))))
    if available < per_class:
        raise ValueError(
            f'per_class={per_class} images are asked for but a class has only {available}; '
            'lower per_class or choose other classes'
        )
    return per_class


def draw_subset(labels: np.ndarray, counts: dict[int, int], seed: int) -> list[int]:
    """Draw ``counts[label]`` indices of each label, without replacement.

    Args:
        labels: Class ids (N,).
        counts: How many to draw for each class id; the others are left out.
        seed: Each label has a generator of its own, from this seed and the label.

    Returns:
        Ascending indices into ``labels``. For a larger count of a label they contain those of a
        smaller one.
    """
    kept: list[int] = []
    for label, count in counts.items():
        members = np.flatnonzero(labels == label)
        order = np.random.default_rng([seed, label]).permutation(len(members))
        kept.extend(members[order[:count]].tolist())
    return sorted(kept)


def choose_classes(classes: int | Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the ids of the chosen classes: the first so many, or those with these names.

    Raises:
        ValueError: If there are not as many, or a name is unknown or repeated.
    """
    if not names:
        raise ValueError('ClassSubset cannot choose classes of a dataset whose metainfo has none')
    if isinstance(classes, int) or not isinstance(classes, Iterable):
        if type(classes) is not int or not 1 <= classes <= len(names):
            raise ValueError(f'classes must be 1 to {len(names)} or names, got {classes!r}')
        return list(range(classes))
    wanted = [classes] if isinstance(classes, str) else list(classes)
    unknown = [name for name in wanted if name not in names]
    if unknown or not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(
            f'classes must be distinct names of the dataset ({some(names)}), got {some(wanted)}'
            + (f' of which unknown: {some(unknown)}' if unknown else '')
        )
    return [list(names).index(name) for name in wanted]


def _cut_metainfo(metainfo: dict, chosen: list[int] | None) -> dict:
    """Cut all entries that have one item a class to the ``chosen`` classes; None means all."""
    names = listed_classes(metainfo)
    if chosen is None or not names:
        return metainfo
    return {
        key: tuple(value[label] for label in chosen)
        if isinstance(value, list | tuple) and len(value) == len(names)
        else value
        for key, value in metainfo.items()
    }


def _check_amount(fraction: float, per_class: int | None) -> None:
    if not isinstance(fraction, Real) or isinstance(fraction, bool) or not 0 < fraction <= 1:
        raise ValueError(f'fraction must be a number in (0, 1], got {fraction!r}')
    if per_class is not None and fraction != 1:
        raise ValueError(
            f'fraction={fraction} and per_class={per_class} exclude each other, set one of them'
        )
    if per_class is not None and (type(per_class) is not int or per_class < 1):
        raise ValueError(f'per_class must be an integer of at least 1, got {per_class!r}')


def _check_seed(seed: int) -> None:
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f'seed must be an integer of at least 0, got {seed!r}')


def _build(dataset: Any, lazy_init: bool) -> mmengine.dataset.BaseDataset:
    if isinstance(dataset, dict):
        dataset = DATASETS.build({**dataset, 'lazy_init': lazy_init} if lazy_init else dataset)
    if isinstance(dataset, MultiLabelDataset):
        raise ValueError(
            f'ClassSubset needs one label an image, but {type(dataset).__name__} has several; '
            'leave ClassSubset out or use indices=N of the dataset itself'
        )
    if not isinstance(dataset, mmengine.dataset.BaseDataset):
        raise TypeError(
            'dataset must be the config of a dataset (not of a wrapper such as RepeatDataset, '
            f'which can be put around ClassSubset), got {type(dataset).__name__}'
        )
    return dataset


def _label(info: dict) -> int:
    label = info.get('gt_label')
    if not isinstance(label, int | np.integer):
        raise ValueError(
            f'ClassSubset needs one integer gt_label an image, got {label!r} in sample '
            f'{info.get("sample_idx")}'
        )
    return int(label)

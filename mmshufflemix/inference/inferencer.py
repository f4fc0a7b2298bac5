"""Several labels for each picture, in the style of MMPretrain's inferencers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mmengine.config import Config
from mmengine.dataset import Compose, default_collate
from mmengine.model import BaseModel
from mmpretrain.apis.base import BaseInferencer
from mmpretrain.models.heads import MultiLabelClsHead
from mmpretrain.registry import TRANSFORMS
from mmpretrain.structures import DataSample

from mmshufflemix.class_names import names_or_numbers
from mmshufflemix.inference.build import build_model, is_loader, test_dataset
from mmshufflemix.inference.class_thresholds import Threshold, threshold_vector
from mmshufflemix.inference.draw import draw_result, drawing_files
from mmshufflemix.inference.sources import find_pictures, picture_fault
from mmshufflemix.text import some

__all__ = ['MultiLabelInferencer', 'in_batches']

Picture = str | np.ndarray


class MultiLabelInferencer(BaseInferencer):
    """Predicts the labels of pictures.

    Pictures go through the test pipeline and the preprocessor of the config, exactly as in testing.
    Class names come from the checkpoint, else from the config, else they are numbers.

    Args:
        model: Config file, config, or a model that another inferencer of this kind has built.
        pretrained: Checkpoint: a file, or an address of one; not needed with a built model.
        device: Default: a GPU if there is one.
        threshold: Lowest score of a predicted label: a number, numbers by class name, or a JSON
            file of them (see
            :func:`~mmshufflemix.inference.class_thresholds.threshold_vector`).
        classes: Class names in place of the checkpoint's.
        options: Dotted names of settings and their values, to change in the config file.

    Raises:
        FileNotFoundError: If a file is missing.
        ValueError: If the model gives one label an image, or a part does not fit another.

    Example:
        >>> from mmshufflemix.inference import MultiLabelInferencer
        >>> infer = MultiLabelInferencer('config.py', 'epoch_20.pth')  # doctest: +SKIP
        >>> infer('street.jpg')[0]['names']  # doctest: +SKIP
        ['car', 'person']
    """

    visualize_kwargs = {'show_dir', 'threshold'}  # noqa: RUF012
    postprocess_kwargs = {'threshold'}  # noqa: RUF012

    def __init__(
        self,
        model: str | Config | BaseModel,
        pretrained: str | None = None,
        device: str | torch.device | None = None,
        threshold: Threshold = 0.5,
        classes: Sequence[str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        if isinstance(model, BaseModel):
            if pretrained is not None:
                raise ValueError('a built model brings its weights; leave pretrained out')
        else:
            if pretrained is None:
                raise ValueError('a config needs a checkpoint to predict with; give pretrained=...')
            model = build_model(model, pretrained, device, options)
        self._check_model(model)
        super().__init__(model, pretrained=False, device=device)
        head = getattr(model, 'head', None)
        self.classes = self._class_names(classes, getattr(head, 'num_classes', None))
        self.threshold = threshold_vector(threshold, self.classes)

    def __call__(
        self,
        inputs: Picture | Sequence[Picture],
        return_datasamples: bool = False,
        batch_size: int = 1,
        **kwargs: Any,
    ) -> list[dict[str, Any]]:
        """Predict the labels of pictures.

        Args:
            inputs: One or several of: a path, a folder (with all below it), a pattern, or an array
                (H, W, 3) of uint8 in the channel order BGR, as OpenCV reads pictures.
            return_datasamples: Return MMPretrain's data samples instead, with ``pred_score`` (K,)
                and the ``pred_label`` that the head's own threshold gives.
            batch_size: Pictures at once; only pictures of equal size after the pipeline share a
                batch, so that no result depends on the others.
            **kwargs: ``threshold`` replaces the inferencer's for this call; ``show_dir`` is a
                folder for the pictures with their labels.

        Returns:
            For each picture the ``labels`` (class ids), ``names`` and ``scores`` of the classes
            that reach their threshold, by falling score and perhaps none, and ``all_scores``, an
            array (K,).

        Raises:
            ValueError: If there is no picture, one cannot be read, or an argument is unknown.
        """
        if batch_size < 1:
            raise ValueError(f'batch_size must be at least 1, got {batch_size}')
        return super().__call__(inputs, return_datasamples, batch_size, **kwargs)

    def _check_model(self, model: BaseModel) -> None:
        """Refuse a model of another kind, before anything is made of it."""
        head = getattr(model, 'head', None)
        if not isinstance(head, MultiLabelClsHead):
            raise ValueError(
                f'the head {type(head).__name__} does not give several labels an image; for one '
                "label use MMPretrain's ImageClassificationInferencer."
            )

    def load(self, picture: Picture) -> dict[str, Any]:
        """Load one picture as the test pipeline's own first step does.

        Args:
            picture: Path, or array (H, W, 3) of uint8 in the channel order BGR.

        Returns:
            What the rest of the pipeline, ``self.pipeline``, takes.

        Raises:
            ValueError: If the file cannot be read, or is a picture that was cut off.
            TypeError: If it is neither a path nor such an array.
        """
        if isinstance(picture, str):
            return self._load_file(picture)
        right = isinstance(picture, np.ndarray) and picture.dtype == np.uint8 and picture.size
        if not right or picture.ndim != 3 or picture.shape[2] != 3:
            got = getattr(picture, 'shape', type(picture).__name__)
            raise TypeError(
                'a picture must be a path or an array (H, W, 3) of uint8 in the channel order BGR, '
                f'got {got} {getattr(picture, "dtype", "")}'.rstrip()
            )
        image = picture.astype(np.float32) if self._loader.to_float32 else picture
        shape = picture.shape[:2]
        return {'img': image, 'img_shape': shape, 'ori_shape': shape}

    def preprocess(self, inputs: Iterable[Picture], batch_size: int = 1) -> Iterator[dict]:
        """Prepare pictures and put neighbours of equal size into batches."""
        prepared = (self.pipeline(self.load(picture)) for picture in inputs)
        for items in in_batches(prepared, batch_size):
            yield default_collate(items)

    def visualize(
        self,
        inputs: Sequence[Picture],
        preds: Sequence[DataSample],
        show_dir: str | None = None,
        threshold: Threshold | None = None,
    ) -> list[Path] | None:
        """Draw each picture with its labels into a folder; return the files."""
        if show_dir is None:
            return None
        names = [picture if isinstance(picture, str) else 'array' for picture in inputs]
        files = drawing_files(show_dir, names)
        results = self.postprocess(preds, threshold=threshold)
        for file, picture, result in zip(files, inputs, results, strict=True):
            draw_result(file, picture, result)
        return files

    def postprocess(
        self,
        preds: Sequence[DataSample],
        visualization: Any = None,
        return_datasamples: bool = False,
        threshold: Threshold | None = None,
    ) -> list:
        """Turn data samples into labels, names and scores."""
        if return_datasamples:
            return list(preds)
        limits = self.threshold if threshold is None else threshold_vector(threshold, self.classes)
        return [self._result(sample, limits) for sample in preds]

    def _result(self, sample: DataSample, limits: np.ndarray) -> dict[str, Any]:
        scores = sample.pred_score.detach().float().cpu().numpy()
        if np.isnan(scores).any():
            raise ValueError(
                f'{np.isnan(scores).sum()} of {scores.size} scores are NaN; the checkpoint comes '
                'from a training that diverged, use another one'
            )
        # In the precision of the scores, as a single threshold is compared elsewhere.
        found = np.flatnonzero(scores >= limits.astype(scores.dtype))
        labels = found[np.argsort(-scores[found], kind='stable')].tolist()
        return {
            'labels': labels,
            'names': [self.classes[label] for label in labels],
            'scores': scores[labels].tolist(),
            'all_scores': scores,
        }

    def _inputs_to_list(self, inputs: Any) -> list[Picture]:
        several = inputs if isinstance(inputs, list | tuple) else [inputs]
        pictures: list[Picture] = []
        for item in several:
            is_path = isinstance(item, str | os.PathLike)
            pictures += find_pictures([os.fspath(item)]) if is_path else [item]
        if not pictures:
            raise ValueError(f'no pictures found in {several}; give paths, folders or arrays')
        return pictures

    def _init_pipeline(self, cfg: Config) -> Callable[[dict], dict]:
        """Split the loading transform off, since arrays need none."""
        steps = list(test_dataset(cfg).pipeline)
        loaders = [step for step in steps if is_loader(step)]
        self._loader = TRANSFORMS.build(loaders[0] if loaders else {'type': 'LoadImageFromFile'})
        return Compose([TRANSFORMS.build(step) for step in steps if not is_loader(step)])

    def _load_file(self, path: str) -> dict[str, Any]:
        reason = picture_fault(path)
        if reason is None:
            try:
                loaded = self._loader({'img_path': path})
            except OSError as error:
                raise ValueError(f'{path}: cannot be read ({error})') from error
            except Exception as error:  # a damaged file can fail in any way
                raise ValueError(f'{path}: cannot be decoded as a picture') from error
            if loaded is not None:
                return loaded
        raise ValueError(f'{path}: {reason or "cannot be decoded as a picture"}')

    def _class_names(self, given: Sequence[str] | None, count: int | None) -> list[str]:
        meta = getattr(self.model, '_dataset_meta', None)
        names = given or names_or_numbers(meta, count or 0)
        if count is not None and len(names) != count:
            raise ValueError(
                f'the model has {count} classes but {len(names)} names are known '
                f'({some(names, limit=3)}); use the config of the checkpoint, or give classes=[...]'
            )
        return [str(name) for name in names]


def in_batches(items: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    """Group neighbouring items whose ``inputs`` have one shape, at most ``size`` together."""
    for _, group in groupby(items, key=lambda item: item['inputs'].shape):
        while batch := list(islice(group, size)):
            yield batch

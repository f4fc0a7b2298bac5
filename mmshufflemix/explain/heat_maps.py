"""Heat maps of the classes of one picture."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from mmengine.dataset import default_collate
from mmengine.model import BaseModel
from torch import Tensor

from mmshufflemix.explain.inferencer import AnyHeadInferencer
from mmshufflemix.explain.layer import find_site
from mmshufflemix.explain.methods import cam_class
from mmshufflemix.explain.network import OpenNetwork, still
from mmshufflemix.explain.placement import Placement, find_placement, place_map
from mmshufflemix.inference.build import test_dataset
from mmshufflemix.inference.inferencer import MultiLabelInferencer, Picture
from mmshufflemix.layers import LayerSite
from mmshufflemix.text import some

__all__ = ['HeatMaps', 'class_indices', 'class_maps', 'explain_loaded', 'heat_maps']


@dataclass(frozen=True)
class HeatMaps:
    """Heat maps over a picture.

    Attributes:
        picture: What they lie over: RGB (H, W, 3) of uint8.
        names: The n explained classes.
        scores: Their scores, from 0 to 1.
        reached: Whether each reaches its threshold.
        maps: Array (n, H, W) of float32 from 0 to 1; each map has its own scale, and is 0 where the
            network does not see the picture.
        seen: Left, top, right and bottom of the part that it sees, in pixels.
        unknown: Transforms of the test pipeline for which ``picture`` is the network's input in
            place of the whole picture, since the place of one in the other is unknown; mostly none.
        layer: Where the features were taken.
        grid: Rows and columns of their positions, which the maps cannot be finer than.
    """

    picture: np.ndarray
    names: list[str]
    scores: list[float]
    reached: list[bool]
    maps: np.ndarray
    seen: tuple[float, float, float, float]
    unknown: tuple[str, ...]
    layer: LayerSite
    grid: tuple[int, int]


def heat_maps(
    source: BaseModel | MultiLabelInferencer,
    picture: Picture,
    classes: Sequence[str] | None = None,
    method: str = 'gradcam',
    layer: str | int | LayerSite | None = None,
    side: int | None = None,
) -> HeatMaps:
    """Show where in a picture a model finds classes, by the package grad-cam.

    A class is explained by its score before the sigmoid or softmax. ``hirescam`` of the last map
    before global average pooling and a linear head is what the class score is the sum of.

    Args:
        source: An inferencer, or a model of
            :func:`~mmshufflemix.inference.build.build_model`. The model's parameters, gradients and
            flags are as before afterwards.
        picture: Path, or array (H, W, 3) of uint8 in the channel order BGR.
        classes: Names of classes; default is each one that reaches its threshold, and the highest
            one if none does.
        method: One of :data:`~mmshufflemix.explain.methods.METHODS`; ``eigencam`` does not depend
            on the class.
        layer: Default is the last feature map, see :func:`~mmshufflemix.explain.layer.find_site`.
        side: Longest side of picture and maps, which are shrunk to it.

    Raises:
        ImportError: If the package grad-cam is missing.
        ValueError: If the picture cannot be read, or an argument is unknown or does not fit.
    """
    cam_class(method)
    model = source if isinstance(source, BaseModel) else source.model
    with still(model):
        if not isinstance(source, AnyHeadInferencer):
            source = AnyHeadInferencer(source)
        labels = class_indices(source, classes)
        return explain_loaded(source, source.load(picture), labels, method, layer, side)


def class_indices(inferencer: MultiLabelInferencer, names: Sequence[str] | None) -> list[int]:
    """Class ids of names, each once.

    Raises:
        ValueError: If there is no class of a name.
    """
    known = {name: index for index, name in enumerate(inferencer.classes)}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise ValueError(
            f'the model has no class {some(map(repr, unknown))}; its classes are '
            f'{some(inferencer.classes, limit=100)}'
        )
    return [known[name] for name in dict.fromkeys(names or ())]


def explain_loaded(
    inferencer: AnyHeadInferencer,
    loaded: dict[str, Any],
    labels: list[int],
    method: str,
    layer: str | int | LayerSite | None,
    side: int | None,
) -> HeatMaps:
    """Explain a picture that the inferencer has loaded, of a model that is held still.

    Arguments are those of :func:`heat_maps`, with class ids for names.
    """
    original = inferencer.to_rgb(loaded['img'])
    packed = inferencer.pipeline(loaded)
    batch = default_collate([{key: packed[key] for key in ('inputs', 'data_samples')}])
    result = inferencer.postprocess(inferencer.forward(batch))[0]
    scores = result['all_scores']
    labels = labels or result['labels'] or [int(scores.argmax())]
    shown = tuple(packed['inputs'].shape[-2:])
    inputs = inferencer.model.data_preprocessor(batch, False)['inputs']
    site = layer
    if not isinstance(site, LayerSite):
        site = find_site(inferencer.model, inputs, site)
    maps, grid = class_maps(inferencer.model, inputs, site, labels, method)
    # The preprocessor pads at the bottom and on the right.
    maps = maps[:, : shown[0], : shown[1]]
    placement = find_placement(test_dataset(inferencer.config).pipeline, original.shape[:2], shown)
    if placement.unknown:
        original = inferencer.to_rgb(packed['inputs'].permute(1, 2, 0).numpy())
    original = _shrink(original, side)
    size = original.shape[:2]
    return HeatMaps(
        picture=original,
        names=[inferencer.classes[label] for label in labels],
        scores=scores[labels].tolist(),
        reached=[label in result['labels'] for label in labels],
        maps=np.stack([place_map(heat, placement.box, size) for heat in maps]),
        seen=_pixels(placement, size),
        unknown=placement.unknown,
        layer=site,
        grid=grid,
    )


def class_maps(
    model: BaseModel, inputs: Tensor, site: LayerSite, labels: Sequence[int], method: str
) -> tuple[np.ndarray, tuple[int, int]]:
    """Maps over the network's input, each from 0 to 1.

    Args:
        model: A classifier, held by :func:`~mmshufflemix.explain.network.still`.
        inputs: A preprocessed image (1, C, h, w).
        site: Where the features are taken.
        labels: The n classes.
        method: One of :data:`~mmshufflemix.explain.methods.METHODS`.

    Returns:
        Maps (n, h, w), and rows and columns of the positions of the features.
    """
    target = importlib.import_module('pytorch_grad_cam.utils.model_targets').ClassifierOutputTarget
    network = OpenNetwork(model, site)
    cam = cam_class(method)(network, [network.tap], network.maps)
    inputs = inputs.detach().requires_grad_()
    maps = [cam(inputs, [target(label)])[0] for label in labels]
    rows, columns = cam.activations_and_grads.activations[0].shape[-2:]
    return np.clip(np.nan_to_num(np.stack(maps)), 0, 1), (rows, columns)


def _shrink(picture: np.ndarray, side: int | None) -> np.ndarray:
    factor = (side or max(picture.shape[:2])) / max(picture.shape[:2])
    if factor >= 1:
        return picture
    height, width = (max(1, round(factor * length)) for length in picture.shape[:2])
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


def _pixels(placement: Placement, size: tuple[int, int]) -> tuple[float, float, float, float]:
    top, left, bottom, right = placement.box
    return left * size[1], top * size[0], right * size[1], bottom * size[0]

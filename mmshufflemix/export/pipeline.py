"""What a test pipeline does to a picture before the network sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mmengine.config import Config
from mmengine.dataset import Compose
from mmpretrain.registry import TRANSFORMS

from mmshufflemix.inference.build import is_loader, test_dataset

__all__ = ['ResizeRule', 'loads_bgr', 'pipeline_size', 'resize_rule']

# Height and width of pictures that no sensible pipeline keeps alike by chance.
_PROBES = ((375, 500), (500, 333))
_WITHOUT_GEOMETRY = ('LoadImageFromFile', 'PackInputs')


@dataclass(frozen=True)
class ResizeRule:
    """How a picture is brought to the size of the network.

    Attributes:
        edge: Length of the shorter edge before a central crop; None stretches the whole picture.
        interpolation: Pillow's name of the filter, in lower case.
        antialias: Whether the filter widens when a picture shrinks, as Pillow's does and OpenCV's
            does not.
        unknown: Transforms of the pipeline that the rule leaves out.
    """

    edge: int | None = None
    interpolation: str = 'bilinear'
    antialias: bool = False
    unknown: tuple[str, ...] = ()

    def describe(self, size: tuple[int, int]) -> str:
        """Put the rule in words, for pictures of a height and a width."""
        how = f'{self.interpolation}, {"with" if self.antialias else "without"} antialiasing'
        if self.edge is None:
            return f'stretch to height {size[0]} and width {size[1]} ({how})'
        return (
            f'shorter edge to {self.edge} ({how}), then the central crop of height {size[0]} and '
            f'width {size[1]}'
        )


def loads_bgr(cfg: Config) -> bool:
    """Tell whether the test pipeline reads files, in BGR; other data sets bring RGB pictures."""
    return any(is_loader(step) for step in test_dataset(cfg).pipeline)


def pipeline_size(cfg: Config) -> tuple[int, int]:
    """Height and width after the test pipeline, found by sending two blank pictures through it.

    Raises:
        ValueError: If the pipeline gives pictures of different size, or cannot be probed.
    """
    steps = [step for step in test_dataset(cfg).pipeline if not is_loader(step)]
    run = Compose([TRANSFORMS.build(step) for step in steps])
    sizes = set()
    for height, width in _PROBES:
        shape = (height, width)
        sample = dict(img=np.zeros((*shape, 3), np.uint8), img_shape=shape, ori_shape=shape)
        try:
            sizes.add(tuple(run(sample)['inputs'].shape[-2:]))
        except Exception as error:  # a transform can ask for anything
            raise ValueError(
                f'the test pipeline fails on a blank picture ({type(error).__name__}: {error}); '
                'give the size of the pictures, for example --size 224.'
            ) from error
    if len(sizes) > 1:
        raise ValueError(
            'the test pipeline does not bring pictures to one size, so give that of the data, for '
            'example --size 32.'
        )
    return sizes.pop()


def resize_rule(pipeline: Sequence[dict[str, Any]]) -> ResizeRule:
    """Read the rule out of ``Resize``, or of ``ResizeEdge`` and ``CenterCrop``."""
    edge, interpolation, antialias, unknown = None, 'bilinear', False, []
    for step in pipeline:
        name = _name(step)
        stretch = name == 'Resize' and not step.get('keep_ratio')
        short = name == 'ResizeEdge' and step.get('edge', 'short') == 'short'
        if stretch or short:
            edge = step['scale'] if short else None
            interpolation = step.get('interpolation', 'bilinear')
            antialias = step.get('backend', 'cv2') == 'pillow'
        elif name not in _WITHOUT_GEOMETRY and not (name == 'CenterCrop' and edge):
            unknown.append(name)
    if interpolation not in ('nearest', 'bilinear', 'bicubic', 'lanczos'):
        unknown.append(f'interpolation {interpolation}')
        interpolation = 'bilinear'
    return ResizeRule(edge, interpolation, antialias, tuple(unknown))


def _name(step: dict[str, Any]) -> str:
    kind = step['type']
    return kind.split('.')[-1] if isinstance(kind, str) else kind.__name__

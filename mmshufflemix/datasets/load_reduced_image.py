"""Image loading for photographs that are much larger than what the network sees."""

from __future__ import annotations

from mmcv.transforms import LoadImageFromFile
from mmengine import fileio
from mmpretrain.registry import TRANSFORMS

from mmshufflemix.datasets.reduced_jpeg import decode_reduced

__all__ = ['LoadReducedImage']


@TRANSFORMS.register_module()
class LoadReducedImage(LoadImageFromFile):
    """Load an image as ``LoadImageFromFile`` does, large JPEG pictures reduced.

    JPEG in colour is decoded to 1/2, 1/4 or 1/8 of its size where the short side keeps
    ``min_side`` pixels, which leaves out most of the inverse cosine transform. Everything else,
    smaller pictures among it, is loaded by ``LoadImageFromFile``. Sets what that sets, with
    ``img_shape`` being the reduced and ``ori_shape`` the whole picture's.

    Reduced pixels are averages, so an image resized from them is less aliased than one resized
    bilinearly from the whole picture, and not the same. Choose ``min_side`` so that nothing gets
    enlarged that was not before: ``size / min(scales)`` for ``MultiScaleCrop`` (896 for 448 px,
    see :func:`~mmshufflemix.datasets.reduced_jpeg.min_side_of_crop`), the scale for ``Resize``
    and for ``ResizeEdge`` with ``edge='short'``. It pays from twice that on; for pictures that
    are all smaller it only costs a look at the header.

    It is meant for training; MMPretrain's own inferencers know ``LoadImageFromFile`` alone.

    Args:
        min_side: Least short side of a reduced picture in pixels.
        to_float32: Whether to convert the pixels.
        ignore_empty: Whether to return None for a file that cannot be loaded.
        backend_args: Arguments of MMEngine's file backend.

    Raises:
        ValueError: If ``min_side`` is less than 1.
    """

    def __init__(
        self,
        min_side: int,
        *,
        to_float32: bool = False,
        ignore_empty: bool = False,
        backend_args: dict | None = None,
    ) -> None:
        super().__init__(
            to_float32=to_float32, ignore_empty=ignore_empty, backend_args=backend_args
        )
        if min_side < 1:
            raise ValueError(f'min_side must be at least 1 pixel, got {min_side}')
        self.min_side = min_side

    def transform(self, results: dict) -> dict | None:
        """Load ``results['img_path']``."""
        try:
            content = fileio.get(results['img_path'], backend_args=self.backend_args)
        except Exception:
            if self.ignore_empty:
                return None
            raise
        reduced = decode_reduced(content, self.min_side)
        if reduced is None:
            return super().transform(results)
        image, shape = reduced
        results['img'] = image.astype('float32') if self.to_float32 else image
        results['img_shape'] = image.shape[:2]
        results['ori_shape'] = shape
        return results

    def __repr__(self) -> str:
        """Describe the transform with its arguments."""
        return (
            f'{type(self).__name__}(min_side={self.min_side}, to_float32={self.to_float32}, '
            f'ignore_empty={self.ignore_empty}, backend_args={self.backend_args})'
        )

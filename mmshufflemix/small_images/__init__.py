"""The fast path for small images: all of them in memory, transformed in batches on the device."""

from mmshufflemix.small_images.dataset import InMemoryImages
from mmshufflemix.small_images.preprocessor import SmallImagePreprocessor
from mmshufflemix.small_images.runner import SmallImageRunner

__all__ = ['InMemoryImages', 'SmallImagePreprocessor', 'SmallImageRunner']

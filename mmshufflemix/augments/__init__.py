"""Batch augments, registered in MMPretrain's BATCH_AUGMENTS."""

from mmshufflemix.augments.mixup import InputMixup, ManifoldMixup, NoisyFeatureMixup
from mmshufflemix.augments.shufflemix import ShuffleMix, ShuffleMixNFM

__all__ = ['InputMixup', 'ManifoldMixup', 'NoisyFeatureMixup', 'ShuffleMix', 'ShuffleMixNFM']

"""ShuffleMix and its family for OpenMMLab's MMPretrain.

Importing the package registers everything in MMPretrain's registries and binds models, so that a
batch augment of this package can mix their hidden layers.
"""

from mmshufflemix._early_stop import begin_imports
from mmshufflemix._stack import require_stack

begin_imports()
require_stack()

from mmshufflemix import datasets, evaluation, functional, hooks, mixer, models
from mmshufflemix.augments import (
    InputMixup,
    ManifoldMixup,
    NoisyFeatureMixup,
    ShuffleMix,
    ShuffleMixNFM,
)
from mmshufflemix.checkpoint import allow_mmengine_globals
from mmshufflemix.mixer import attach, detach
from mmshufflemix.small_images import InMemoryImages, SmallImagePreprocessor, SmallImageRunner

__version__ = '0.1.0'

__all__ = [
    'InMemoryImages',
    'InputMixup',
    'ManifoldMixup',
    'NoisyFeatureMixup',
    'ShuffleMix',
    'ShuffleMixNFM',
    'SmallImagePreprocessor',
    'SmallImageRunner',
    '__version__',
    'attach',
    'datasets',
    'detach',
    'evaluation',
    'functional',
    'hooks',
    'models',
]

allow_mmengine_globals()
mixer.install()

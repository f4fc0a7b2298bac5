"""Where in a picture a model finds its classes."""

from mmshufflemix.explain.heat_maps import HeatMaps, heat_maps
from mmshufflemix.explain.inferencer import AnyHeadInferencer
from mmshufflemix.explain.methods import METHODS, require_package

__all__ = ['METHODS', 'AnyHeadInferencer', 'HeatMaps', 'heat_maps', 'require_package']

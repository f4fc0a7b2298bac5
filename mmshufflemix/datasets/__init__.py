"""Datasets, samplers and transforms, registered in MMPretrain's registries."""

from mmshufflemix.datasets.cifar_tiles import CIFARTiles
from mmshufflemix.datasets.class_balanced_sampler import ClassBalancedSampler
from mmshufflemix.datasets.class_subset import ClassSubset
from mmshufflemix.datasets.coco_multi_label import COCOMultiLabel
from mmshufflemix.datasets.load_reduced_image import LoadReducedImage
from mmshufflemix.datasets.multi_label_json import MultiLabelJSON
from mmshufflemix.datasets.multi_scale_crop import MultiScaleCrop
from mmshufflemix.datasets.tiny_imagenet import TinyImageNet
from mmshufflemix.datasets.voc_multi_label import VOCMultiLabel

__all__ = [
    'CIFARTiles',
    'COCOMultiLabel',
    'ClassBalancedSampler',
    'ClassSubset',
    'LoadReducedImage',
    'MultiLabelJSON',
    'MultiScaleCrop',
    'TinyImageNet',
    'VOCMultiLabel',
]

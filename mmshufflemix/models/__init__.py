"""Backbones, necks and heads, registered in MMPretrain's MODELS."""

from mmshufflemix.models.dropout_linear_head import DropoutLinearClsHead
from mmshufflemix.models.global_max_pooling import GlobalMaxPooling
from mmshufflemix.models.mlgcn_head import MLGCNHead
from mmshufflemix.models.multi_label_tta import MultiLabelTTA
from mmshufflemix.models.preact_resnet import PreActResNet

__all__ = [
    'DropoutLinearClsHead',
    'GlobalMaxPooling',
    'MLGCNHead',
    'MultiLabelTTA',
    'PreActResNet',
]

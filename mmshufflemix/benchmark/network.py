"""The classifier that is measured."""

from __future__ import annotations

from typing import Any

__all__ = ['DEPTHS', 'preact_classifier']

DEPTHS = (18, 34, 50, 101, 152)
"""Those that PreActResNet has."""


def preact_classifier(
    depth: int, num_classes: int, base_channels: int = 64, **settings: Any
) -> dict[str, Any]:
    """Config of PreActResNet with average pooling and a linear head.

    Args:
        depth: Depth of the backbone, one of ``DEPTHS``.
        num_classes: K.
        base_channels: Channels of the first stage, 64 in the paper.
        **settings: Of the classifier, such as ``train_cfg``.
    """
    expansion = 1 if depth < 50 else 4
    return {
        'type': 'ImageClassifier',
        'backbone': {'type': 'PreActResNet', 'depth': depth, 'base_channels': base_channels},
        'neck': {'type': 'GlobalAveragePooling'},
        'head': {
            'type': 'LinearClsHead',
            'num_classes': num_classes,
            'in_channels': 8 * base_channels * expansion,
        },
        **settings,
    }

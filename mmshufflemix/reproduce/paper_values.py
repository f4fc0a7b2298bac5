"""The numbers of the paper (arXiv 2305.18684), as percentages."""

from __future__ import annotations

__all__ = [
    'ALPHA',
    'FINE_GRAINED',
    'GENERAL',
    'NOISE_LEVELS',
    'RATIO',
    'ROBUSTNESS',
    'THRESHOLD',
    'TINY_IMAGENET',
    'VOC_CLASSES',
    'VOC_CLASS_AP',
    'VOC_MAP',
]

# Top-1 accuracy, mean and standard deviation of 3 trials, by data set and method; one pair for
# each of preact18, preact34 and wide18_2.
GENERAL = {
    'cifar10': {
        'baseline': ((94.69, 0.172), (94.74, 0.125), (94.95, 0.040)),
        'dropout': ((94.63, 0.102), (94.72, 0.131), (94.87, 0.167)),
        'input_mixup': ((95.67, 0.140), (95.78, 0.103), (96.07, 0.019)),
        'manifold_mixup': ((95.66, 0.066), (95.57, 0.155), (95.82, 0.025)),
        'shufflemix': ((95.78, 0.154), (95.78, 0.097), (96.36, 0.037)),
    },
    'cifar100': {
        'baseline': ((76.12, 0.180), (76.36, 0.189), (76.90, 0.099)),
        'dropout': ((76.17, 0.195), (76.17, 0.152), (77.09, 0.142)),
        'input_mixup': ((79.32, 0.302), (79.54, 0.323), (81.07, 0.039)),
        'manifold_mixup': ((79.33, 0.249), (79.87, 0.083), (80.46, 0.311)),
        'shufflemix': ((80.02, 0.163), (80.53, 0.118), (81.96, 0.159)),
    },
}

# Top-1 and top-5 accuracy for each of the same networks.
TINY_IMAGENET = {
    'baseline': ((62.64, 83.05), (62.06, 82.83), (64.76, 83.40)),
    'dropout': ((62.46, 82.64), (61.59, 81.50), (64.40, 84.74)),
    'input_mixup': ((64.47, 84.02), (64.39, 84.59), (65.24, 84.15)),
    'manifold_mixup': ((64.25, 84.38), (65.81, 85.62), (66.14, 84.86)),
    'shufflemix': ((65.42, 85.10), (66.61, 85.84), (67.80, 85.76)),
}

# Top-1 accuracy on cub, cars and aircraft.
FINE_GRAINED = {
    'resnet34': {
        'baseline': (84.83, 91.94, 89.98),
        'input_mixup': (84.74, 92.76, 90.49),
        'manifold_mixup': (85.24, 92.91, 90.70),
        'shufflemix': (85.90, 93.33, 91.96),
    },
    'resnet50': {
        'baseline': (85.46, 92.89, 90.97),
        'input_mixup': (85.98, 93.35, 90.94),
        'manifold_mixup': (86.29, 93.88, 92.08),
        'shufflemix': (87.00, 94.12, 92.41),
    },
}

# Top-1 accuracy on CIFAR-100 without noise, then at each of these levels.
NOISE_LEVELS = {'white': (0.1, 0.2, 0.3), 'salt_pepper': (0.02, 0.04, 0.1)}
ROBUSTNESS = {
    'preact18': {
        'baseline': (76.12, 56.90, 29.20, 14.07, 59.04, 41.56, 16.07),
        'input_mixup': (79.32, 65.66, 39.77, 19.37, 58.80, 40.00, 15.39),
        'manifold_mixup': (79.33, 63.98, 33.64, 15.42, 63.23, 45.71, 15.33),
        'shufflemix': (80.02, 67.03, 43.05, 21.68, 70.72, 60.88, 35.96),
        'nfm': (79.15, 75.07, 57.22, 33.84, 70.20, 59.87, 31.46),
        'shufflemix_nfm': (79.67, 76.45, 61.79, 40.45, 72.94, 66.12, 44.42),
    },
    'wide18_2': {
        'baseline': (76.90, 56.44, 27.07, 12.73, 58.50, 39.99, 14.89),
        'input_mixup': (81.07, 67.88, 42.53, 22.25, 62.32, 42.58, 15.65),
        'manifold_mixup': (80.46, 63.40, 30.35, 13.48, 63.09, 44.03, 15.46),
        'shufflemix': (81.96, 70.09, 43.74, 21.03, 70.81, 58.29, 31.83),
        'nfm': (81.20, 78.03, 61.73, 37.05, 73.02, 63.16, 33.60),
        'shufflemix_nfm': (81.58, 78.67, 64.42, 42.57, 75.83, 69.20, 48.77),
    },
}

# Top-1 accuracy of PreActResNet18 on CIFAR-100 along the ratio of mixed channels.
RATIO = {
    'shufflemix_hard': {
        0.125: 78.90,
        0.25: 79.05,
        0.375: 79.92,
        0.5: 78.87,
        0.625: 79.83,
        0.75: 79.45,
        0.875: 78.81,
    },
    'shufflemix': {
        0.125: 78.49,
        0.25: 78.82,
        0.375: 79.38,
        0.5: 80.02,
        0.625: 79.63,
        0.75: 79.56,
        0.875: 79.46,
    },
}

# The same along alpha of lambda ~ Beta(alpha, alpha).
ALPHA = {
    'input_mixup': {0.5: 79.32, 1.0: 79.32, 2.0: 77.95, 4.0: 76.50, 8.0: 75.33},
    'manifold_mixup': {0.5: 79.18, 1.0: 79.33, 2.0: 79.26, 4.0: 78.42, 8.0: 77.75},
    'shufflemix': {0.5: 79.75, 1.0: 80.02, 2.0: 79.60, 4.0: 79.34, 8.0: 79.22},
}

# Test mAP on VOC2007 along the label threshold.
THRESHOLD = {
    'resnet101': {0.1: 94.33, 0.2: 94.54, 0.3: 94.38, 0.4: 94.45, 0.5: 94.13},
    'mlgcn': {0.1: 94.08, 0.2: 94.30, 0.3: 94.62, 0.4: 94.63, 0.5: 94.32},
}

# Test mAP and average precision on VOC2007, the classes in their usual order.
VOC_MAP = {
    'resnet101_baseline': 93.2,
    'resnet101_shufflemix': 94.5,
    'mlgcn_baseline': 93.5,
    'mlgcn_shufflemix': 94.6,
}
VOC_CLASSES = tuple(
    'aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike '
    'person pottedplant sheep sofa train tvmonitor'.split()
)
# fmt: off
VOC_CLASS_AP = {
    'resnet101_baseline': (
        99.8, 98.3, 98.4, 98.3, 79.4, 93.4, 97.2, 97.6, 79.5, 93.7,
        86.5, 97.8, 97.9, 96.2, 98.7, 84.0, 95.8, 79.8, 98.7, 93.3,
    ),
    'resnet101_shufflemix': (
        99.5, 98.5, 98.3, 98.5, 81.5, 96.0, 97.7, 98.3, 83.3, 96.9,
        87.1, 98.3, 98.5, 96.0, 99.1, 86.3, 96.7, 86.7, 98.9, 94.8,
    ),
    'mlgcn_baseline': (
        99.8, 98.3, 98.7, 98.2, 80.3, 94.6, 97.3, 97.8, 81.1, 94.9,
        87.2, 97.9, 98.0, 95.8, 98.8, 82.7, 95.8, 82.1, 98.6, 93.1,
    ),
    'mlgcn_shufflemix': (
        99.4, 99.0, 98.7, 98.5, 81.6, 95.6, 97.8, 98.4, 83.6, 96.9,
        88.2, 98.5, 98.7, 96.8, 99.0, 84.9, 97.2, 85.2, 99.3, 95.3,
    ),
}
# fmt: on

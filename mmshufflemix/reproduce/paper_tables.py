"""The experiments of the paper (arXiv 2305.18684) as tables of rows."""

from __future__ import annotations

from mmshufflemix.reproduce import paper_values as paper
from mmshufflemix.reproduce.rows import Metric, PaperValue, Row, Table

__all__ = [
    'alpha_table',
    'fine_grained_table',
    'general_table',
    'ratio_table',
    'robustness_table',
    'sparsity_table',
    'threshold_table',
    'tiny_imagenet_table',
    'voc_table',
]

NETWORKS = ('preact18', 'preact34', 'wide18_2')
FINE_GRAINED_SETS = ('cub', 'cars', 'aircraft')
KEPT = (0.5, 0.4, 0.3, 0.2, 0.1)

TOP1 = Metric('accuracy/top1', 'top-1 accuracy')
TOP5 = Metric('accuracy/top5', 'top-5 accuracy')
MAP = Metric('multi-label/mAP', 'mAP')
NAMES = {
    'baseline': 'Baseline',
    'input_mixup': 'Input Mixup',
    'manifold_mixup': 'Manifold Mixup',
    'shufflemix': 'ShuffleMix',
    'shufflemix_hard': 'ShuffleMix (hard)',
    'nfm': 'NFM',
    'shufflemix_nfm': 'ShuffleMix-NFM',
    'preact18': 'PreActResNet18',
    'wide18_2': 'Wide-PreActResNet18-2',
    'resnet101': 'ResNet-101',
    'mlgcn': 'ML-GCN',
    'cub': 'CUB-200-2011',
    'cars': 'Stanford Cars',
    'aircraft': 'FGVC-Aircraft',
}


def general_table(name: str, title: str) -> Table:
    """CIFAR-10 or CIFAR-100: three networks, five methods."""
    rows = [
        Row(
            f'{network}_{method}',
            method,
            f'{name}/{network}_{method}.py',
            paper={TOP1.key: PaperValue(*values[index])},
        )
        for index, network in enumerate(NETWORKS)
        for method, values in paper.GENERAL[name].items()
    ]
    return Table(name, f'{title}, general image classification', (TOP1,), tuple(rows))


def tiny_imagenet_table() -> Table:
    """Tiny ImageNet: three networks, five methods, two measures."""
    rows = [
        Row(
            f'{network}_{method}',
            method,
            f'tiny_imagenet/{network}_{method}.py',
            paper={
                TOP1.key: PaperValue(values[index][0]),
                TOP5.key: PaperValue(values[index][1]),
            },
        )
        for index, network in enumerate(NETWORKS)
        for method, values in paper.TINY_IMAGENET.items()
    ]
    title = 'Tiny ImageNet, general image classification'
    return Table('tiny', title, (TOP1, TOP5), tuple(rows))


def fine_grained_table() -> Table:
    """CUB, Cars and Aircraft: two networks, four methods."""
    rows = [
        Row(
            f'{data}_{network}_{method}',
            method,
            f'{data}/{network}_{method}.py',
            paper={TOP1.key: PaperValue(values[index])},
        )
        for index, data in enumerate(FINE_GRAINED_SETS)
        for network, methods in paper.FINE_GRAINED.items()
        for method, values in methods.items()
    ]
    return Table('finegrained', 'Fine-grained classification', (TOP1,), tuple(rows))


def sparsity_table() -> Table:
    """ResNet-34 on a part of each training class; the paper shows curves and no numbers."""
    rows = [
        Row(
            f'{data}_{method}_{kept:.0%}'.removesuffix('%'),
            method,
            f'{data}/resnet34_{method}.py',
            kept=kept,
            panel=f'{NAMES[data]}, ResNet-34',
            curve=NAMES[method],
            x=100 * kept,
        )
        for data in FINE_GRAINED_SETS
        for method in paper.FINE_GRAINED['resnet34']
        for kept in KEPT
    ]
    title = 'Data sparsity, a part of the training images of every class'
    return Table('sparsity', title, (TOP1,), tuple(rows), 'sweep', 'Training images kept (%)')


def robustness_table() -> Table:
    """CIFAR-100 under noise: two networks, six methods, seven measures."""
    metrics = [Metric('clean', 'top-1 without noise')]
    for noise, levels in paper.NOISE_LEVELS.items():
        name = noise.replace('_', ' & ')
        metrics += [Metric(f'{noise}/{level:g}', f'top-1, {name} {level:g}') for level in levels]
    rows = [
        Row(
            f'{network}_{method}',
            method,
            f'cifar100/{network}_{method}.py',
            home='cifar100',
            panel=NAMES[network],
            curve=NAMES[method],
            paper={
                metric.key: PaperValue(value) for metric, value in zip(metrics, values, strict=True)
            },
        )
        for network, methods in paper.ROBUSTNESS.items()
        for method, values in methods.items()
    ]
    title = 'Noise robustness on CIFAR-100, mean of 5 noise seeds for each training'
    return Table('robustness', title, tuple(metrics), tuple(rows), 'noise', noise=True)


def ratio_table() -> Table:
    """Ratio of mixed channels; 0.5 is the experiment of the CIFAR-100 table."""
    rows = [
        Row(
            f'{method}_r{ratio:g}',
            method,
            f'cifar100/preact18_{method}.py',
            {} if ratio == 0.5 else {'model.train_cfg.augments.ratio': ratio},
            home='cifar100' if ratio == 0.5 else None,
            home_name=f'preact18_{method}' if ratio == 0.5 else None,
            curve='hard' if method.endswith('hard') else 'soft',
            x=ratio,
            paper={TOP1.key: PaperValue(value)},
        )
        for method, values in paper.RATIO.items()
        for ratio, value in values.items()
    ]
    title = 'Ratio of mixed channels, CIFAR-100, PreActResNet18'
    return Table('ratio', title, (TOP1,), tuple(rows), 'sweep', 'Ratio of mixed channels r')


def alpha_table() -> Table:
    """Alpha of the Beta distribution; 1 is the experiment of the CIFAR-100 table."""
    rows = [
        Row(
            f'{method}_alpha{alpha:g}',
            method,
            f'cifar100/preact18_{method}.py',
            {} if alpha == 1 else {'model.train_cfg.augments.alpha': alpha},
            home='cifar100' if alpha == 1 else None,
            home_name=f'preact18_{method}' if alpha == 1 else None,
            curve=NAMES[method],
            x=alpha,
            paper={TOP1.key: PaperValue(value)},
        )
        for method, values in paper.ALPHA.items()
        for alpha, value in values.items()
    ]
    title = 'Alpha of lambda ~ Beta(alpha, alpha), CIFAR-100, PreActResNet18'
    return Table('alpha', title, (TOP1,), tuple(rows), 'sweep', r'$\alpha$', log_x=True)


def threshold_table() -> Table:
    """Label threshold of ShuffleMix; the one chosen for each network is in the VOC table too."""
    chosen = {'resnet101': 0.2, 'mlgcn': 0.3}
    rows = []
    for network, values in paper.THRESHOLD.items():
        for threshold, value in values.items():
            shared = threshold == chosen[network]
            rows.append(
                Row(
                    f'{network}_m{threshold:g}',
                    'shufflemix',
                    f'voc07_threshold/{network}_m{round(10 * threshold):02d}.py',
                    home='voc07' if shared else None,
                    home_name=f'{network}_shufflemix' if shared else None,
                    curve=NAMES[network],
                    x=threshold,
                    paper={MAP.key: PaperValue(value)},
                )
            )
    title = 'Label threshold of ShuffleMix, VOC2007'
    return Table('threshold', title, (MAP,), tuple(rows), 'sweep', 'Label threshold m')


def voc_table() -> Table:
    """VOC2007: two models with and without ShuffleMix, mAP and AP of every class."""
    metrics = (MAP, *(Metric(f'multi-label/AP_{name}', f'AP {name}') for name in paper.VOC_CLASSES))
    rows = []
    for name, mean in paper.VOC_MAP.items():
        network, method = name.split('_')
        values = (mean, *paper.VOC_CLASS_AP[name])
        curve = NAMES[network] + (' + ShuffleMix' if method == 'shufflemix' else '')
        rows.append(
            Row(
                name,
                method,
                f'voc07/{name}.py',
                curve=curve,
                paper={
                    metric.key: PaperValue(value)
                    for metric, value in zip(metrics, values, strict=True)
                },
            )
        )
    return Table('voc07', 'VOC2007, multi-label', metrics, tuple(rows), 'epochs')

"""The tables by name: those of the paper, and reduced studies that have no numbers in it."""

from __future__ import annotations

from mmshufflemix.reproduce.paper_tables import (
    alpha_table,
    fine_grained_table,
    general_table,
    ratio_table,
    robustness_table,
    sparsity_table,
    threshold_table,
    tiny_imagenet_table,
    voc_table,
)
from mmshufflemix.reproduce.rows import Metric, Row, Table

__all__ = ['TABLES', 'find_table', 'register_table']

_VOC_SMALL = (
    'lite0_baseline',
    'lite0_input_mixup',
    'lite0_input_mixup_soft',
    'lite0_manifold_mixup',
    'lite0_manifold_mixup_soft',
    'lite0_shufflemix',
    'lite0_shufflemix_soft',
    'mlgcn_lite0_baseline',
    'mlgcn_lite0_shufflemix',
    'mlgcn_lite0_shufflemix_soft',
)
_CIFAR_SMALL = (
    'preact18_baseline',
    'preact18_input_mixup',
    'preact18_manifold_mixup',
    'preact18_shufflemix',
    'preact18_shufflemix_hard',
    'preact18_nfm',
    'preact18_shufflemix_nfm',
)

TABLES: dict[str, Table] = {}


def register_table(table: Table) -> None:
    """Make a table known by its name.

    Raises:
        ValueError: If the name is taken, or two rows have one name.
    """
    names = [row.name for row in table.rows]
    if table.name in TABLES or len(set(names)) < len(names):
        raise ValueError(
            f'the table {table.name!r} exists or two of its rows have one name; choose other names'
        )
    TABLES[table.name] = table


def find_table(name: str) -> Table:
    """Return the table of that name.

    Raises:
        ValueError: If there is none.
    """
    if name not in TABLES:
        raise ValueError(f'there is no table {name!r}; choose one of {", ".join(TABLES)}')
    return TABLES[name]


def _reduced_study(name: str, title: str, metric: Metric, rows: tuple[str, ...]) -> Table:
    networks = ('mlgcn_lite0_', 'lite0_', 'preact18_')
    made = []
    for row in rows:
        network = next(prefix for prefix in networks if row.startswith(prefix))
        made.append(Row(row, row.removeprefix(network), f'{name}/{row}.py'))
    return Table(name, title, (metric,), tuple(made))


for _table in (
    general_table('cifar10', 'CIFAR-10'),
    general_table('cifar100', 'CIFAR-100'),
    tiny_imagenet_table(),
    fine_grained_table(),
    sparsity_table(),
    robustness_table(),
    ratio_table(),
    alpha_table(),
    threshold_table(),
    voc_table(),
    _reduced_study(
        'voc07_small',
        'VOC2007 at 96 px, a reduced study without numbers in the paper',
        Metric('multi-label/mAP', 'mAP'),
        _VOC_SMALL,
    ),
    _reduced_study(
        'cifar100_small',
        '20 classes of CIFAR-100 with 100 training images each, a reduced study without numbers '
        'in the paper',
        Metric('accuracy/top1', 'top-1 accuracy'),
        _CIFAR_SMALL,
    ),
):
    register_table(_table)

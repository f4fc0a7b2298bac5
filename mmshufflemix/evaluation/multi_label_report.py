"""The multi-label metric: mAP, AP per class and ML-GCN's six measures in one report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from mmengine.evaluator import BaseMetric
from mmengine.logging import MMLogger
from mmpretrain.registry import METRICS

from mmshufflemix.class_names import check_class_names, names_or_numbers
from mmshufflemix.evaluation.average_precision import average_precision
from mmshufflemix.evaluation.multi_label_sample import (
    SampleCells,
    read_sample,
    stack_samples,
)
from mmshufflemix.evaluation.multi_label_table import class_rows, format_rows, write_report
from mmshufflemix.evaluation.precision_recall import precision_recall_f1, top_k_cells

__all__ = ['MultiLabelReport']


@METRICS.register_module()
class MultiLabelReport(BaseMetric):
    """mAP, AP of every class, and CP, CR, CF1, OP, OR, OF1 by ML-GCN's protocol.

    All values are percentages and scalars, under these keys after ``multi-label/``:

    - ``mAP``, and ``AP_<class name>`` for every class: see
      :func:`~mmshufflemix.evaluation.average_precision.average_precision` for definition and ties.
      Difficult cells (``gt_label_difficult``) are left out of the rankings.
    - ``CP CR CF1 OP OR OF1`` with the classes that score at least ``thr``, and with the suffix
      ``_top3`` with each image's three highest: see
      :func:`~mmshufflemix.evaluation.precision_recall.precision_recall_f1`.
    - ``absent_classes``: the number of classes without a positive. Their AP is undefined: they have
      no key, are left out of mAP, CP and CR, and are named in the log.

    ``save_best='multi-label/mAP'`` works as it is; for another key, such as
    ``'multi-label/AP_dog'``, MMEngine's CheckpointHook needs ``rule='greater'`` too.

    Args:
        thr: Lowest score of a predicted class, between 0 and 1, both excluded.
        top_k: How many of the highest scores the second set of measures takes.
        top_k_rule: ``'mlgcn'`` takes only those of the ``top_k`` that score at least ``thr``,
            ``'all'`` takes all of them as other papers do.
        difficult_in_f1: In the six measures difficult cells count as ``'negative'``, as in
            ML-GCN's code, or are left out, ``'ignore'``.
        out_dir: Folder for ``multi_label_report.csv`` and ``.json`` of the last evaluation; none
            are written by default.
        collect_device: ``'cpu'`` or ``'gpu'``, where the results of the processes are gathered.
        prefix: Replaces ``multi-label`` in the keys, needed beside MMPretrain's own
            ``AveragePrecision``.

    Raises:
        ValueError: If an argument is not one of the above, or a sample cannot be used (see
            :func:`~mmshufflemix.evaluation.multi_label_sample.read_sample`).
    """

    default_prefix = 'multi-label'

    def __init__(
        self,
        thr: float = 0.5,
        top_k: int = 3,
        top_k_rule: str = 'mlgcn',
        difficult_in_f1: str = 'negative',
        out_dir: str | None = None,
        collect_device: str = 'cpu',
        prefix: str | None = None,
    ) -> None:
        super().__init__(collect_device=collect_device, prefix=prefix)
        if not isinstance(thr, (int, float)) or not 0 < thr < 1:
            raise ValueError(
                f'thr must be a number between 0 and 1, both excluded, got {thr!r}; a threshold of '
                '0 would predict every class'
            )
        if type(top_k) is not int or top_k < 1:
            raise ValueError(f'top_k must be an integer of at least 1, got {top_k!r}')
        if top_k_rule not in ('mlgcn', 'all'):
            raise ValueError(f"top_k_rule must be 'mlgcn' or 'all', got {top_k_rule!r}")
        if difficult_in_f1 not in ('negative', 'ignore'):
            raise ValueError(
                f"difficult_in_f1 must be 'negative' or 'ignore', got {difficult_in_f1!r}"
            )
        self.thr = thr
        self.top_k = top_k
        self.top_k_rule = top_k_rule
        self.difficult_in_f1 = difficult_in_f1
        self.out_dir = out_dir
        self._told_no_difficult = False

    def process(self, data_batch: Any, data_samples: Sequence[dict]) -> None:
        """Keep the scores and labels of a batch."""
        for sample in data_samples:
            where = sample.get('img_path') or f'sample {len(self.results)}'
            num_scores = torch.as_tensor(sample['pred_score']).numel()
            names = names_or_numbers(self.dataset_meta, num_scores)
            self.results.append(read_sample(sample, where, names))

    def compute_metrics(self, results: list[SampleCells]) -> dict[str, float]:
        """Evaluate all samples, log the table and write the files."""
        if not results:
            raise ValueError('no sample was evaluated; expected at least one in the data loader')
        if all(sample.difficult is None for sample in results):
            self._tell_no_difficult()
        scores, targets, difficult = stack_samples(results)
        names = check_class_names(names_or_numbers(self.dataset_meta, scores.shape[1]))
        measures = self._measures(scores, targets, difficult)
        aps = 100 * average_precision(scores, targets, ~difficult)
        rows = class_rows(names, targets, difficult, aps)
        absent = [row['class'] for row in rows if row['AP'] is None]
        metrics = {
            'mAP': float(np.nanmean(aps)),
            **measures,
            'absent_classes': len(absent),
            **{f'AP_{row["class"]}': row['AP'] for row in rows if row['AP'] is not None},
        }
        self._log(len(results), rows, metrics, absent)
        if self.out_dir is not None:
            content = {
                'images': len(results),
                'thr': self.thr,
                'top_k': self.top_k,
                'top_k_rule': self.top_k_rule,
                'difficult_in_f1': self.difficult_in_f1,
                'metrics': metrics,
                'absent_classes': absent,
                'classes': rows,
            }
            write_report(self.out_dir, content)
        return metrics

    def _measures(
        self, scores: np.ndarray, targets: np.ndarray, difficult: np.ndarray
    ) -> dict[str, float]:
        valid = ~difficult if self.difficult_in_f1 == 'ignore' else None
        above = scores >= self.thr
        highest = top_k_cells(scores, self.top_k)
        if self.top_k_rule == 'mlgcn':
            highest &= above
        at_threshold = precision_recall_f1(above, targets, valid)
        at_top_k = precision_recall_f1(highest, targets, valid)
        return {
            **{key: 100 * value for key, value in at_threshold.items()},
            **{f'{key}_top{self.top_k}': 100 * value for key, value in at_top_k.items()},
        }

    def _log(
        self, num_images: int, rows: list[dict], metrics: dict[str, float], absent: list[str]
    ) -> None:
        chosen = f'those that score >= {self.thr:g}' if self.top_k_rule == 'mlgcn' else 'all'
        counted = 'as negative' if self.difficult_in_f1 == 'negative' else 'for nothing'
        lines = [
            f'Multi-label report of {num_images} images',
            format_rows(rows),
            f'mAP {metrics["mAP"]:.2f} over {len(rows) - len(absent)} of {len(rows)} classes',
            f'score >= {self.thr:g}: {_six(metrics, "")}',
            f'top {self.top_k} ({chosen}): {_six(metrics, f"_top{self.top_k}")}',
            f'difficult cells are left out of AP and count {counted} in the other measures',
        ]
        if absent:
            lines.append(f'classes without a positive ({len(absent)}): {", ".join(absent)}')
        MMLogger.get_current_instance().info('\n'.join(lines))

    def _tell_no_difficult(self) -> None:
        if not self._told_no_difficult:
            MMLogger.get_current_instance().warning(
                'no data sample has gt_label_difficult, so every cell counts; for data with '
                "difficult objects (VOC) add 'gt_label_difficult' to meta_keys of PackInputs"
            )
            self._told_no_difficult = True


def _six(metrics: dict[str, float], suffix: str) -> str:
    names = ('CP', 'CR', 'CF1', 'OP', 'OR', 'OF1')
    return '  '.join(f'{name} {metrics[name + suffix]:.2f}' for name in names)

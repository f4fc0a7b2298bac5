"""The metric of calibration: are things that get 0.8 true in 80 of 100 cases?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mmengine.logging import MMLogger
from mmpretrain.registry import METRICS

from mmshufflemix.class_names import names_or_numbers
from mmshufflemix.evaluation.calibration_bins import CalibrationBins, calibration_bins
from mmshufflemix.evaluation.multi_label_sample import SampleCells, stack_samples
from mmshufflemix.evaluation.probability_sample import ProbabilityMetric
from mmshufflemix.evaluation.reliability_plot import draw_reliability
from mmshufflemix.files import write_json

__all__ = ['CalibrationReport']


@METRICS.register_module()
class CalibrationReport(ProbabilityMetric):
    """Calibration errors and a reliability plot.

    All values are from 0 (best) to 1, the Brier score of single-label data to 2, under these keys
    after ``calibration/``:

    - ``ECE``, ``MCE``: expected and largest calibration error, see
      :class:`~mmshufflemix.evaluation.calibration_bins.CalibrationBins`. In single-label data a
      prediction is the highest score of an image, and comes true where its class is right (Guo et
      al., arXiv 1706.04599). In multi-label data each class of each image is a prediction of its
      own and all go into the same bins; most are easy negatives near 0, which make these values
      small, so look at the plot too.
    - ``classwise_ECE``: the mean over classes of the ECE of that class's score against its presence
      (Kull et al., arXiv 1910.12656). Classes without a valid cell are left out.
    - ``Brier``: squared errors of the scores, their sum over classes in single-label data (Brier's
      own score), their mean over all cells in multi-label data.
    - ``ECE_<class name>`` for each class, with ``per_class``.

    Difficult cells (``gt_label_difficult``) are left out of everything. ``save_best`` needs
    ``rule='less'``.

    Args:
        task: See :class:`~mmshufflemix.evaluation.probability_sample.ProbabilityMetric`.
        bins: Number of bins of equal width.
        per_class: Give the value of each class too.
        out_dir: Folder for ``calibration.json`` (values and bins) and ``reliability.png`` of the
            last evaluation; none are written by default.
        collect_device: As for ``task``.
        prefix: Replaces ``calibration`` in the keys.

    Raises:
        ValueError: If an argument is out of range or a sample cannot be used.
    """

    default_prefix = 'calibration'

    def __init__(
        self,
        task: str,
        bins: int = 15,
        per_class: bool = False,
        out_dir: str | None = None,
        collect_device: str = 'cpu',
        prefix: str | None = None,
    ) -> None:
        super().__init__(task, collect_device, prefix)
        if type(bins) is not int or bins < 1:
            raise ValueError(f'bins must be an integer of at least 1, got {bins!r}')
        self.bins = bins
        self.per_class = per_class
        self.out_dir = out_dir

    def process(self, data_batch: Any, data_samples: Sequence[dict]) -> None:
        """Keep the scores and labels of a batch."""
        self.results.extend(self.read_batch(data_samples))

    def compute_metrics(self, results: list[SampleCells]) -> dict[str, float]:
        """Evaluate all samples, log the result and write the files."""
        if not results:
            raise ValueError('no sample was evaluated; expected at least one in the data loader')
        scores, targets, difficult = stack_samples(results)
        valid = ~difficult
        if not valid.any():
            raise ValueError(
                f'all cells of the {len(results)} samples are difficult, so that nothing is left '
                'to evaluate'
            )
        bins = self._pooled(scores, targets, valid)
        by_class = np.array(
            [
                calibration_bins(score[keep], target[keep], self.bins).expected_error
                for score, target, keep in zip(scores.T, targets.T, valid.T, strict=True)
            ]
        )
        errors = (scores - targets) ** 2
        single = self.task == 'single-label'
        metrics = {
            'ECE': bins.expected_error,
            'MCE': bins.largest_error,
            'classwise_ECE': float(np.nanmean(by_class)),
            'Brier': float(errors.sum(axis=1).mean() if single else errors[valid].mean()),
        }
        self._log(len(results), bins, metrics)
        if self.per_class:
            names = names_or_numbers(self.dataset_meta, scores.shape[1])
            metrics |= {
                f'ECE_{name}': float(value)
                for name, value in zip(names, by_class, strict=True)
                if not np.isnan(value)
            }
        if self.out_dir is not None:
            self._write(Path(self.out_dir), len(results), bins, metrics)
        return metrics

    def _pooled(
        self, scores: np.ndarray, targets: np.ndarray, valid: np.ndarray
    ) -> CalibrationBins:
        if self.task == 'multi-label':
            return calibration_bins(scores[valid], targets[valid], self.bins)
        rows, best = np.arange(len(scores)), scores.argmax(axis=1)
        return calibration_bins(scores[rows, best], targets[rows, best], self.bins)

    def _log(self, images: int, bins: CalibrationBins, metrics: dict[str, float]) -> None:
        values = '  '.join(f'{key} {value:.4f}' for key, value in metrics.items())
        MMLogger.get_current_instance().info(
            f'Calibration of {bins.counts.sum()} {self.task} predictions for {images} images in '
            f'{self.bins} bins: {values}'
        )

    def _write(
        self, folder: Path, images: int, bins: CalibrationBins, metrics: dict[str, float]
    ) -> None:
        content = {
            'images': images,
            'task': self.task,
            'predictions': int(bins.counts.sum()),
            'metrics': metrics,
            'bins': bins.rows(),
        }
        write_json(folder / 'calibration.json', content)
        draw_reliability(folder / 'reliability.png', bins, self.task)

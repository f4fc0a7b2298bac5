"""A robustness study as a test loop of MMEngine's runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mmengine import dist
from mmengine.logging import print_log
from mmengine.runner import TestLoop
from mmengine.runner.amp import autocast
from mmpretrain.registry import LOOPS
from rich.console import Console
from rich.progress import Progress

from mmshufflemix.robustness.batches import check_memory, prepared_batches
from mmshufflemix.robustness.metric import choose_metric
from mmshufflemix.robustness.study import PAPER_LEVELS, Study, run_study

__all__ = ['RobustnessLoop']


@LOOPS.register_module()
class RobustnessLoop(TestLoop):
    """Tests on clean and on noisy images, with one model and one reading of the data.

    Checkpoint, hooks (averaged weights, checks of classes) and evaluator are those of a plain test;
    ``Runner.test`` returns what :func:`~mmshufflemix.robustness.study.run_study` does.

    Args:
        runner: The runner.
        dataloader: Test data loader or its config.
        evaluator: Test evaluator or its config.
        fp16: Mixed precision.
        levels: See :class:`~mmshufflemix.robustness.study.Study`.
        modes: As above.
        seeds: As above.
        metric: Key of a number of the evaluator; the first one by default.
        memory: GiB of normalised images that may be kept.

    Raises:
        ValueError: If the study or ``memory`` is out of range, or several processes take part.
    """

    def __init__(
        self,
        runner: Any,
        dataloader: Any,
        evaluator: Any,
        fp16: bool = False,
        levels: Mapping[str, Sequence[float]] = PAPER_LEVELS,
        modes: Sequence[str] = ('paper',),
        seeds: Sequence[int] = (0, 1, 2, 3, 4),
        metric: str | None = None,
        memory: float = 2.0,
    ) -> None:
        self.study = Study(levels, modes, seeds)
        self.budget = check_memory(memory)
        if dist.get_world_size() > 1:
            raise ValueError(
                f'the noise of a set is one sequence, so that one process must see all of it, got '
                f'{dist.get_world_size()}; start the study without a launcher'
            )
        super().__init__(runner, dataloader, evaluator, fp16)
        self.metric = metric

    def run(self) -> dict[str, Any]:
        """Run the study."""
        self.runner.call_hook('before_test')
        self.runner.call_hook('before_test_epoch')
        model = self.runner.model.eval()
        metric = choose_metric(model, self.evaluator, self.metric)
        batches = prepared_batches(self.dataloader, model, self.budget)
        total = self.study.passes() * len(self.dataloader.dataset)
        with _progress(total) as report, autocast(enabled=self.fp16):
            record = run_study(self.study, model, metric, batches, report)
        self.runner.call_hook('after_test_epoch', metrics={record['metric']: record['clean']})
        self.runner.call_hook('after_test')
        return record


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], object]]:
    """Show a bar in a terminal, else a line for each tenth; takes the images of each step."""
    console = Console(stderr=True)
    name = 'images through the model'
    if console.is_terminal:
        with Progress(console=console) as bar:
            task = bar.add_task(name, total=total)
            yield lambda images: bar.advance(task, images)
        return
    done = 0

    def report(images: int) -> None:
        nonlocal done
        if 10 * done // total < 10 * (done + images) // total:
            print_log(f'{done + images} of {total} {name}', logger='current')
        done += images

    yield report

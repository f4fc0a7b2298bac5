"""Run the jobs of a table one after another, each at most once, and go on where it stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mmshufflemix import __version__
from mmshufflemix.benchmark import describe_machine
from mmshufflemix.files import remove_leftovers, write_json, write_text
from mmshufflemix.label_graph import load_label_graph
from mmshufflemix.reproduce.fingerprint import file_digests, write_fingerprint
from mmshufflemix.reproduce.guard import check_settings
from mmshufflemix.reproduce.jobs import Job, Step, starting_point
from mmshufflemix.reproduce.lock import hold_lock
from mmshufflemix.reproduce.process import run_shown
from mmshufflemix.robustness import read_record
from mmshufflemix.run_logs import read_validations

__all__ = ['describe_job', 'noise_command', 'run_job', 'run_jobs', 'training_command']

# Workers of a killed training notice its end within seconds and keep the lock until then.
PATIENCE = 10.0


def run_jobs(jobs: Sequence[Job], tools: Path, after_each: Callable[[], object]) -> list[str]:
    """Run what is not finished; what another process runs is left to it.

    Args:
        jobs: In the order to take them.
        tools: Folder of ``train.py`` and ``robustness.py``.
        after_each: Called after each job that was run.

    Returns:
        What went wrong, a line for each job that failed.
    """
    failures = []
    pending = list(enumerate(jobs, 1))
    for patience in (0.0, PATIENCE):
        busy = []
        for number, job in pending:
            if job.done:
                continue
            print(f'[{number}/{len(jobs)}] {job.name}', flush=True)
            try:
                if not run_job(job, tools, patience):
                    print(f'{job.name} is being run by another process', flush=True)
                    busy.append((number, job))
                    continue
            except (OSError, RuntimeError, ValueError) as error:
                failures.append(f'{job.name} failed: {error}')
                print(failures[-1], flush=True)
            after_each()
        pending = busy
    return failures


def run_job(job: Job, tools: Path, patience: float = 0.0) -> bool:
    """Run the steps of a job that have no result yet.

    Returns:
        False if another process is at it.

    Raises:
        RuntimeError: If a program fails or leaves no result.
        ValueError: If the folder was begun with other settings in the meantime.
    """
    for step, work in zip(job.steps, (_train, _measure_noise), strict=False):
        with hold_lock(step.lock, patience) as descriptor:
            if descriptor is None:
                return False
            check_settings([step])
            if not step.result.is_file():
                step.folder.mkdir(parents=True, exist_ok=True)
                remove_leftovers(step.folder)
                write_fingerprint(step.fingerprint, step.settings)
                work(job, step, tools, descriptor)
    return True


def training_command(job: Job, tools: Path) -> list[str]:
    """Return the command that starts a training, or goes on with it."""
    folder = job.training.folder
    command = [sys.executable, str(tools / 'train.py'), str(folder / 'config.py')]
    command += ['--work-dir', str(folder)]
    checkpoint = starting_point(folder, job.epochs)
    return command + ([] if checkpoint is None else ['--resume', str(checkpoint)])


def noise_command(job: Job, folder: Path, tools: Path) -> list[str]:
    """Return the command that measures a finished training under noise."""
    training = job.training.folder
    checkpoint = training / f'epoch_{job.epochs}.pth'
    return [
        *(sys.executable, str(tools / 'robustness.py')),
        *(str(training / 'config.py'), str(checkpoint)),
        *('--work-dir', str(folder), '--out', str(folder / 'noise.json')),
    ]


def describe_job(job: Job, tools: Path) -> str:
    """Say how far a job is, with the commands that are left to run."""
    commands = []
    state = 'done' if job.done else 'to run'
    if not job.training.result.is_file():
        checkpoint = starting_point(job.training.folder, job.epochs)
        if job.epochs in read_validations(job.training.folder):
            state = 'trained, to be read'
        else:
            state = f'to resume from {checkpoint.name}' if checkpoint else state
            commands.append(training_command(job, tools))
    if job.noise is not None and not job.noise.result.is_file():
        commands.append(noise_command(job, job.noise.folder, tools))
    return '\n    '.join([f'{job.name}: {state}', *(' '.join(command) for command in commands)])


def _train(job: Job, step: Step, tools: Path, descriptor: int) -> None:
    write_text(step.folder / 'config.py', job.cfg.pretty_text)
    validations = read_validations(step.folder)
    if job.epochs not in validations:
        command = training_command(job, tools)
        run_shown(command, step.folder / 'output.txt', [descriptor])
        validations = read_validations(step.folder)
    if job.epochs not in validations:
        raise RuntimeError(
            f'no validation of epoch {job.epochs} is in the logs of {step.folder}; the config '
            'needs a val_dataloader, a val_evaluator and the LocalVisBackend'
        )
    # Files that the training built are known only now.
    write_fingerprint(step.fingerprint, {**step.settings, **file_digests(step.settings)})
    _write_result(job, step, validations[job.epochs], validations)


def _measure_noise(job: Job, step: Step, tools: Path, descriptor: int) -> None:
    run_shown(noise_command(job, step.folder, tools), step.folder / 'output.txt', [descriptor])
    record = read_record(step.folder / 'noise.json')
    measures = {'clean': record['clean']}
    for result in record['results']:
        measures[f'{result["noise"]}/{result["level"]:g}'] = result['mean']
    _write_result(job, step, measures, {})


def _write_result(
    job: Job, step: Step, measures: dict[str, float], validations: dict[int, dict[str, float]]
) -> None:
    write_json(
        step.result,
        {
            'row': job.row.name,
            'seed': job.seed,
            'epochs': job.epochs,
            'full_epochs': job.full_epochs,
            'options': {key: repr(value) for key, value in job.options.items()},
            'class_vectors': _class_vectors(job),
            'measures': measures,
            'validations': validations,
            'versions': _versions(),
        },
    )


def _class_vectors(job: Job) -> str | None:
    """Say where the class vectors of the label graph come from, None for a model without one."""
    path = (job.cfg.get('model') or {}).get('head', {}).get('label_graph')
    return load_label_graph(path).source if isinstance(path, str) and Path(path).is_file() else None


@cache
def _versions() -> dict[str, Any]:
    return {'mmshufflemix': __version__, **describe_machine()}

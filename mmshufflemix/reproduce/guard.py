"""Keep runs with different settings out of one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mmshufflemix.reproduce.fingerprint import differences, read_fingerprint
from mmshufflemix.reproduce.jobs import Step
from mmshufflemix.reproduce.lock import hold_lock
from mmshufflemix.reproduce.settings import SEED_SETTING
from mmshufflemix.run_logs import read_validations
from mmshufflemix.text import some

__all__ = [
    'check_settings',
    'describe_difference',
    'has_progress',
    'is_run',
    'move_aside',
    'stale_runs',
]


def check_settings(steps: Iterable[Step]) -> None:
    """Refuse to go on where runs of the same rows have other settings.

    Raises:
        ValueError: Naming the first such run, the settings and the ways out.
    """
    for folder, changed in stale_runs(steps):
        if not changed:
            raise ValueError(
                f"'{folder}' {describe_difference(changed)}; put the file back, give another "
                'folder by --out, or move the old runs aside by --restart'
            )
        raise ValueError(
            f"'{folder}' was made with other settings than asked for now: {some(changed)}; undo "
            'the change, give another folder by --out, or move the old runs aside by --restart'
        )


def stale_runs(steps: Iterable[Step]) -> Iterator[tuple[Path, list[str]]]:
    """Find runs, of any seed, whose settings differ from those of the steps of the same rows.

    So does one whose file of settings was deleted. One that failed before its first checkpoint has
    nothing to lose and may be begun anew.

    Yields:
        The folder of each and its differences, none where the file of its settings is missing.
    """
    seen: set[Path] = set()
    for step in steps:
        for folder in [step.folder, *sorted(step.folder.parent.glob('seed_*'))]:
            if folder in seen or not is_run(folder) or not has_progress(folder):
                continue
            seen.add(folder)
            old = read_fingerprint(folder / step.fingerprint.name)
            if old is None:
                yield folder, []
                continue
            changed = differences(_without_seed(old), _without_seed(step.settings))
            if changed:
                yield folder, changed


def describe_difference(changed: Sequence[str]) -> str:
    """Say what is wrong with a run of :func:`stale_runs`."""
    if changed:
        return f'has other settings: {some(changed)}'
    return 'has no settings.json, so nothing tells what it was made with'


def move_aside(folders: Iterable[Path]) -> list[Path]:
    """Rename folders of runs, as of :func:`stale_runs`, to ``seed_N.old-K``, which nothing reads.

    Returns:
        The new folders.

    Raises:
        ValueError: If one of them is being run.
    """
    moved = []
    for folder in folders:
        with hold_lock(Step(folder, {}).lock) as descriptor:
            if descriptor is None:
                raise ValueError(f"'{folder}' is being run by another process; stop that first")
            number = 1
            while (target := folder.with_name(f'{folder.name}.old-{number}')).exists():
                number += 1
            folder.rename(target)
            moved.append(target)
    return moved


def is_run(folder: Path) -> bool:
    """Tell the folder of a seed from locks and from what was moved aside."""
    return folder.is_dir() and folder.name.removeprefix('seed_').isdigit()


def has_progress(folder: Path) -> bool:
    """Tell whether a run got as far as a checkpoint, a validation or a result."""
    return (
        (folder / 'result.json').is_file()
        or any(folder.glob('*.pth'))
        or bool(read_validations(folder))
    )


def _without_seed(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key != SEED_SETTING}

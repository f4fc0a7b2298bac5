"""Facts that stand only in the text logs of a run: versions, seed, time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

__all__ = ['LogFacts', 'read_log_facts']

LogFacts = dict[str, str]

_PART = 1 << 16  # bytes from either end: the environment is at the beginning
_TIME = re.compile(r'^(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) - ', re.MULTILINE)
_SETTING = re.compile(r'^    (Python|PyTorch|MMEngine|GPU 0[\d,]*|seed): ([^\n(]+)', re.MULTILINE)


def read_log_facts(work_dir: Path, starts: Iterable[str]) -> tuple[LogFacts, float | None]:
    """Read ``<time>/<time>.log`` of the starts of a run.

    Args:
        work_dir: Folder of the run.
        starts: Names of their folders.

    Returns:
        Versions, seed and the first GPU of the last start that has a log, as far as it says; and
        the seconds that all starts took from their first line to their last, None without a log.
    """
    facts: LogFacts = {}
    seconds: list[float] = []
    for start in starts:
        path = work_dir / start / f'{start}.log'
        if not path.is_file():
            continue
        with path.open('rb') as file:
            head = file.read(_PART).decode(errors='replace')
            file.seek(max(0, path.stat().st_size - _PART))
            tail = file.read().decode(errors='replace')
        facts = {key: value.strip() for key, value in _SETTING.findall(head)}
        times = _TIME.findall(head)[:1] + _TIME.findall(tail)[-1:]
        if len(times) == 2:
            begin, end = (datetime.strptime(time, '%Y/%m/%d %H:%M:%S') for time in times)
            seconds.append(max(0.0, (end - begin).total_seconds()))
    return facts, sum(seconds) if seconds else None

"""Two processes on the CPU, as tools/dist_train.sh starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.test_small_images.fast_jobs import FAST
from tests.tiny_job import ROOT, write_job, write_pictures, write_plain_job
from tests.tool_runner import run_processes

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each rank saw."""
    folder = tmp_path_factory.mktemp('ranks')
    write_pictures(folder / 'whole')
    write_pictures(folder / 'broken')
    (folder / 'broken' / 'b' / '4.png').write_bytes(b'no picture')
    return run_workers('sharing_worker', folder)


def run_workers(name: str, folder: Path) -> list[Any]:
    """Run a module beside this one by two processes, and read what each wrote."""
    (folder / 'tmp').mkdir()
    launch = ['torch.distributed.run', '--standalone', '--nproc_per_node=2']
    done = subprocess.run(
        [sys.executable, '-m', *launch, '-m', f'tests.test_small_images.{name}', folder],
        cwd=ROOT,
        env={**os.environ, 'TMPDIR': str(folder / 'tmp')},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f'rank{rank}.json').read_text()) for rank in range(2)]


def test_one_process_reads_and_both_have_one_copy(ranks: list):
    first, second = (dict(rank['whole']) for rank in ranks)
    assert (first.pop('decoded'), second.pop('decoded')) == (12, 0)
    assert first == second
    assert len(first['files']) == 1
    assert len(first['paths']) == 2


def test_a_failure_is_told_by_both(ranks: list):
    first, second = (rank['broken']['error'] for rank in ranks)
    assert not first.startswith('RuntimeError: process')
    assert second == f'RuntimeError: process 0 could not read the images: {first.split(": ", 1)[1]}'


def test_each_machine_reads_for_itself(ranks: list):
    first, second = (rank['two machines'] for rank in ranks)
    assert first['decoded'] == second['decoded'] == 12
    assert first['images'] == second['images']


def test_nothing_is_left_over(ranks: list):
    assert [name for rank in ranks for name in rank['left over'] if 'mmshufflemix' in name] == []


@pytest.mark.skipif(not Path('/proc/self/maps').exists(), reason='looks into /proc')
def test_a_kill_while_reading_leaves_no_file(tmp_path: Path):
    temporary = tmp_path / 'tmp'
    temporary.mkdir()
    worker = [sys.executable, '-m', 'tests.test_small_images.killed_worker', str(tmp_path)]
    environment = {**os.environ, 'TMPDIR': str(temporary), 'OMP_NUM_THREADS': '1'}
    workers = [
        subprocess.Popen([*worker, str(rank)], cwd=ROOT, env=environment) for rank in range(2)
    ]
    try:
        deadline = time.monotonic() + 100
        while not (tmp_path / 'reading').exists():
            assert all(process.poll() is None for process in workers)
            assert time.monotonic() < deadline
            time.sleep(0.1)
        # The images lie in a file of that folder, not in the memory of the process.
        assert str(temporary) in (tmp_path / 'reading').read_text()
    finally:
        for process in workers:
            process.kill()
            process.wait()
    assert [name for name in os.listdir(temporary) if 'mmshufflemix' in name] == []


def test_training_of_two_processes(tmp_path: Path):
    """Without crops: the same weights as by the ordinary loader."""
    config = write_job(tmp_path)
    text = config.read_text()
    for transform in ('RandomFlip', 'RandomCrop'):
        [line] = [line for line in text.splitlines() if transform in line]
        text = text.replace(line + '\n', '')
    config.write_text(text)
    states = []
    for kind, options in (('plain', []), ('fast', [f'runner_type={FAST}'])):
        run = tmp_path / kind
        extra = ['--cfg-options', 'train_dataloader.batch_size=2', *options]
        done = run_processes('dist_train', config, 2, '--work-dir', run, *extra)
        assert done.returncode == 0, done.stderr[-3000:]
        states.append(torch.load(run / 'epoch_2.pth', weights_only=False)['state_dict'])
    assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())


def test_processes_draw_differently_without_hooks_of_ours(tmp_path: Path):
    write_plain_job(tmp_path)
    first, second = run_workers('drawing_worker', tmp_path)
    assert len(first) == len(second) == 2
    assert all(one != two for one, two in zip(first, second, strict=True))
    assert first[0] != first[1]

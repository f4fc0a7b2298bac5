"""Tools that are killed at each of their writes, and two at once on one folder."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from mmshufflemix.cli import run_cli
from mmshufflemix.files import TEMPORARY_MARK
from tests.image_trees import write_tiles
from tests.test_inference.models import write_model, write_pictures
from tests.tool_runner import load_tool

pytestmark = pytest.mark.slow

MOMENTS = ('fsync', 'replace', 'rename')
"""Functions of ``os`` that stand between a half-written file and its final name."""


def in_child(work: Callable[[], object]) -> int:
    """Start a forked process that does the work; return its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        torch.set_num_threads(1)
        with open(os.devnull, 'w') as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


def wait_for(child: int) -> int:
    """Return the exit code of a process, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def call(name: str, *arguments: str) -> None:
    """Run a tool as a shell would."""
    sys.argv = [name, *arguments]
    tool = load_tool(name)
    tool.__name__ = '__main__'
    run_cli(tool.main)


def before_each_write(act: Callable[[int], None]) -> None:
    """Do something before each call of :data:`MOMENTS`, with its number; for a child only."""
    numbers = itertools.count(1)

    def changed(original: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            act(next(numbers))
            return original(*args, **kwargs)

        return function

    for name in MOMENTS:
        setattr(os, name, changed(getattr(os, name)))


def die_at(moment: int, kind: signal.Signals, number: int) -> None:
    """End this process by a signal if its write of that number comes."""
    if number == moment:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), kind)


def contents(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder except those with the temporary mark."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob('*'))
        if path.is_file() and TEMPORARY_MARK not in str(path.relative_to(folder))
    }


@pytest.fixture(scope='module')
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model, pictures, labels, predictions and tiles."""
    folder = tmp_path_factory.mktemp('inputs')
    write_model(folder / 'model')
    write_pictures(folder / 'data' / 'images', 12)
    names = [f'p{index}.png' for index in range(12)]
    rows = [{'img_path': name, 'gt_label': [i % 2]} for i, name in enumerate(names)]
    content = {'metainfo': {'classes': ['a', 'b']}, 'data_list': rows}
    (folder / 'data' / 'train.json').write_text(json.dumps(content))
    (folder / 'labels.csv').write_text(
        'image,labels\n' + ''.join(f'{name},{"ab"[i % 2]}\n' for i, name in enumerate(names))
    )
    records = [{'pred_score': [i / 12, 1 - i / 12], 'gt_label': [i % 2]} for i in range(12)]
    (folder / 'predictions.json').write_text(json.dumps(records))
    study = {
        'metric': 'accuracy/top1',
        'clean': 90.0,
        'results': [{'noise': 'white', 'level': 0.1, 'mode': None, 'mean': 3.0, 'std': 0.1}],
    }
    (folder / 'study.json').write_text(json.dumps(study))
    (folder / 'graph.py').write_text(
        "train_dataloader = dict(dataset=dict(type='MultiLabelJSON', "
        f"ann_file='{folder}/data/train.json', data_prefix='images'))\n"
    )
    write_tiles(folder / 'tiles')
    for name in CALLS:
        load_tool(name)  # here, so that not every child imports what it needs
    import_module('sklearn.metrics')
    with suppress(ImportError):
        import_module('pytorch_grad_cam')
    return folder


MODEL = ['IN/model/config.py', 'IN/model/model.pth']
CALLS = {
    'predict': [*MODEL, 'IN/data/images/p0.png', 'IN/data/images/p1.png', '--out', 'p.csv',
                '--draw', 'drawn'],
    'explain': [*MODEL, 'IN/data/images/p0.png', '-o', 'maps', '--raw'],
    'tune_thresholds': ['IN/predictions.json', '-o', 't.json', '--folds', '0'],
    'check_dataset': ['IN/data', '--json', 'c.json', '-o', 'c.html'],
    'convert_labels': ['IN/labels.csv', '--images', 'IN/data/images', '-o', 'l.json'],
    'split_dataset': ['IN/data/train.json', '-o', 'parts'],
    'label_graph': ['IN/graph.py', '-o', 'g.npz', '--dim', '4', '--plot', 'g.png'],
    'robustness': ['--draw', 'IN/study.json', '--plot', 'r.png'],
    'unpack_cifar100': ['IN/tiles', 'tiles'],
    'decision_boundary': ['--methods', 'baseline', '--epochs', '1', '--points', '8', '--out',
                          'd.png', '--json', 'd.json'],
}  # fmt: skip


@pytest.mark.parametrize('name', CALLS)
def test_killed_at_each_write(name: str, inputs: Path, tmp_path: Path) -> None:
    """Only whole files have final names, and the next run is as if nothing had been."""
    if name == 'explain':
        pytest.importorskip('pytorch_grad_cam', reason='needs the package for heat maps')
    arguments = [text.replace('IN', str(inputs)) for text in CALLS[name]]

    def run(folder: Path, act: Callable[[int], None] = lambda number: None) -> int:
        def work() -> None:
            os.chdir(folder)
            before_each_write(act)
            call(name, *arguments)

        folder.mkdir(exist_ok=True)
        return wait_for(in_child(work))

    assert run(tmp_path / 'whole') in (0, 1), 'check_dataset ends with 1 on small data'
    whole = contents(tmp_path / 'whole')
    assert whole
    deaths = 0
    for moment in itertools.count(1):
        kind = signal.SIGKILL if moment != 2 else signal.SIGINT
        folder = tmp_path / f'killed_{moment}'
        code = run(folder, partial(die_at, moment, kind))
        if code in (0, 1):
            break
        assert code in (-signal.SIGKILL, 130), code
        deaths += 1
        found = contents(folder)
        assert found.items() <= whole.items()
        left = [path for path in folder.rglob('*') if TEMPORARY_MARK in path.name]
        assert not left or kind is signal.SIGKILL
        if moment == 1:
            assert run(folder) in (0, 1)
            assert contents(folder) == whole
        shutil.rmtree(folder)
    assert deaths


def test_parts_of_two_splits_never_meet(inputs: Path, tmp_path: Path) -> None:
    """A split that replaces another is killed at each write: all old, or new ones only."""
    source = str(inputs / 'data' / 'train.json')

    def split(seed: int, act: Callable[[int], None] = lambda number: None) -> int:
        def work() -> None:
            before_each_write(act)
            arguments = ['--seed', str(seed), '--force', '--no-keep-duplicates-together']
            call('split_dataset', source, '-o', str(tmp_path), *arguments)

        return wait_for(in_child(work))

    assert split(0) == 0
    old = contents(tmp_path)
    assert split(1) == 0
    new = contents(tmp_path)
    assert not old.items() & new.items()
    states = set()
    for moment in itertools.count(1):
        assert split(0) == 0
        assert contents(tmp_path) == old
        code = split(1, partial(die_at, moment, signal.SIGKILL))
        found = contents(tmp_path)
        if code == 0:
            break
        assert found == old or found.items() < new.items(), moment
        states.add(found == old)
    assert found == new
    assert states == {True, False}


def at_once(*works: Callable[[], object]) -> list[int]:
    """Run several works in processes that write slowly, so that their writes alternate."""

    def slow(work: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            before_each_write(lambda number: time.sleep(0.1))
            work()

        return run

    return [wait_for(child) for child in [in_child(slow(work)) for work in works]]


def test_two_splits_at_once(inputs: Path, tmp_path: Path) -> None:
    source = str(inputs / 'data' / 'train.json')
    options = ['--no-keep-duplicates-together', '--seed']

    def split(folder: Path, *arguments: str) -> Callable[[], object]:
        return lambda: call('split_dataset', source, '-o', str(folder), *options, *arguments)

    alone = []
    for seed in '01':
        assert at_once(split(tmp_path / seed, seed)) == [0]
        alone.append(contents(tmp_path / seed))
    for attempt in range(3):
        folder = tmp_path / f'both_{attempt}'
        assert at_once(split(folder, '0', '--force'), split(folder, '1', '--force')) == [0, 0]
        assert contents(folder) in alone
        folder = tmp_path / f'one_{attempt}'
        assert sorted(at_once(split(folder, '0'), split(folder, '1'))) == [0, 1]
        assert contents(folder) in alone


def test_two_of_other_tools_at_once(inputs: Path, tmp_path: Path) -> None:
    picture = str(inputs / 'data' / 'images' / 'p0.png')
    model = [str(inputs / name) for name in ('model/config.py', 'model/model.pth')]

    @contextmanager
    def inside(folder: Path):
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        yield

    def predict(folder: Path, threshold: str) -> Callable[[], None]:
        def work() -> None:
            with inside(folder):
                options = ['--out', 'p.csv', '--draw', 'd', '--threshold', threshold]
                call('predict', *model, picture, *options)

        return work

    def check(folder: Path) -> Callable[[], None]:
        def work() -> None:
            with inside(folder):
                call('check_dataset', str(inputs / 'data'), '--json', 'c.json', '-o', 'c.html')

        return work

    def unpack(folder: Path) -> Callable[[], None]:
        return lambda: call('unpack_cifar100', str(inputs / 'tiles'), str(folder / 'tiles'))

    alone = [predict(tmp_path / 'a', '0'), predict(tmp_path / 'b', '1')]
    assert [at_once(work) for work in alone] == [[0], [0]]
    assert at_once(predict(tmp_path / 'c', '0'), predict(tmp_path / 'c', '1')) == [0, 0]
    single = [contents(tmp_path / 'a'), contents(tmp_path / 'b')]
    both = contents(tmp_path / 'c')
    assert both.keys() == single[0].keys()
    assert all(both[name] in (one[name] for one in single) for name in both)
    at_once(check(tmp_path / 'd'))
    at_once(check(tmp_path / 'e'), check(tmp_path / 'e'))
    assert contents(tmp_path / 'd') == contents(tmp_path / 'e')
    (tmp_path / 'f').mkdir()
    assert sorted(at_once(unpack(tmp_path / 'f'), unpack(tmp_path / 'f'))) == [0, 1]
    assert len(contents(tmp_path / 'f')) == 27
    assert [path.name for path in (tmp_path / 'f').iterdir()] == ['tiles']

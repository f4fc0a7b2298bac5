"""Jobs with stand-ins for the programs that train and measure."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from mmshufflemix.label_graph import make_label_graph, save_label_graph
from mmshufflemix.reproduce import (
    Metric,
    Row,
    Table,
    check_settings,
    choose_rows,
    describe_job,
    end_on_signals,
    move_aside,
    plan_jobs,
    run_jobs,
    stale_runs,
)
from mmshufflemix.reproduce.jobs import Job
from mmshufflemix.reproduce.lock import hold_lock
from tests.test_reproduce.study import tiny_table

CONFIG = """
train_cfg = dict(by_epoch=True, max_epochs=3)
model = dict(train_cfg=dict(augments=dict(ratio=0.5)))
randomness = dict(seed=0)
scores = [10.0, 90.0, 20.0]
"""
# Logs what the config says, best in the middle; writes down that it was called.
TRAIN = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index('--work-dir') + 1])
space = {}
exec(pathlib.Path(sys.argv[1]).read_text(), space)
with (folder / 'calls.txt').open('a') as file:
    file.write(' '.join(sys.argv[4:]) + chr(10))
if not space['scores']:
    print('error: no scores are given')
    print('some last words')
    sys.exit(3)
log = folder / '20260101_000000' / 'vis_data'
log.mkdir(parents=True, exist_ok=True)
with (log / 'scalars.json').open('w') as file:
    for step, score in enumerate(space['scores'], 1):
        file.write(json.dumps({'loss': 1.0, 'epoch': step, 'step': step * 7}) + chr(10))
        score += space['randomness']['seed']
        file.write(json.dumps({'accuracy/top1': score, 'time': 0.1, 'step': step}) + chr(10))
(folder / 'epoch_3.pth').touch()
"""
NOISE = """
import json, pathlib, sys
assert pathlib.Path(sys.argv[1]).is_file() and pathlib.Path(sys.argv[2]).is_file()
result = dict(noise='white', level=0.1, mode=None, mean=5.0, std=0.0, values=[5.0])
other = dict(result, noise='salt_pepper', level=0.02, mode='paper', mean=6.0)
record = dict(metric='m', clean=7.0, results=[result, other])
pathlib.Path(sys.argv[sys.argv.index('--out') + 1]).write_text(json.dumps(record))
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / 'tools'
    folder.mkdir()
    (folder / 'train.py').write_text(TRAIN)
    (folder / 'robustness.py').write_text(NOISE)
    (tmp_path / 'c.py').write_text(CONFIG)
    return folder


def plan(tmp_path: Path, seeds: tuple[int, ...] = (0,), **options: object) -> list[Job]:
    table = tiny_table(tmp_path / 'c.py')
    renamed = {key.replace('__', '.'): value for key, value in options.items()}
    return plan_jobs(table, table.rows, seeds, tmp_path / 'out', tmp_path, None, renamed)


def calls(job: Job) -> list[str]:
    path = job.training.folder / 'calls.txt'
    return path.read_text().splitlines() if path.is_file() else []


def stale(jobs: list[Job]) -> list[Path]:
    return [folder for folder, _ in stale_runs(step for job in jobs for step in job.steps)]


def nothing() -> None:
    pass


def test_the_last_epoch_counts_and_each_job_runs_once(tmp_path: Path, tools: Path):
    jobs = plan(tmp_path, (0, 4))
    assert [job.name for job in jobs] == [
        'half seed 0',
        'most seed 0',
        'half seed 4',
        'most seed 4',
    ]
    reports: list[int] = []
    for _ in range(2):
        assert run_jobs(jobs, tools, lambda: reports.append(1)) == []
    assert [len(calls(job)) for job in jobs] == [1, 1, 1, 1]
    assert len(reports) == 4
    result = json.loads(
        (tmp_path / 'out' / 'tiny_job' / 'most' / 'seed_4' / 'result.json').read_text()
    )
    assert result['measures'] == {'accuracy/top1': 24.0}
    assert result['validations']['2'] == {'accuracy/top1': 94.0}
    assert (result['seed'], result['epochs'], result['full_epochs']) == (4, 3, 3)
    assert result['versions']['torch']


def test_a_failing_row_does_not_stop_the_others(tmp_path: Path, tools: Path):
    bad = plan(tmp_path, scores=[])[0]
    good = plan(tmp_path, (1,))[1]
    (failure,) = run_jobs([bad, good], tools, nothing)
    assert failure.startswith('half seed 0 failed: exit code 3 (error: no scores are given)')
    assert 'output.txt' in failure
    assert not bad.done
    assert good.done
    # Nothing was trained, so the mistake can be put right in the same folder.
    repaired = plan(tmp_path)[0]
    check_settings(repaired.steps)
    assert run_jobs([repaired], tools, nothing) == []
    assert repaired.done


def test_a_training_without_last_validation_is_no_result(tmp_path: Path, tools: Path):
    (job, _) = plan(tmp_path, scores=[1.0, 2.0])
    (failure,) = run_jobs([job], tools, nothing)
    assert 'no validation of epoch 3' in failure


def test_logs_that_are_complete_are_only_read(tmp_path: Path, tools: Path):
    """A process killed after the last validation leaves no result but has nothing to train."""
    (job, _) = plan(tmp_path)
    run_jobs([job], tools, nothing)
    before = job.training.result.read_text()
    job.training.result.unlink()
    assert describe_job(job, tools) == 'half seed 0: trained, to be read'
    run_jobs([job], tools, nothing)
    assert len(calls(job)) == 1
    assert json.loads(job.training.result.read_text())['measures'] == json.loads(before)['measures']


def test_another_setting_is_noticed_before_anything_runs(tmp_path: Path, tools: Path):
    run_jobs(plan(tmp_path), tools, nothing)
    changed = plan(tmp_path, (0,), model__train_cfg__augments__ratio=0.9)
    message = (
        r'half/seed_0.* other settings .*augments.ratio \(0.5 -> 0.9\); undo .*--out.*--restart'
    )
    with pytest.raises(ValueError, match=message):
        check_settings(step for job in changed for step in job.steps)
    # Another seed of the same row would end up in the same mean.
    with pytest.raises(ValueError, match='half/seed_0'):
        check_settings(plan(tmp_path, (1,), model__train_cfg__augments__ratio=0.9)[0].steps)
    check_settings(step for job in plan(tmp_path, (0, 1)) for step in job.steps)


def test_a_training_without_its_settings_is_moved_aside(tmp_path: Path, tools: Path):
    jobs = plan(tmp_path)
    run_jobs(jobs, tools, nothing)
    jobs[0].training.fingerprint.unlink()
    with pytest.raises(ValueError, match='half/seed_0. has no settings.json, .* put the file back'):
        check_settings(jobs[0].steps)
    assert move_aside(stale(jobs)) == [jobs[0].training.folder.with_name('seed_0.old-1')]
    assert run_jobs(jobs, tools, nothing) == []
    assert [len(calls(job)) for job in jobs] == [1, 1]
    check_settings(step for job in jobs for step in job.steps)


def test_restart_moves_only_what_differs_aside(tmp_path: Path, tools: Path):
    jobs = plan(tmp_path)
    run_jobs(jobs, tools, nothing)
    assert move_aside(stale(jobs)) == []
    changed = plan(tmp_path, (0,), model__train_cfg__augments__ratio=0.75)
    # The second row has 0.75 already.
    folder = tmp_path / 'out' / 'tiny_job' / 'half'
    assert move_aside(stale(changed)) == [folder / 'seed_0.old-1']
    run_jobs(changed, tools, nothing)
    assert (folder / 'seed_0' / 'result.json').is_file()
    assert move_aside(stale(plan(tmp_path))) == [folder / 'seed_0.old-2']


def test_noise_is_measured_after_training_in_the_home_table(tmp_path: Path, tools: Path):
    row = Row('r', 'm', 'c.py', home='home', home_name='h')
    metrics = (Metric('clean', ''), Metric('white/0.1', ''), Metric('salt_pepper/0.02', ''))
    table = Table('noisy', '', metrics, (row,), noise=True)
    (job,) = plan_jobs(table, [row], [2], tmp_path / 'out', tmp_path)
    assert job.training.folder == tmp_path / 'out' / 'home' / 'h' / 'seed_2'
    assert describe_job(job, tools).count('.py ') == 4  # two programs, each with a config
    assert run_jobs([job], tools, nothing) == []
    result = json.loads((tmp_path / 'out' / 'noisy' / 'r' / 'seed_2' / 'result.json').read_text())
    assert result['measures'] == {'clean': 7.0, 'white/0.1': 5.0, 'salt_pepper/0.02': 6.0}
    assert job.done
    job.noise.result.unlink()
    run_jobs([job], tools, nothing)
    assert len(calls(job)) == 1


def test_what_another_process_runs_is_left_to_it(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr('mmshufflemix.reproduce.run.PATIENCE', 0.1)
    jobs = plan(tmp_path)
    with hold_lock(jobs[0].training.lock) as descriptor:
        assert descriptor is not None
        assert run_jobs(jobs, tools, nothing) == []
    assert [job.done for job in jobs] == [False, True]
    assert 'half seed 0 is being run by another process' in capsys.readouterr().out


def test_two_processes_share_the_work(tmp_path: Path, tools: Path):
    jobs = plan(tmp_path, (0, 1, 2))
    context = multiprocessing.get_context('fork')
    workers = [context.Process(target=run_jobs, args=(jobs, tools, nothing)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert [len(calls(job)) for job in jobs] == [1] * 6


def test_rows_are_chosen_by_method_and_name(tmp_path: Path):
    table = tiny_table(tmp_path / 'c.py')
    assert [row.name for row in choose_rows(table)] == ['half', 'most']
    assert [row.name for row in choose_rows(table, ['other'])] == ['most']
    assert [row.name for row in choose_rows(table, None, ['h*'])] == ['half']
    with pytest.raises(ValueError, match="has no method 'shuffle'; choose from shufflemix, other"):
        choose_rows(table, ['shuffle'])
    with pytest.raises(ValueError, match=r"no row of tiny_job matches 'z\*'; there are half, most"):
        choose_rows(table, None, ['z*'])
    with pytest.raises(ValueError, match='of these methods and has such a name'):
        choose_rows(table, ['other'], ['half'])


def test_what_the_tool_sets_itself_is_refused(tmp_path: Path, tools: Path):
    with pytest.raises(ValueError, match='sets randomness.seed; use --seeds'):
        plan(tmp_path, (0,), randomness__seed=3)
    for seed in (-1, 2**32):
        with pytest.raises(ValueError, match=rf'seeds must lie in \[0, 2\^32\), got {seed}'):
            plan(tmp_path, (seed,))


@pytest.mark.parametrize('options', [{'train_cfg': 3}, {'train_cfg__max_epochs': 0}])
def test_options_that_leave_no_training_are_refused(
    tmp_path: Path, tools: Path, options: dict[str, object]
):
    with pytest.raises(ValueError, match='but a row needs training by epochs'):
        plan(tmp_path, **options)


def test_the_content_of_named_files_is_part_of_the_settings(tmp_path: Path, tools: Path):
    """A graph that the first training builds counts from then on."""
    graph = tmp_path / 'graph.npz'

    def planned() -> list[Job]:
        return plan(tmp_path, model__head__label_graph=str(graph))[:1]

    jobs = planned()
    fields = dict(classes=['a', 'b'], counts=[2, 1], cooccurrence=[[0, 1], [1, 0]])
    save_label_graph(graph, make_label_graph({**fields, 'embeddings': [[1.0], [2.0]]}))
    assert run_jobs(jobs, tools, nothing) == []
    assert json.loads(jobs[0].training.result.read_text())['class_vectors'] == 'unknown'
    check_settings(planned()[0].steps)
    save_label_graph(graph, make_label_graph({**fields, 'embeddings': [[1.0], [3.0]]}))
    with pytest.raises(ValueError, match='other settings .*SHA-256 of model.head.label_graph'):
        check_settings(planned()[0].steps)


def test_a_stopped_process_stops_its_training(tmp_path: Path, tools: Path):
    (tools / 'train.py').write_text(
        'import os, pathlib, sys, time\n'
        "pathlib.Path(sys.argv[3] + '.pid').write_text(str(os.getpid()))\n"
        'time.sleep(100)\n'
    )
    (job, _) = plan(tmp_path)

    def run() -> None:
        end_on_signals()
        run_jobs([job], tools, nothing)

    worker = multiprocessing.get_context('fork').Process(target=run)
    worker.start()
    path = Path(f'{job.training.folder}.pid')
    end = time.monotonic() + 60
    while not (path.is_file() and path.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    worker.terminate()
    worker.join(60)
    assert worker.exitcode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(path.read_text()), 0)

"""tools/report.py."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.test_page.test_page import Tags
from tests.test_report.runs import (
    COLOUR,
    NAMES,
    multi_label_records,
    write_config,
    write_run,
    write_start,
)
from tests.tiny_job import write_job
from tests.tool_runner import call_tool, fail_tool, run_tool


def headings(page: str) -> list[str]:
    return re.findall(r'<h2>(.*?)</h2>', page)


def test_a_whole_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / 'run')
    thresholds = tmp_path / 'thresholds.json'
    thresholds.write_text(json.dumps(dict.fromkeys(NAMES, 0.25)))
    out = tmp_path / 'deep' / 'page.html'
    call_tool('report', folder, '-o', out, '--thresholds', thresholds, '--top', '2')
    page = out.read_text()
    parsed = Tags(page)
    assert parsed.open == []
    assert {'script', 'link', 'b'}.isdisjoint(tag for tag, _ in parsed.tags)
    for text in ('mine', 'finished, 3 epochs', '30.00 (epoch 3)', 'ShuffleMix(alpha=2.0)', '5'):
        assert any(text in found for found in parsed.texts)
    titles = headings(page)
    assert titles[0] == 'What is missing'
    assert titles[1:6] == [
        'Curves',
        'Classes',
        'Scores',
        'Worst false positives',
        'Worst false negatives',
    ]
    assert 'Mistakes: &lt;b&gt;dog&lt;/b&gt;' in titles
    assert titles[-2:] == ['Thresholds', 'Config']
    sources = [attributes['src'] for tag, attributes in parsed.tags if tag == 'img']
    # Three curves, bars, histograms, calibration; 2 + 2 mistakes overall and for 3 classes.
    assert len(sources) == 3 + 3 + 4 * 4
    assert all(source.startswith('data:image/') for source in sources)
    # No checkpoint is the only thing that is missing.
    assert capsys.readouterr().err.splitlines() == [
        'note: The folder holds no complete checkpoint.'
    ]
    assert os.listdir(out.parent) == ['page.html']


def test_classes_are_sorted_and_ap_leaves_difficult_cells_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / 'run', images=40)
    call_tool('report', folder)
    page = (folder / 'report.html').read_text()
    part = page.split('<h2>Classes</h2>')[1].split('</section>')[0]
    cells = re.findall(r'<td[^>]*>(.*?)</td>', part)
    rows = [cells[start : start + 8] for start in range(0, len(cells), 8)]
    records = multi_label_records([''] * 40)
    expected = []
    for k, name in enumerate(('cat', '&lt;b&gt;dog&lt;/b&gt;', '$owl')):
        counted = [r for r in records if k not in r['gt_label_difficult']]
        ranked = sorted(counted, key=lambda r: -r['pred_score'][k])
        hits = [place for place, r in enumerate(ranked, 1) if k in r['gt_label']]
        ap = np.mean([order / place for order, place in enumerate(hits, 1)])
        difficult = len(records) - len(counted)
        expected.append((ap, [name, str(len(hits)), str(difficult), f'{100 * ap:.1f}']))
    assert [row[:4] for row in rows] == [row for _, row in sorted(expected)]


def test_a_run_that_goes_on_without_validation_or_predictions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_config(tmp_path, max_epochs=9)
    path = tmp_path / '20260101_000000' / 'vis_data' / 'scalars.json'
    path.parent.mkdir(parents=True)
    path.write_text(
        '{"loss": 2, "epoch": 1, "iter": 5, "step": 5}\nxx\n'
        '{"loss": NaN, "epoch": 2, "iter": 10, "step": 10}\n{"loss": Infinity, "epoch": 3, '
        '"iter": 15, "step": 15}\n'
    )
    call_tool('report', tmp_path)
    page = (tmp_path / 'report.html').read_text()
    assert headings(page) == ['What is missing', 'Curves', 'Config']
    assert 'not finished: epoch 3 of 9 is the last one logged' in page
    notes = capsys.readouterr().err
    assert 'No validation was logged' in notes
    assert 'The loss was no finite number at 2 of 3 logged steps, first at epoch 2.00' in notes
    assert f'python tools/test.py {tmp_path}/mine.py CHECKPOINT --out {tmp_path}/pred' in notes


def test_predictions_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that were found leave a note, those that were given are an error."""
    folder = write_run(tmp_path / 'run')
    write_config(folder, max_epochs=3, names=('a', 'b'))
    call_tool('report', folder)
    assert '3 scores for each image but the run has 2 classes' in capsys.readouterr().err
    assert 'Classes' not in headings((folder / 'report.html').read_text())
    with pytest.raises(ValueError, match='has 3 scores for each image but the run has 2 classes'):
        call_tool('report', folder, '--predictions', folder / 'predictions.json')


def test_without_a_config_classes_are_numbers_and_no_picture_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path / 'run')
    (folder / 'mine.py').write_text('raise RuntimeError(1)\n')
    call_tool('report', folder)
    notes = capsys.readouterr().err
    assert 'The config cannot be read' in notes
    assert 'numbered from 0' in notes
    assert 'outside of any known data folder' in notes
    page = (folder / 'report.html').read_text()
    assert 'image/jpeg' not in page
    assert 'Mistakes: 2' in page
    call_tool('report', folder, '--pictures', folder)
    assert 'image/jpeg' in (folder / 'report.html').read_text()


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / 'runs' / 'one')
    empty = tmp_path / 'empty'
    empty.mkdir()
    for arguments, message in (
        ([tmp_path / 'nope'], 'is no folder'),
        ([empty], 'holds no log of a training'),
        ([folder.parent], 'its sub-folders have some: one'),
        ([folder, '--top', '0'], 'top must be at least 1'),
        ([folder, '--predictions', tmp_path / 'x.json'], 'do not exist'),
        ([folder, '--thresholds', tmp_path / 'x.json'], 'do not exist'),
        ([folder, '--config', tmp_path / 'x.py'], 'does not exist'),
        ([folder, '-o', tmp_path], 'which is a folder'),
    ):
        fail_tool('report', *arguments)
        error = capsys.readouterr().err
        assert error.startswith('error: ')
        assert message in error
        assert error.count('\n') == 1
    assert not list(tmp_path.rglob('*.html'))


@pytest.mark.slow
def test_a_real_single_label_run_that_was_resumed(tmp_path: Path) -> None:
    config, folder = write_job(tmp_path), tmp_path / 'run'
    for epochs, options in (('2', []), ('3', ['--resume'])):
        epoch_option = ['--cfg-options', f'train_cfg.max_epochs={epochs}']
        run_tool('train', config, '--work-dir', folder, *options, *epoch_option)
    predictions = folder / 'predictions.json'
    run_tool('test', config, folder / 'epoch_3.pth', '--work-dir', folder, '--out', predictions)
    call_tool('report', folder)
    page = (folder / 'report.html').read_text()
    assert headings(page)[:4] == ['Curves', 'Classes', 'Confusions', 'Calibration']
    records = json.loads(predictions.read_text())
    right = np.mean([record['pred_label'] == record['gt_label'] for record in records])
    assert f'12 images: top-1 {100 * right:.2f}' in page
    assert 'finished, 3 epochs' in page
    assert 'in 2 starts' in page
    assert f'{100 * right:.2f} (epoch 3)' in page


@pytest.fixture
def browser() -> str:
    """Return a Chromium, or skip."""
    names = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f'no browser: none of {", ".join(names)} is installed')
    return found


@pytest.mark.slow
@pytest.mark.parametrize('width', [1000, 420])
def test_a_browser_shows_all_of_it(tmp_path: Path, browser: str, width: int) -> None:
    """Thumbnails have a colour that nothing else has, and charts a blue that fills bars."""
    folder = write_run(tmp_path / 'run')
    call_tool('report', folder, '--top', '2')
    page = folder / 'report.html'
    options = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars']
    options += [f'--user-data-dir={tmp_path / "browser"}', f'--window-size={width},7000']

    def show(*more: str) -> bytes:
        command = [browser, *options, *more, page.as_uri()]
        return subprocess.run(command, capture_output=True, timeout=120, check=True).stdout

    assert headings(show('--dump-dom').decode()) == headings(page.read_text())
    show(f'--screenshot={tmp_path / "shot.png"}')
    pixels = np.asarray(Image.open(io.BytesIO((tmp_path / 'shot.png').read_bytes())).convert('RGB'))
    assert pixels.shape[1] == width
    magenta = (np.abs(pixels.astype(int) - COLOUR) < 25).all(axis=2).sum()
    thumbnails = page.read_text().count('data:image/jpeg')
    assert thumbnails == 16
    # Rounded corners take a few pixels of each.
    assert 0.97 < magenta / (thumbnails * 160 * 120) <= 1
    blue = (np.abs(pixels.astype(int) - (0x1B, 0x57, 0xB5)) < 25).all(axis=2).sum()
    assert blue > 2000
    below = pixels[int(np.flatnonzero((pixels < 250).any(axis=(1, 2)))[-1]) + 1 :]
    assert len(below) > 20, 'the window is too low to show the whole page'


def test_start_names_are_no_times(tmp_path: Path) -> None:
    """MMEngine's folders are times; others are shown as they are."""
    write_config(tmp_path, max_epochs=1)
    write_start(tmp_path, 'first', [1])
    call_tool('report', tmp_path)
    assert 'started first' in (tmp_path / 'report.html').read_text()


def test_the_rate_of_a_resumed_run_is_the_logged_one(tmp_path: Path) -> None:
    """The checkpoint's rate goes on when the config has another."""
    config = write_config(tmp_path, max_epochs=3)
    optimizer = "optim_wrapper = dict(optimizer=dict(type='SGD', lr=7.0), accumulative_counts=2)\n"
    config.write_text(config.read_text() + optimizer)
    write_start(tmp_path, '20260101_000000', [1, 2])
    write_start(tmp_path, '20260102_000000', [3])
    call_tool('report', tmp_path)
    expected = 'SGD(lr=7.0), 2 batches a step by the config; highest learning rate logged: 0.1'
    assert expected in (tmp_path / 'report.html').read_text()


def test_time_and_starts_are_those_of_the_curves(tmp_path: Path) -> None:
    """Two older starts, then a run from epoch 1 on, which was resumed once."""
    write_config(tmp_path, max_epochs=2)
    for day, epoch in ((1, 1), (2, 2), (3, 1), (4, 2)):
        start = f'2026010{day}_000000'
        write_start(tmp_path, start, [epoch])
        (tmp_path / start / f'{start}.log').write_text(
            '2026/01/01 00:00:00 - mmengine - INFO - begin\n'
            f'2026/01/01 00:00:0{day} - mmengine - INFO - end\n'
        )
    call_tool('report', tmp_path)
    page = (tmp_path / 'report.html').read_text()
    assert '7 s in 2 starts, started 2026-01-03 00:00' in page

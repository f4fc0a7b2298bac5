"""The data set check as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.cli import run_cli
from tests.test_dataset_check.folders import smooth, write_json_folder
from tests.tiny_job import ROOT
from tests.tool_runner import load_tool
from tests.voc_tree import write_voc_tree

CLASSES = ('cat', '<b>dog</b>', 'tree')
ROWS = [(f'{index}.png', [index % 3, 2] if index % 3 < 2 else [2]) for index in range(40)]
CLEAN = {'train': ROWS, 'val': [(f'v{name}', ids) for name, ids in ROWS]}


def run(*arguments: object) -> int:
    """Run the tool in this process; the exit code."""
    tool = load_tool('check_dataset')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', ['check_dataset', *map(str, arguments)])
        try:
            run_cli(tool.main)
        except SystemExit as stop:
            return int(stop.code or 0)
    return 0


def ordinary(root: Path, splits: dict = CLEAN) -> Path:
    """A folder with warnings but no error."""
    write_json_folder(root, splits, CLASSES, pictures=False)
    for seed, (name, _) in enumerate(row for rows in splits.values() for row in rows):
        smooth(seed).save(root / 'images' / name)
    return root


def test_life_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ordinary(tmp_path / 'set')
    assert run(root) == 0
    text = capsys.readouterr().out
    assert 'train        40        3              1.68               0' in text
    assert '0 errors, 2 warnings' in text  # every picture has a tree
    assert run(root, '--strict') == 1
    assert 'error: ' in capsys.readouterr().err

    # Break it: a leak, a cut file, a wrong label.
    images = root / 'images'
    (images / 'v0.png').write_bytes((images / '0.png').read_bytes())
    (images / '1.png').write_bytes((images / '1.png').read_bytes()[:999])
    content = json.loads((root / 'val.json').read_text())
    content['data_list'][3]['gt_label'] = ['tre']
    (root / 'val.json').write_text(json.dumps(content))
    page, record = tmp_path / 'out' / 'page.html', tmp_path / 'out' / 'all.json'
    assert run(root, '-o', page, '--json', record) == 1
    streams = capsys.readouterr()
    assert 'error    train: pictures that cannot be decoded (1): 1.png (' in streams.out
    assert "error    val: labels that are not in the classes (1): v3.png (row 4: 'tre')" in (
        streams.out
    )
    assert 'other split has too (1): train 0.png = val v0.png' in ' '.join(streams.out.split())
    assert streams.err.strip().endswith(f'error: {root} has 3 errors, listed above')
    found = json.loads(record.read_text())
    assert (found['errors'], found['splits']['train']['pictures']) == (3, 40)
    assert found['splits']['train']['counts'] == [14, 13, 40]
    assert found['splits']['train']['cooccurrence'][0] == [0, 0, 14]
    assert [row['name'] for row in found['equal_pictures'][0]] == ['0.png', 'v0.png']
    html = page.read_text()
    assert '<b>dog' not in html
    assert '&lt;b&gt;dog&lt;/b&gt;' in html
    for title in ('Findings', 'Classes that occur together', 'The same picture in several splits'):
        assert f'{title}</h2>' in html

    # Labels alone, and the same again.
    assert run(root, '--no-pictures') == 1
    assert '1 error, 1 warning (pictures were not looked at)' in capsys.readouterr().out
    again, record_again = tmp_path / 'page2.html', tmp_path / 'all2.json'
    assert run(root, '-o', again, '--json', record_again, '--workers', 3) == 1
    assert again.read_bytes() == page.read_bytes()
    assert record_again.read_bytes() == record.read_bytes()
    assert not list(tmp_path.rglob('*unfinished*'))


def test_config_with_exit_codes_of_a_process(tmp_path: Path) -> None:
    images = {f'{i}': [('cat', False), ('dog', i % 2 == 0)] for i in range(12)}
    tree = write_voc_tree(
        tmp_path / 'VOC2007', images, {'trainval': list(images)[:6], 'test': list(images)[5:]}
    )
    command = [sys.executable, str(ROOT / 'tools' / 'check_dataset.py')]
    command += [str(ROOT / 'configs' / 'voc07' / 'resnet101_baseline.py'), '--cfg-options']
    command += [f'{name}_dataloader.dataset.data_root={tree}' for name in ('train', 'val', 'test')]
    environment = {**os.environ, 'OMP_NUM_THREADS': '1'}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1, done.stderr
    assert '(1): train 5.jpg = val/test 5.jpg' in done.stdout
    assert done.stderr.strip().splitlines()[-1].endswith('has 1 error, listed above')


def test_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 1
    assert 'has no data set; expected' in capsys.readouterr().err
    assert run(tmp_path / 'none.py') == 1
    assert 'does not exist' in capsys.readouterr().err
    assert run(tmp_path, '--workers', 0) == 2
    assert run(tmp_path, '--cfg-options', 'a=1') == 2
    assert run(ordinary(tmp_path / 'set'), '-o', tmp_path) == 1
    assert 'which is a folder' in capsys.readouterr().err


def test_page_of_many_classes_and_of_single_labels(tmp_path: Path) -> None:
    """A class with a name of its own kind; more classes than the charts have room for."""
    names = [f'class ${index}_$' for index in range(130)]
    rows = [(f'{index}.png', [index]) for index in range(130)]
    root = write_json_folder(tmp_path / 'many', {'train': rows}, names)
    assert run(root, '-o', tmp_path / 'many.html') == 0
    html = (tmp_path / 'many.html').read_text()
    assert 'The chart has the first 120.' in html
    assert html.count('class $129_$') >= 2
    folder = tmp_path / 'single' / 'train'
    for index in range(4):
        (folder / f'c{index % 2}').mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(index).integers(0, 256, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f'c{index % 2}' / f'{index}.png')
    config = tmp_path / 'single.py'
    config.write_text(
        f"train_dataloader = dict(dataset=dict(type='CustomDataset', data_root='{folder}'))\n"
    )
    assert run(config, '-o', tmp_path / 'single.html') == 0
    assert 'Classes that occur together' not in (tmp_path / 'single.html').read_text()


def test_real_photographs(shared_data: Path, tmp_path: Path) -> None:
    """COCO's 100 photographs have rare classes and nothing worse."""
    folder = shared_data / 'coco_subset'
    if not folder.is_dir():
        pytest.skip(f'no {folder}')
    record = tmp_path / 'coco.json'
    assert run(folder, '--json', record) == 0
    found = json.loads(record.read_text())
    assert found['errors'] == 0
    assert {one['kind'] for one in found['findings']} == {'few-positives'}
    annotations = json.loads((folder / 'annotations' / 'instances_val2017.json').read_text())
    persons = {e['image_id'] for e in annotations['annotations'] if e['category_id'] == 1}
    assert found['splits']['val2017']['counts'][0] == len(persons)
    labels = {(e['image_id'], e['category_id']) for e in annotations['annotations']}
    assert sum(found['splits']['val2017']['counts']) == len(labels)

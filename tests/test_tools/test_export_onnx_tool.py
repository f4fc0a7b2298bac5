"""tools/export_onnx.py and tools/onnx_predict.py."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from mmengine.config import Config
from mmpretrain.registry import MODELS
from PIL import Image

from mmshufflemix import __version__
from mmshufflemix.export import run as export_run
from mmshufflemix.inference import MultiLabelInferencer
from mmshufflemix.inference.build import build_model
from tests.test_inference.models import CLASSES, write_model, write_pictures
from tests.tiny_job import ROOT
from tests.tool_runner import call_tool

THRESHOLDS = {'owl': 0.3, 'cat': 0.1, 'dog': 0.7}
EXAMPLE = ROOT / 'tools' / 'onnx_predict.py'


@pytest.fixture(scope='module')
def mlgcn(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """Config, checkpoint and exported file of a ResNet with the head of ML-GCN."""
    folder = tmp_path_factory.mktemp('mlgcn')
    config, checkpoint = write_model(folder, 'MLGCNHead')
    thresholds = folder / 'thresholds.json'
    thresholds.write_text(json.dumps({'thresholds': THRESHOLDS}))
    target = folder / 'x.onnx'
    call_tool('export_onnx', config, checkpoint, '-o', target, '--threshold', thresholds)
    return config, checkpoint, target


def predict(path: Path, images: np.ndarray) -> np.ndarray:
    return onnxruntime.InferenceSession(path).run(['scores'], {'images': images})[0]


def test_scores_of_any_batch_are_those_of_the_model(mlgcn: tuple[str, str, Path]) -> None:
    config, checkpoint, path = mlgcn
    model = build_model(config, checkpoint, 'cpu')
    rng = np.random.default_rng(5)
    for count in (1, 2, 5):
        images = rng.uniform(0, 255, (count, 3, 24, 32)).astype(np.float32)
        mean, std = (np.array(x).reshape(3, 1, 1) for x in ([120, 110, 100], [60, 55, 50]))
        inputs = torch.from_numpy(((images - mean) / std).astype(np.float32))
        with torch.no_grad():
            logits = model.head(model.extract_feat(inputs)).numpy()
        expected = 1 / (1 + np.exp(-logits))
        np.testing.assert_allclose(predict(path, images), expected, atol=1e-5)


def test_label_branch_is_folded(mlgcn: tuple[str, str, Path]) -> None:
    config, checkpoint, path = mlgcn
    graph = onnx.load(path).graph
    shapes = [tuple(item.dims) for item in graph.initializer]
    assert (3, 32) in shapes or (32, 3) in shapes
    # Neither adjacency, class vectors nor the two graph convolutions.
    assert not {(3, 3), (3, 5), (5, 8), (8, 32)} & set(shapes)
    assert [node.op_type for node in graph.node if node.op_type in ('MatMul', 'Gemm')] == ['Gemm']
    values = [onnx.numpy_helper.to_array(item) for item in graph.initializer]
    folded = build_model(config, checkpoint, 'cpu').head.fold().fc.weight.detach().numpy()
    found = [value for value in values if value.shape in ((3, 32), (32, 3))]
    assert any(np.allclose(v if v.shape == (3, 32) else v.T, folded, atol=1e-6) for v in found)


def test_metadata(mlgcn: tuple[str, str, Path]) -> None:
    proto = onnx.load(mlgcn[2])
    onnx.checker.check_model(proto)
    meta = {entry.key: entry.value for entry in proto.metadata_props}
    assert json.loads(meta['class_names']) == list(CLASSES)
    assert json.loads(meta['thresholds']) == [THRESHOLDS[name] for name in CLASSES]
    assert json.loads(meta['input_size']) == [24, 32]
    assert json.loads(meta['mean']) == [120, 110, 100]
    assert json.loads(meta['std']) == [60, 55, 50]
    assert meta['resize'] == 'stretch to height 24 and width 32 (bicubic, without antialiasing)'
    assert (meta['task'], meta['mmshufflemix_version']) == ('multi-label', __version__)
    assert str(ROOT).encode() not in mlgcn[2].read_bytes()
    assert not list(mlgcn[2].parent.glob('*unfinished*'))


def test_example_agrees_with_the_inferencer(mlgcn: tuple[str, str, Path], tmp_path: Path) -> None:
    config, checkpoint, path = mlgcn
    # Of the network's own size, so that no filter of another library comes in.
    pictures = write_pictures(tmp_path, 3, size=(32, 24))
    done = subprocess.run(
        [sys.executable, EXAMPLE, path, *pictures], capture_output=True, text=True, check=True
    )
    infer = MultiLabelInferencer(config, checkpoint, 'cpu', THRESHOLDS)
    for line, picture, result in zip(
        done.stdout.splitlines(), pictures, infer(pictures), strict=True
    ):
        pairs = zip(result['names'], result['scores'], strict=True)
        labels = ', '.join(f'{name} {score:.3f}' for name, score in pairs) or 'no label'
        assert line == f'{picture}: {labels}'


def test_example_needs_only_three_packages() -> None:
    tree = ast.parse(EXAMPLE.read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {item.name.split('.')[0] for item in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).split('.')[0])
    assert found - set(sys.stdlib_module_names) == {'numpy', 'onnxruntime', 'PIL'}
    assert len(EXAMPLE.read_text().splitlines()) < 100


def test_example_goes_on_after_a_bad_picture(
    mlgcn: tuple[str, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = write_pictures(Path('in'), 2)
    Path('cut.png').write_bytes(Path(first).read_bytes()[:200])
    Path('text.jpg').write_text('no picture')
    command = [sys.executable, EXAMPLE, mlgcn[2], first, 'cut.png', 'gone.jpg', 'text.jpg', 'in']
    done = subprocess.run([*command, second], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert [line.split(':')[0] for line in done.stdout.splitlines()] == [first, second]
    *skipped, error = done.stderr.splitlines()
    assert skipped[0].startswith('skipped cut.png: ')
    assert skipped[1:] == [
        'skipped gone.jpg: no such file or directory',
        'skipped text.jpg: cannot be decoded as a picture',
        'skipped in: is a folder; give the pictures in it, such as in/*.jpg',
    ]
    assert error.startswith('error: 4 of 6 pictures could not be read and were skipped (cut.png: ')
    assert 'Error' not in done.stderr
    done = subprocess.run([*command[:2], 'gone.onnx', first], capture_output=True, text=True)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith('error: this model cannot be used')
    assert 'gone.onnx' in line


def test_example_turns_pictures_as_testing_does(
    mlgcn: tuple[str, str, Path], tmp_path: Path
) -> None:
    config, checkpoint, path = mlgcn
    [picture] = write_pictures(tmp_path, 1, size=(24, 32))
    turn = Image.Exif()
    turn[0x0112] = 6  # orientation: show it turned by 90 degrees
    with Image.open(picture) as image:
        image.save(picture, exif=turn)
    done = subprocess.run(
        [sys.executable, EXAMPLE, path, picture], capture_output=True, text=True, check=True
    )
    [result] = MultiLabelInferencer(config, checkpoint, 'cpu', THRESHOLDS)(picture)
    pairs = zip(result['names'], result['scores'], strict=True)
    labels = ', '.join(f'{name} {score:.3f}' for name, score in pairs) or 'no label'
    assert done.stdout == f'{picture}: {labels}\n'


def test_preact_resnet_with_bgr_input_and_one_label(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, checkpoint = write_model(tmp_path, pipeline=[dict(type='LoadImageFromFile')])
    cfg = Config.fromfile(config)
    cfg.model = dict(
        type='ImageClassifier',
        backbone=dict(type='PreActResNet', depth=18, base_channels=4),
        neck=dict(type='GlobalAveragePooling'),
        head=dict(type='LinearClsHead', num_classes=3, in_channels=32),
    )
    cfg.test_dataloader.dataset.type = 'CustomDataset'
    cfg.data_preprocessor.to_rgb = False
    cfg.dump(config)
    model = MODELS.build(dict(cfg.model, data_preprocessor=dict(cfg.data_preprocessor)))
    torch.nn.init.normal_(model.head.fc.weight)
    torch.save({'state_dict': model.state_dict()}, checkpoint)
    path = tmp_path / 'new' / 'x.onnx'
    call_tool('export_onnx', config, checkpoint, '-o', path, '--size', 16)
    assert 'batch of 3' in capsys.readouterr().out
    picture = np.random.default_rng(2).integers(0, 256, (1, 3, 16, 16)).astype(np.float32)
    mean, std = (np.array(x).reshape(3, 1, 1) for x in ([120, 110, 100], [60, 55, 50]))
    inputs = torch.from_numpy(((picture[:, ::-1] - mean) / std).astype(np.float32))
    with torch.no_grad():
        model.eval()
        expected = torch.softmax(model.head(model.extract_feat(inputs)), 1).numpy()
    np.testing.assert_allclose(predict(path, picture), expected, atol=1e-5)
    meta = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert (json.loads(meta['thresholds']), meta['task']) == (None, 'single-label')
    assert json.loads(meta['class_names']) == ['0', '1', '2']


def test_nothing_is_written_if_scores_differ(
    mlgcn: tuple[str, str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = onnx.load(mlgcn[2])
    for item in graph.graph.initializer:
        if 3 in item.dims and 32 in item.dims:
            item.CopyFrom(
                onnx.numpy_helper.from_array(
                    onnx.numpy_helper.to_array(item) * np.float32(1.01), item.name
                )
            )
    monkeypatch.setattr(export_run, 'export_graph', lambda network, size: graph)
    with pytest.raises(ValueError, match='more than 0.0001, so nothing was written'):
        call_tool('export_onnx', *mlgcn[:2], '-o', tmp_path / 'x.onnx')
    assert not list(tmp_path.iterdir())


def test_bad_input(mlgcn: tuple[str, str, Path], tmp_path: Path) -> None:
    config, checkpoint, _ = mlgcn
    with pytest.raises(ValueError, match='must be an .onnx file'):
        call_tool('export_onnx', config, checkpoint, '-o', tmp_path / 'x.pth')
    with pytest.raises(FileNotFoundError, match='checkpoint'):
        call_tool('export_onnx', config, tmp_path / 'none.pth', '-o', tmp_path / 'x.onnx')
    with pytest.raises(ValueError, match='must be positive'):
        call_tool('export_onnx', config, checkpoint, '-o', tmp_path / 'x.onnx', '--size', 0)
    assert not list(tmp_path.iterdir())

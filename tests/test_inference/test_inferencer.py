"""The inferencer against the model called by hand."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmpretrain.registry import MODELS

from mmshufflemix.inference import MultiLabelInferencer
from mmshufflemix.inference.inferencer import in_batches
from tests.test_checkpoint import Evil
from tests.test_inference.models import CLASSES, PIPELINE, write_model, write_pictures


def scores_by_hand(config: str, checkpoint: str, image: np.ndarray) -> np.ndarray:
    """Resize, normalise and run the network without pipeline, preprocessor or inferencer."""
    cfg = Config.fromfile(config)
    model = MODELS.build(cfg.model).eval()
    model.load_state_dict(torch.load(checkpoint, weights_only=False)['state_dict'])
    resized = cv2.resize(image, (32, 24), interpolation=cv2.INTER_CUBIC)
    rgb = resized[..., ::-1].astype(np.float32)
    normal = (rgb - np.float32([120, 110, 100])) / np.float32([60, 55, 50])
    batch = torch.from_numpy(normal.transpose(2, 0, 1)[None].copy())
    with torch.no_grad():
        return torch.sigmoid(model.head(model.extract_feat(batch)))[0].numpy()


@pytest.mark.parametrize('kind', ['MultiLabelLinearClsHead', 'MLGCNHead'])
def test_scores_and_labels_by_hand(tmp_path: Path, kind: str) -> None:
    files = write_model(tmp_path, kind)
    paths = write_pictures(tmp_path / 'pictures')
    infer = MultiLabelInferencer(*files, device='cpu')
    results = infer(paths, batch_size=3)
    assert len(results) == 4
    for path, result in zip(paths, results, strict=True):
        expected = scores_by_hand(*files, cv2.imread(path))
        np.testing.assert_allclose(result['all_scores'], expected, rtol=1e-4)
        pairs = [(score, label) for label, score in enumerate(result['all_scores'].tolist())]
        kept = sorted([pair for pair in pairs if pair[0] >= 0.5], reverse=True)
        assert result['labels'] == [label for _, label in kept]
        assert result['scores'] == [score for score, _ in kept]
        assert result['names'] == [CLASSES[label] for _, label in kept]
    assert len({tuple(result['all_scores']) for result in results}) == 4


@pytest.fixture(scope='module')
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_model(tmp_path_factory.mktemp('model'))


@pytest.fixture(scope='module')
def infer(model: tuple[str, str]) -> MultiLabelInferencer:
    return MultiLabelInferencer(*model, device='cpu')


def test_arrays_are_bgr_and_folders_and_patterns_are_paths(
    infer: MultiLabelInferencer, tmp_path: Path
) -> None:
    paths = write_pictures(tmp_path)
    expected = [result['all_scores'] for result in infer(paths)]
    arrays = [cv2.imread(path) for path in paths]
    for inputs in (arrays, str(tmp_path), tmp_path, f'{tmp_path}/*.png', [paths[0], *arrays[1:]]):
        got = [result['all_scores'] for result in infer(inputs, batch_size=2)]
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    swapped = infer(arrays[0][..., ::-1].copy())[0]['all_scores']
    assert not np.allclose(swapped, expected[0], rtol=1e-3)


def test_thresholds(infer: MultiLabelInferencer, tmp_path: Path) -> None:
    path = write_pictures(tmp_path, 1)[0]
    scores = infer(path)[0]['all_scores']
    assert infer(path, threshold=0)[0]['labels'] == np.argsort(-scores).tolist()
    assert infer(path, threshold=1)[0]['labels'] == infer(path, threshold=1)[0]['scores'] == []
    by_class = {'cat': float(scores[0]), 'dog': float(scores[1]) + 1e-3, 'owl': 0.0}
    assert set(infer(path, threshold=by_class)[0]['names']) == {'cat', 'owl'}
    # A number of 32 bits reaches itself, as it does in the metric.
    assert 0 in infer(path, threshold=str(scores[0]))[0]['labels']


def test_no_one_and_three_classes_on_a_picture(tmp_path: Path) -> None:
    """Never the highest class of a picture that has none."""
    config, checkpoint = write_model(tmp_path)
    infer = MultiLabelInferencer(config, checkpoint, device='cpu')
    logits = iter(torch.tensor([[-3.0, -1.0, -2.0], [-1.0, 2.0, -0.5], [1.0, 3.0, 2.0]]))
    infer.model.head.register_forward_hook(lambda module, args, out: next(logits)[None])
    none, one, three = infer(write_pictures(tmp_path / 'pictures', 3), batch_size=1)
    assert (none['labels'], none['names'], none['scores']) == ([], [], [])
    assert (one['labels'], one['names']) == ([1], ['dog'])
    assert (three['labels'], three['names']) == ([1, 2, 0], ['dog', 'owl', 'cat'])
    sigmoids = [1 / (1 + np.exp(-logit)) for logit in (3, 2, 1)]
    np.testing.assert_allclose(three['scores'], sigmoids, rtol=1e-6)


def test_pictures_of_other_sizes_change_nothing(tmp_path: Path) -> None:
    files = write_model(tmp_path, pipeline=[PIPELINE[0], PIPELINE[2]])
    wide, tall = write_pictures(tmp_path / 'a', 2), write_pictures(tmp_path / 'b', 1, (33, 47))
    infer = MultiLabelInferencer(*files, device='cpu')
    alone = [infer(path)[0]['all_scores'] for path in [*wide, *tall]]
    together = [result['all_scores'] for result in infer([*wide, *tall], batch_size=8)]
    np.testing.assert_allclose(together, alone, rtol=1e-5)


def test_batches_hold_neighbours_of_one_shape() -> None:
    widths = [3, 3, 3, 4, 3, 4, 4]
    items = [{'inputs': torch.zeros(1, width), 'index': i} for i, width in enumerate(widths)]
    batches = [[item['index'] for item in batch] for batch in in_batches(items, 2)]
    assert batches == [[0, 1], [2], [3], [4], [5, 6]]


def test_drawings_and_data_samples(infer: MultiLabelInferencer, tmp_path: Path) -> None:
    paths = write_pictures(tmp_path / 'pictures', 2)
    samples = infer(paths, return_datasamples=True, show_dir=str(tmp_path / 'shown'))
    assert [sample.pred_score.shape for sample in samples] == [(3,), (3,)]
    assert sorted(path.name for path in (tmp_path / 'shown').iterdir()) == ['p0.png', 'p1.png']
    infer(cv2.imread(paths[0]), show_dir=str(tmp_path / 'array'))
    assert [path.name for path in (tmp_path / 'array').iterdir()] == ['array.png']


def test_class_names(tmp_path: Path) -> None:
    names = ['x', 'y', 'z']
    files = write_model(tmp_path / 'meta', classes=None, metainfo=dict(classes=names))
    assert MultiLabelInferencer(*files).classes == names
    files = write_model(tmp_path / 'none', classes=None)
    assert MultiLabelInferencer(*files).classes == ['0', '1', '2']
    assert MultiLabelInferencer(*files, classes=names).classes == names
    files = write_model(tmp_path / 'both', metainfo=dict(classes=names))
    assert MultiLabelInferencer(*files).classes == list(CLASSES)
    with pytest.raises(ValueError, match=r'3 classes but 2 names are known \(a, b\)'):
        MultiLabelInferencer(*files, classes=['a', 'b'])


def test_mistakes_in_pictures(infer: MultiLabelInferencer, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'no pictures found in \['):
        infer(str(tmp_path))
    with pytest.raises(ValueError, match=r'nope\.png: no such file'):
        infer(str(tmp_path / 'nope.png'))
    for array in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(TypeError, match=r'\(H, W, 3\) of uint8 in the channel order BGR'):
            infer(array)
    with pytest.raises(ValueError, match='batch_size must be at least 1, got 0'):
        infer(str(tmp_path), batch_size=0)
    (tmp_path / 'text.png').write_text('not a picture')
    with pytest.raises(ValueError, match=r'text\.png: cannot be decoded as a picture'):
        infer(str(tmp_path / 'text.png'))


def test_mistakes_in_models(model: tuple[str, str], tmp_path: Path) -> None:
    config, checkpoint = model
    with pytest.raises(FileNotFoundError, match="checkpoint 'nope.pth' does not exist"):
        MultiLabelInferencer(config, 'nope.pth')
    with pytest.raises(ValueError, match='needs a checkpoint'):
        MultiLabelInferencer(config)
    options = {'model.head.num_classes': 4}
    with pytest.raises(ValueError, match=r'2 weights .* other shapes .*\(3, 32\) for \(4, 32\)'):
        MultiLabelInferencer(config, checkpoint, options=options)
    with pytest.raises(ValueError, match=r'lacks \d+ weights of this model'):
        MultiLabelInferencer(config, checkpoint, options={'model.backbone.depth': 34})
    options = {
        'model.head.type': 'LinearClsHead',
        'test_dataloader.dataset.type': 'CustomDataset',
    }
    with pytest.raises(ValueError, match='LinearClsHead does not give several labels'):
        MultiLabelInferencer(config, checkpoint, options=options)
    state = torch.load(checkpoint, weights_only=False)['state_dict']
    broken = {name: value * float('nan') for name, value in state.items()}
    torch.save({'state_dict': broken}, tmp_path / 'nan.pth')
    with pytest.raises(ValueError, match='3 of 3 scores are NaN'):
        MultiLabelInferencer(config, str(tmp_path / 'nan.pth'))(np.zeros((9, 9, 3), np.uint8))
    built = MultiLabelInferencer(config, checkpoint).model
    assert MultiLabelInferencer(built).classes == list(CLASSES)
    with pytest.raises(ValueError, match='brings its weights'):
        MultiLabelInferencer(built, checkpoint)


def test_code_in_a_checkpoint_never_runs(model: tuple[str, str], tmp_path: Path) -> None:
    trace = tmp_path / 'trace'
    torch.save({'state_dict': {}, 'evil': Evil(trace)}, tmp_path / 'evil.pth')
    with pytest.raises(ValueError, match='asks for more than data'):
        MultiLabelInferencer(model[0], str(tmp_path / 'evil.pth'))
    assert not trace.exists()

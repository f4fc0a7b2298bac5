"""Heat maps against closed forms and planted patterns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.model import BaseModel
from PIL import Image
from torch.nn import functional as F

from mmshufflemix.explain import AnyHeadInferencer, heat_maps
from mmshufflemix.inference import MultiLabelInferencer
from tests.test_explain.colour_model import RESIZE, centre, colour_model, picture_of
from tests.test_inference.models import write_model

SIZE = (96, 128)
CROPPED = [dict(type='ResizeEdge', scale=64), dict(type='CenterCrop', crop_size=(56, 48))]


def above_half(model: BaseModel | None = None) -> MultiLabelInferencer:
    """Scores of colours that are nowhere are 0.5."""
    return AnyHeadInferencer(model or colour_model(), threshold=0.6)


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8)


def random_model(folder: Path, head: str, pooling: str) -> MultiLabelInferencer:
    """A ResNet with random weights, for inputs of the picture's size."""
    pipeline = [dict(type='LoadImageFromFile'), dict(type='PackInputs')]
    options = {'model.neck.type': pooling}
    files = write_model(folder, head, pipeline=pipeline)
    inferencer = MultiLabelInferencer(*files, options=options)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in inferencer.model.named_parameters():
            # Half of the channels at a norm are positive on average, so that many stay alive.
            if name.endswith('bias') and 'backbone' in name:
                parameter.normal_()
    return inferencer


def network_features(inferencer: MultiLabelInferencer, picture: np.ndarray) -> torch.Tensor:
    """The last map (C, h, w), computed apart from the code under test."""
    pixels = torch.from_numpy(picture[..., ::-1].copy()).permute(2, 0, 1).float()
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in ([120.0, 110, 100], [60.0, 55, 50]))
    with torch.no_grad():
        return inferencer.model.backbone(((pixels - mean) / std)[None])[0][0]


def enlarged(heat: torch.Tensor) -> np.ndarray:
    """The positive part, from 0 to 1, of the picture's size."""
    heat = heat.clamp(min=0)
    if not heat.any():
        return np.zeros(SIZE)
    heat = (heat - heat.min()) / (heat.max() - heat.min())
    big = F.interpolate(heat[None, None], SIZE, mode='bilinear')[0, 0]
    return ((big - big.min()) / (big.max() - big.min())).numpy()


@pytest.mark.parametrize('pooling', ['GlobalAveragePooling', 'GlobalMaxPooling'])
@pytest.mark.parametrize('head', ['MultiLabelLinearClsHead', 'MLGCNHead'])
def test_grad_cam_is_the_class_vector_times_the_map(
    head: str, pooling: str, tmp_path: Path, noise: np.ndarray
) -> None:
    """Average gradients of both poolings are the class vector, up to the number of positions."""
    inferencer = random_model(tmp_path, head, pooling)
    found = heat_maps(inferencer, noise, classes=inferencer.classes)
    features = network_features(inferencer, noise)
    with torch.no_grad():
        module = inferencer.model.head
        vectors = module.classifiers() if head == 'MLGCNHead' else module.fc.weight.detach()
    assert found.maps.shape == (3, *SIZE)
    assert found.maps.dtype == np.float32
    assert found.grid == tuple(features.shape[1:])
    for heat, vector in zip(found.maps, vectors, strict=True):
        cam = sum(weight * plane for weight, plane in zip(vector, features, strict=True))
        np.testing.assert_allclose(heat, enlarged(cam), atol=1e-3)
    assert found.maps.any()


def test_gradients_of_max_pooling_are_where_the_maxima_are(
    tmp_path: Path, noise: np.ndarray
) -> None:
    inferencer = random_model(tmp_path, 'MLGCNHead', 'GlobalMaxPooling')
    features = network_features(inferencer, noise)
    vectors = inferencer.model.head.classifiers().detach()
    found = heat_maps(inferencer, noise, classes=inferencer.classes, method='hirescam')
    for k, heat in enumerate(found.maps):
        cam = torch.zeros(features.shape[1:])
        for weight, plane in zip(vectors[k], features, strict=True):
            row, column = divmod(int(plane.argmax()), plane.shape[1])
            cam[row, column] += weight * plane[row, column]
        # What the maxima add up to is the score before the sigmoid.
        score = torch.sigmoid(cam.sum())
        assert found.scores[k] == pytest.approx(float(score), abs=1e-4)
        np.testing.assert_allclose(heat, enlarged(cam), atol=1e-3)
    assert found.maps.any()


@pytest.mark.parametrize('steps', [RESIZE, CROPPED, []], ids=['resize', 'crop', 'as it is'])
@pytest.mark.parametrize('method', ['gradcam', 'hirescam', 'layercam'])
@pytest.mark.parametrize('neck', ['GlobalMaxPooling', 'GlobalAveragePooling'])
def test_heat_lies_over_the_planted_pattern(
    steps: list[dict[str, Any]], method: str, neck: str
) -> None:
    patches = {'red': (40, 30, 64, 54), 'blue': (70, 96, 90, 116)}
    picture = picture_of(120, 160, **patches)
    found = heat_maps(colour_model(steps, neck=neck), picture, ['red', 'blue', 'green'], method)
    assert found.names == ['red', 'blue', 'green']
    np.testing.assert_array_equal(found.picture, picture[..., ::-1])
    for name, heat in zip(found.names, found.maps, strict=True):
        if name == 'green':
            assert not heat.any()
            continue
        top, left, bottom, right = patches[name]
        row, column = np.unravel_index(heat.argmax(), heat.shape)
        assert top <= row < bottom
        assert left <= column < right
        if method == 'gradcam':
            # Cells of the feature map are up to ten pixels of the picture wide.
            expected = ((top + bottom) / 2, (left + right) / 2)
            assert centre(heat) == pytest.approx(expected, abs=3)
            assert heat.max() > 0.95


def test_the_part_cropped_off_is_cold() -> None:
    picture = picture_of(120, 160, green=(50, 70, 70, 90), red=(0, 0, 8, 160))
    found = heat_maps(colour_model(CROPPED), picture, ['green', 'red'])
    left, top, right, bottom = found.seen
    # 120 x 160 becomes 64 x 85; of this, rows 8 to 56 and columns 14 to 70.
    assert (top, bottom) == pytest.approx((15, 105))
    assert (left, right) == pytest.approx((14 / 85 * 160, 70 / 85 * 160))
    inside = np.zeros((120, 160), bool)
    inside[15:105, 26:132] = True
    assert found.maps[0].any()
    assert not found.maps[:, ~inside].any()
    assert not found.maps[1].any()


def test_rows_that_the_preprocessor_pads_are_left_out() -> None:
    picture = picture_of(50, 70, red=(36, 48, 48, 60))
    found = heat_maps(colour_model([], pad_size_divisor=32), picture, ['red'])
    assert found.grid == (16, 24)
    assert found.maps.shape == (1, 50, 70)
    assert centre(found.maps[0]) == pytest.approx((42, 54), abs=2)


def test_after_an_unknown_transform_the_input_is_shown() -> None:
    steps = [*RESIZE, dict(type='RandomFlip', prob=1.0)]
    picture = picture_of(128, 96, red=(16, 8, 32, 24))
    found = heat_maps(colour_model(steps), picture, ['red'])
    assert found.unknown == ('RandomFlip',)
    assert found.picture.shape == (64, 48, 3)
    assert found.picture[12, 40].tolist() == [250, 20, 20]
    assert centre(found.maps[0]) == pytest.approx((12, 40), abs=1)


@pytest.mark.parametrize('orientation', range(1, 9))
def test_rotated_photographs_are_upright(orientation: int, tmp_path: Path) -> None:
    upright = Image.fromarray(picture_of(96, 128, red=(8, 80, 32, 104))[..., ::-1])
    inverse = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = upright.transpose(inverse[orientation]) if orientation > 1 else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / 'p.jpg', exif=exif, quality=95)
    found = heat_maps(above_half(), str(tmp_path / 'p.jpg'))
    assert found.names == ['red']
    assert found.picture.shape == (96, 128, 3)
    assert centre(found.maps[0]) == pytest.approx((20, 92), abs=3)


def test_a_side_shrinks_picture_and_maps() -> None:
    picture = picture_of(128, 96, red=(16, 8, 32, 24))
    found = heat_maps(colour_model(CROPPED), picture, ['red'], side=64)
    assert found.picture.shape == (64, 48, 3)
    assert found.maps.shape == (1, 64, 48)
    whole = heat_maps(colour_model(CROPPED), picture, ['red'])
    assert np.array(found.seen) == pytest.approx(np.array(whole.seen) / 2)
    assert centre(found.maps[0]) == pytest.approx(np.array(centre(whole.maps[0])) / 2, abs=0.5)
    assert heat_maps(colour_model(), picture, side=1000).picture.shape == (128, 96, 3)


def test_classes_are_those_predicted_or_the_highest() -> None:
    picture = picture_of(64, 48, red=(16, 8, 32, 24), green=(40, 8, 56, 24))
    infer = above_half()
    found = heat_maps(infer, picture)
    assert sorted(found.names) == ['green', 'red']
    assert found.reached == [True, True]
    assert found.scores == infer(picture)[0]['scores']
    grey = heat_maps(infer, picture_of(64, 48))
    assert grey.reached == [False]
    assert grey.scores == pytest.approx([0.5])
    assert not grey.maps.any()
    named = heat_maps(infer, picture, ['blue', 'red', 'blue'])
    assert (named.names, named.reached) == (['blue', 'red'], [False, True])


def test_one_label_an_image() -> None:
    head = dict(type='LinearClsHead', num_classes=3, in_channels=3)
    picture = picture_of(64, 48, green=(16, 8, 32, 24))
    model = colour_model(head=head)
    found = heat_maps(model, picture)
    assert found.names == ['green']
    scores = torch.softmax(torch.tensor([0.0, found_logit(picture), 0.0]), 0)
    assert found.scores == pytest.approx([float(scores[1])], abs=1e-3)
    assert centre(found.maps[0]) == pytest.approx((24, 16), abs=1)


def found_logit(picture: np.ndarray) -> float:
    red, green, blue = picture[24, 16, ::-1] / 255
    return float(green - 0.5 * (red + blue) - 0.2)


def test_data_sets_that_bring_rgb_get_rgb() -> None:
    """As CIFAR: no transform loads files, and the preprocessor swaps nothing."""
    model = colour_model()
    model.data_preprocessor.to_rgb = False
    model._config.test_dataloader.dataset.pipeline.pop(0)
    picture = picture_of(64, 48, red=(16, 8, 32, 24))
    found = heat_maps(above_half(model), picture)
    assert found.names == ['red']
    np.testing.assert_array_equal(found.picture, picture[..., ::-1])


@pytest.mark.parametrize(
    ('options', 'reason'),
    [
        (dict(method='magic'), "unknown method 'magic'; choose from gradcam, "),
        (dict(layer='layer9'), "unknown layer 'layer9'"),
        (dict(classes=['a', 'red', 'b']), "no class 'a', 'b'; its classes are red, green, blue"),
    ],
)
def test_mistakes_are_one_sentence(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        heat_maps(colour_model(), picture_of(64, 48), **options)


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('mmshufflemix.explain.methods.find_spec', lambda name: None)
    with pytest.raises(ImportError, match=r"'pip install -r requirements/explain\.txt'\.$"):
        heat_maps(colour_model(), picture_of(64, 48))


def test_a_model_built_by_hand_is_refused() -> None:
    model = colour_model()
    del model._config
    with pytest.raises(ValueError, match='the model does not know its config'):
        heat_maps(model, picture_of(64, 48))

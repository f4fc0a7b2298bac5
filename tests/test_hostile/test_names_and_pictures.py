"""Names and pictures of strangers, in all that is printed, drawn and written."""

from __future__ import annotations

import csv
import json
import os
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.evaluation.multi_label_table import format_rows, plain_cell
from mmshufflemix.evaluation.threshold_report import format_thresholds
from mmshufflemix.inference.sources import picture_fault
from mmshufflemix.label_graph import describe_label_graph, draw_label_graph
from mmshufflemix.label_graph.file import make_label_graph
from mmshufflemix.robustness import draw_robustness
from mmshufflemix.text import align_table, printable
from tests.test_hostile.test_annotations import STUDY
from tests.test_hostile.tool_call import Outcome, call_tool, error_of
from tests.test_inference.models import write_model, write_pictures

NAMES = ['=cmd|x', '\x1b]0;owned\x07red', 'a\nb;=1+1<script>$x$$']
SIGNS = ('=', '+', '-', '@', '\t', '\r', '\n')


def check_terminal(text: str) -> None:
    """Check that nothing steers the terminal."""
    assert [sign for sign in text if not sign.isprintable() and sign != '\n'] == []


def check_cells(path: Path) -> None:
    """Check that no cell begins a formula, whatever divides the cells."""
    for delimiter in ',;\t':
        with path.open(newline='') as file:
            for row in csv.reader(file, delimiter=delimiter):
                assert [cell for cell in row if cell.startswith(SIGNS)] == [], delimiter


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Outcome:
    """Call a tool that prints nothing to steer a terminal."""
    outcome = call_tool(capsys, *map(str, arguments))
    check_terminal(outcome.text)
    return outcome


def test_names_of_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config, checkpoint = write_model(tmp_path / 'model', classes=NAMES)
    pictures = write_pictures(Path('pictures'), 2)
    os.rename(pictures[0], 'pictures/=1\x1b[31m.png')
    os.rename(pictures[1], os.fsdecode(b'pictures/\xff.png'))
    arguments = [config, checkpoint, 'pictures', '--threshold', '0']
    outcome = run(capsys, 'predict', *arguments, '--out', 'p.csv', '--draw', 'drawn')
    assert outcome.code == 0
    assert 'red 0.' in outcome.out
    check_cells(Path('p.csv'))
    assert run(capsys, 'predict', *arguments, '--out', 'p.jsonl').code == 0
    paths = [json.loads(line)['path'] for line in Path('p.jsonl').read_text().splitlines()]
    assert all(os.path.isfile(path) for path in paths)
    for path in Path('drawn').iterdir():
        Image.open(path).load()
    assert len(list(Path('drawn').iterdir())) == 2
    assert run(capsys, 'explain', config, checkpoint, 'pictures', '-o', 'maps').code == 0


@pytest.mark.slow
def test_names_in_an_exported_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    onnx = pytest.importorskip('onnx', reason='needs the packages of the export')
    pytest.importorskip('onnxruntime', reason='needs the packages of the export')
    monkeypatch.chdir(tmp_path)
    picture = write_pictures(Path('pictures'), 1)[0]
    config, checkpoint = write_model(tmp_path / 'model', classes=[*NAMES[:2], 'torn\ud800'])
    options = ['-o', 'x.onnx', '--threshold', '0']
    assert run(capsys, 'export_onnx', config, checkpoint, *options).code == 0

    def predict(path: str) -> Outcome:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, 'argv', ['onnx_predict', path, picture])
            script = Path(__file__).parents[2] / 'tools' / 'onnx_predict.py'
            capsys.readouterr()
            code = 0
            try:
                exec(compile(script.read_text(), script, 'exec'), {'__name__': '__main__'})
            except SystemExit as end:
                code = 1
                print(end.code, file=sys.stderr)
        outcome = Outcome(code, *capsys.readouterr())
        check_terminal(outcome.text)
        return outcome

    assert 'red 0.' in predict('x.onnx').out
    proto = onnx.load('x.onnx')
    for name in ('class_names', 'thresholds', 'input_size', 'resize_rule'):
        for value in (None, '[' * 100_000, '{}', '\x1b[31m'):
            other = onnx.ModelProto.FromString(proto.SerializeToString())
            for entry in [entry for entry in other.metadata_props if entry.key == name]:
                other.metadata_props.remove(entry)
            if value is not None:
                other.metadata_props.add(key=name, value=value)
            Path('y.onnx').write_bytes(other.SerializeToString())
            assert len(error_of(predict('y.onnx'))) < 300
    tensor = proto.graph.initializer[0]
    tensor.ClearField('raw_data')
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key='location', value='../../../../../../../../etc/passwd')
    Path('y.onnx').write_bytes(proto.SerializeToString())
    error_of(predict('y.onnx'))
    Path('y.onnx').write_bytes(b'no graph')
    error_of(predict('y.onnx'))


def test_tables_and_drawings(tmp_path: Path) -> None:
    rows = [{'class': name, 'positives': 1, 'difficult': 0, 'AP': None} for name in NAMES]
    record = {
        'thresholds': dict.fromkeys(NAMES, 0.5),
        'positives': dict.fromkeys(NAMES, 1),
        'shared': [],
        'precision_not_reached': [],
    }
    graph = make_label_graph(
        {
            'classes': np.array(NAMES),
            'counts': np.array([4, 3, 2]),
            'cooccurrence': np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]]),
            'embeddings': np.eye(3),
            'source': np.array('\x1b[31m'),
        }
    )
    tables = [
        align_table([NAMES, NAMES]),
        format_rows(rows),
        format_thresholds(record),
        describe_label_graph(graph),
    ]
    for text in tables:
        check_terminal(text)
    assert [len(text.splitlines()) for text in tables[:3]] == [2, 4, 4]
    for ending in ('png', 'svg'):
        draw_label_graph(tmp_path / f'graph.{ending}', graph)
        study = {**STUDY, 'metric': 'x/$y$$'}
        draw_robustness(tmp_path / f'study.{ending}', {name: study for name in NAMES})
        assert (tmp_path / f'study.{ending}').stat().st_size > 1000
    for path in tmp_path.glob('*.svg'):
        assert '<script' not in path.read_text()


def test_formulas() -> None:
    assert [plain_cell(sign + '1') for sign in SIGNS] == [f"'{sign}1" for sign in SIGNS]
    assert plain_cell('a;=1;b;-2') == "a;'=1;b;'-2"
    assert plain_cell('well-known = 1;2 + 3') == 'well-known = 1;2 + 3'


def test_letters_that_scripts_need_stay() -> None:
    assert printable('\u0645\u06cc\u200c\u062e  \x1b[1m\u202e') == '\u0645\u06cc\u200c\u062e ?[1m?'


def chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack('>I', len(content)) + kind + content
        + struct.pack('>I', zlib.crc32(kind + content))
    )  # fmt: skip


def huge_png(side: int) -> bytes:
    """A PNG file whose header claims side x side pixels."""
    header = struct.pack('>IIBBBBB', side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(10**6))
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', pixels)


def test_pictures_that_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = Path(write_pictures(Path('in'), 1)[0])
    content = whole.read_bytes()
    grey, frame = np.zeros((20, 20), np.uint16), Image.new('RGB', (20, 20))
    Image.fromarray(grey).save('in/deep.png')
    frame.save('in/moving.webp', save_all=True, append_images=[frame.rotate(90)])
    good = {'p0.png', 'deep.png', 'moving.webp'}
    Path('in/folder.jpg').mkdir()
    bad = {
        'empty.png': b'',
        'text.png': b'hello',
        'torn.png': content[: len(content) // 2],
        'huge.png': huge_png(60_000),
        'endless.png': huge_png(2**31 - 1),
        'radiance.jpg': b'#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 30000 +X 30000\n',
        'program.jpg': b'%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage',
    }
    for name, data in bad.items():
        Path('in', name).write_bytes(data)
    os.mkfifo('in/pipe.png')
    os.symlink('loop.png', 'in/loop.png')
    config, checkpoint = write_model(tmp_path / 'model')
    call = ['predict', config, checkpoint, 'in', '--out', 'out.jsonl', '--draw', 'drawn']
    sentence = error_of(call_tool(capsys, *call))
    assert f'{len(bad) + 2} of {len(bad) + 2 + len(good)} pictures could not be read' in sentence
    lines = [json.loads(line) for line in Path('out.jsonl').read_text().splitlines()]
    assert {Path(line['path']).name for line in lines} == good
    assert {path.stem for path in Path('drawn').iterdir()} == {Path(n).stem for n in good}
    # The layout of folders by class: one class, its pictures good and bad.
    Path('data/images').mkdir(parents=True)
    Path('in').rename('data/images/cat')
    rows = [{'img_path': f'cat/{name}', 'gt_label': [0]} for name in sorted({*good, *bad})]
    text = json.dumps({'metainfo': {'classes': NAMES}, 'data_list': rows})
    Path('data/train.json').write_text(text)
    outcome = call_tool(capsys, 'check_dataset', 'data', '-o', 'x.html', '--json', 'x.json')
    error_of(outcome)
    check_terminal(outcome.text)
    assert '<script>$' not in Path('x.html').read_text()


def test_no_picture_starts_ghostscript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in our checks nor where a loader opens a picture by Pillow."""
    monkeypatch.setattr(EpsImagePlugin, 'gs_binary', 'gs')
    started = []
    monkeypatch.setattr(
        'subprocess.check_call', lambda *call, **_: started.append(call), raising=True
    )
    path = tmp_path / 'a.jpg'
    path.write_bytes(
        b'%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n'
    )
    picture_fault(str(path))
    assert started, 'the attack does not work, so that the test shows nothing'
    started.clear()
    use_safe_loading()
    assert 'Ghostscript' in str(picture_fault(str(path)))
    assert not started

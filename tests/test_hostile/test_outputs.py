"""Outputs are looked at before the work, and only some modules write files."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from mmshufflemix.files import (
    TEMPORARY_MARK,
    check_writable,
    new_folder,
    remove_leftovers,
    write_bytes,
    write_text,
)
from tests.image_trees import write_tiles
from tests.test_hostile.tool_call import call_tool, error_of
from tests.tiny_job import ROOT

# Nothing that these calls read exists, so that an error about the output came before the work.
CALLS = {
    'predict': ['c.py', 'c.pth', 'p.png', '--out', 'OUT.csv'],
    'predict --draw': ['c.py', 'c.pth', 'p.png', '--draw', 'OUT'],
    'explain': ['c.py', 'c.pth', 'p.png', '-o', 'OUT'],
    'export_onnx': ['c.py', 'c.pth', '-o', 'OUT.onnx'],
    'label_graph': ['c.py', '-o', 'OUT.npz'],
    'label_graph --plot': ['c.py', '-o', 'graph.npz', '--plot', 'OUT.png'],
    'lite0_weights': ['OUT.pth', '--source', 'c.pth'],
    'convert_official': ['c.pth', 'OUT.pth'],
    'tune_thresholds': ['r.json', '-o', 'OUT.json'],
    'check_dataset': ['c.py', '-o', 'OUT.html'],
    'check_dataset --json': ['c.py', '--json', 'OUT.json'],
    'convert_labels': ['l.csv', '-o', 'OUT.json'],
    'split_dataset': ['l.json', '-o', 'OUT'],
    'robustness': ['c.py', 'c.pth', '--out', 'OUT.json'],
    'robustness --plot': ['c.py', 'c.pth', '--plot', 'OUT.png'],
    'decision_boundary': ['--out', 'OUT.png'],
    'make_digits': ['--root', 'OUT'],
    'test': ['c.py', 'c.pth', '--out', 'OUT.json'],
}


@pytest.mark.parametrize('call', CALLS)
def test_an_output_is_refused_before_the_work(
    call: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path('file').write_text('kept')
    arguments = [argument.replace('OUT', 'file/out') for argument in CALLS[call]]
    sentence = error_of(call_tool(capsys, call.split()[0], *arguments))
    assert 'is a file and no folder' in sentence
    assert [path.name for path in tmp_path.iterdir()] == ['file']
    assert Path('file').read_text() == 'kept'


def test_tiles_are_not_unpacked_below_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_tiles(tmp_path / 'tiles')
    (tmp_path / 'file').write_text('kept')
    target = tmp_path / 'file' / 'out'
    assert 'no folder' in error_of(call_tool(capsys, 'unpack_cifar100', source, target))


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    for write in (check_writable, lambda path: write_bytes(path, b'x')):
        with pytest.raises(ValueError, match="pipe', which is no plain file"):
            write(pipe)
    assert pipe.is_fifo()


def test_the_longest_names_that_a_disk_takes(tmp_path: Path) -> None:
    for name in ('a' * 255, '\u00e4' * 127, '\u6f22' * 85):
        write_text(tmp_path / name, 'x')
    assert {path.read_text() for path in tmp_path.iterdir()} == {'x'}
    assert len(list(tmp_path.iterdir())) == 3


def test_names_that_are_no_text_can_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / 'x', os.fsdecode(b'\xff.png'))
    assert (tmp_path / 'x').read_bytes() == b'\\udcff.png'


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyError), new_folder(tmp_path / 'a') as folder:  # noqa: PT012
        (folder / 'x').write_text('x')
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / 'a') as folder:
        assert TEMPORARY_MARK in folder.name
        (folder / 'x').write_text('first')
        with pytest.raises(FileExistsError, match='exists already'):  # noqa: PT012
            with new_folder(tmp_path / 'b') as slow:
                (slow / 'x').write_text('slow')
                with new_folder(tmp_path / 'b') as fast:
                    (fast / 'x').write_text('fast')
    assert (tmp_path / 'a' / 'x').read_text() == 'first'
    assert (tmp_path / 'b' / 'x').read_text() == 'fast'
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a', 'b']


def test_leftovers_may_be_folders(tmp_path: Path) -> None:
    left = tmp_path / f'a{TEMPORARY_MARK}1'
    left.mkdir()
    (left / 'x').write_text('x')
    (tmp_path / f'b{TEMPORARY_MARK}1').write_text('x')
    (tmp_path / 'kept').write_text('x')
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ['kept']


# What may write otherwise than through mmshufflemix.files, and why no reader sees half of it.
ALLOWED = {
    'mmshufflemix/files.py': 'is the one place',
    'mmshufflemix/datasets/digits_files.py': 'fills a folder of new_folder',
    'mmshufflemix/datasets/unpack_tiles.py': 'fills a folder of new_folder',
    'mmshufflemix/dataset_split/output.py': 'moves files that write_text wrote',
    'mmshufflemix/config_dump.py': 'dumps to a text, not to a file',
    'mmshufflemix/reproduce/process.py': 'appends to a log',
    'mmshufflemix/reproduce/lock.py': 'opens a lock, which holds nothing',
    'mmshufflemix/reproduce/guard.py': 'moves a whole folder',
    'mmshufflemix/checkpoint_schemes.py': "PyTorch's download, under a temporary name too",
}
MEMORY = ('buffer', 'table', 'io')
"""Names of what is written to in memory, not on the disk."""
OWNERS = {'replace': 'os', 'move': 'shutil'}
"""Modules of functions whose names other objects have too."""
WRITERS = {
    'write_text', 'write_bytes', 'save', 'savez', 'savez_compressed', 'savetxt', 'savefig', 'dump',
    'imwrite', 'tofile', 'touch', 'rename', 'replace', 'mkstemp', 'mkdtemp', 'download_url_to_file',
    'NamedTemporaryFile', 'copy2', 'copyfile', 'copytree', 'move',
}  # fmt: skip


def writes(source: str) -> list[str]:
    """Name the calls in a module that write to the disk, as far as their names tell."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ''
        base = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ''
        given = [ast.unparse(argument) for argument in node.args]
        owner = OWNERS.get(name, base)
        if name in WRITERS and base == owner and not any(word in MEMORY for word in given):
            found.append(f'line {node.lineno}: {ast.unparse(node)[:60]}')
        opens = name == 'open' or (isinstance(node.func, ast.Name) and node.func.id == 'open')
        modes = [*node.args, *(key.value for key in node.keywords if key.arg == 'mode')]
        texts = [m.value for m in modes if isinstance(m, ast.Constant) and isinstance(m.value, str)]
        flags = any('O_CREAT' in text for text in given)
        if opens and (flags or any(set(text) & set('wax') and len(text) < 4 for text in texts)):
            found.append(f'line {node.lineno}: {ast.unparse(node)[:60]}')
    return found


def test_the_audit_finds_writers() -> None:
    lines = [
        "open(path, 'w')", "path.open('ab')", "path.open(mode='x')", 'torch.save(x, path)',
        'os.replace(a, b)', 'np.savez(path, a=a)', 'onnx.save(proto, path)', 'path.write_text(x)',
    ]  # fmt: skip
    assert [bool(writes(line)) for line in lines] == [True] * len(lines)
    other = ["open(path, 'rb')", "text.replace('a', 'b')", 'torch.save(x, buffer)', 'write_text(a)']
    assert [writes(line) for line in other] == [[]] * len(other)


def test_files_are_written_in_one_place() -> None:
    others = {}
    for folder in ('mmshufflemix', 'tools'):
        for path in (ROOT / folder).rglob('*.py'):
            name = path.relative_to(ROOT).as_posix()
            found = writes(path.read_text())
            if found and name not in ALLOWED:
                others[name] = found
    assert others == {}, 'write through mmshufflemix.files, or say in ALLOWED why not'
    stale = [name for name in ALLOWED if not writes((ROOT / name).read_text())]
    assert stale == [], 'these need no exception any more'

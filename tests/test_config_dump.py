"""What the Runner writes into the work folder, and what of the user lies there."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmengine.config import Config

from mmshufflemix.config_dump import keep_own_config
from tests.tiny_job import write_job
from tests.tool_runner import run_tool

OWN = "# the rate of my paper\n_base_ = ['base.py']\nlr = 0.1\n"


def written_to(config: Path, folder: Path) -> str:
    """Name of the file that MMEngine would write."""
    cfg = Config.fromfile(config)
    cfg.work_dir = str(folder)
    return Path(keep_own_config(cfg).filename).name


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / 'base.py').write_text('model = dict(depth=3)\n')
    path = tmp_path / 'mine.py'
    path.write_text(OWN)
    return path


def test_a_config_in_its_own_work_folder(own: Path, tmp_path: Path) -> None:
    assert written_to(own, tmp_path) == 'mine_merged.py'
    assert written_to(own, tmp_path / 'elsewhere') == 'mine.py'
    link = tmp_path / 'run'
    link.symlink_to(tmp_path)
    assert written_to(own, link) == 'mine_merged.py'


def test_no_file_that_is_there_is_replaced(own: Path, tmp_path: Path) -> None:
    cfg = Config.fromfile(own)
    cfg.work_dir = str(tmp_path)
    cfg.dump(tmp_path / 'mine_merged.py')
    assert written_to(own, tmp_path) == 'mine_merged.py'
    (tmp_path / 'mine_merged.py').write_text('mine = 1\n')
    assert written_to(own, tmp_path) == 'mine_merged_2.py'


def test_a_written_config_may_be_replaced(own: Path, tmp_path: Path) -> None:
    run = tmp_path / 'run'
    run.mkdir()
    Config.fromfile(own).dump(run / 'mine.py')
    assert written_to(own, run) == 'mine.py'
    assert written_to(run / 'mine.py', run) == 'mine.py'


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        (OWN, 'mine_merged.py'),
        ('lr = 0.1  # no, 0.2\n', 'mine_merged.py'),
        ("_base_ = 'base.py'\n", 'mine_merged.py'),
        ('lr = \n', 'mine.py'),
        ('broken = (\n', 'mine_merged.py'),
        ("text = '# no comment'\n", 'mine.py'),
    ],
)
def test_another_file_of_that_name(own: Path, tmp_path: Path, text: str, name: str) -> None:
    folder = tmp_path / 'configs'
    folder.mkdir()
    (folder / 'mine.py').write_text(text)
    assert written_to(own, folder) == name


@pytest.mark.parametrize(('text', 'name'), [('a: 1\n', 'a.yaml'), ('# b\na: 2\n', 'a_merged.yaml')])
def test_other_formats(tmp_path: Path, text: str, name: str) -> None:
    run = tmp_path / 'run'
    run.mkdir()
    (run / 'a.yaml').write_text(text)
    (tmp_path / 'a.yaml').write_text('a: 3\n')
    assert written_to(tmp_path / 'a.yaml', run) == name


def test_a_config_without_a_file(tmp_path: Path) -> None:
    cfg = Config(dict(work_dir=str(tmp_path)))
    assert keep_own_config(cfg) is cfg


def test_train_and_resume_in_the_folder_of_the_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_job(tmp_path)
    own = f'# mine\n{config.read_text()}'
    config.write_text(own)
    run_tool('train', config, '--work-dir', tmp_path, '--no-validate')
    assert config.read_text() == own
    assert "'tiny_merged.py' beside it" in capsys.readouterr().out
    merged = Config.fromfile(tmp_path / 'tiny_merged.py')
    assert merged.val_cfg is None
    # The written one can be given instead, and is then replaced as in any work folder.
    longer = ['--cfg-options', 'train_cfg.max_epochs=3']
    run_tool('train', tmp_path / 'tiny_merged.py', '--work-dir', tmp_path, '--resume', *longer)
    assert (tmp_path / 'epoch_3.pth').is_file()
    assert Config.fromfile(tmp_path / 'tiny_merged.py').train_cfg.max_epochs == 3
    run_tool('test', config, tmp_path / 'epoch_3.pth', '--work-dir', tmp_path)
    assert config.read_text() == own
    assert not list(tmp_path.glob('tiny_merged_merged*'))

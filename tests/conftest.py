"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope='session')
def shared_data() -> Path:
    """Return the folder of real data, or skip."""
    default = Path(__file__).resolve().parents[2] / 'shared' / 'data'
    folder = Path(os.environ.get('MMSHUFFLEMIX_DATA', default))
    if not folder.is_dir():
        pytest.skip(f'no real data: set MMSHUFFLEMIX_DATA to its folder ({folder} does not exist)')
    return folder

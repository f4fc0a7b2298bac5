"""Two processes on the CPU, as tools/dist_train.sh starts them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.settings import AUGMENTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each rank saw, by job."""
    folder = tmp_path_factory.mktemp('ranks')
    launch = ['torch.distributed.run', '--standalone', '--nproc_per_node=2']
    done = subprocess.run(
        [sys.executable, '-m', *launch, '-m', 'tests.integration.distributed_worker', folder],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f'rank{rank}.json').read_text()) for rank in range(2)]


@pytest.mark.parametrize('name', AUGMENTS)
def test_ranks_agree_although_each_draws_for_itself(ranks: list, name: str):
    first, second = (rank[name] for rank in ranks)
    assert first['weights'] == second['weights']
    assert first['mixed'] == second['mixed'] == [1] * 6
    assert not set(first['noise_seeds']) & set(second['noise_seeds'])
    if name != 'InputMixup':
        assert first['sites'] != second['sites']


def test_one_seed_for_all_ranks_means_the_same_draws(ranks: list):
    first, second = (rank['same draws'] for rank in ranks)
    for key in ('weights', 'sites', 'partners', 'noise_seeds'):
        assert first[key] == second[key]
    assert len(set(first['noise_seeds'])) == 6

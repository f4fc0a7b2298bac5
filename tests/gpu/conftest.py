"""One body for both devices: on the CPU it shows that the test itself is right."""

from __future__ import annotations

import pytest
import torch

ON_CUDA = pytest.param(
    'cuda',
    marks=[
        pytest.mark.gpu,
        pytest.mark.skipif(not torch.cuda.is_available(), reason='no CUDA device'),
    ],
)


@pytest.fixture(params=['cpu', ON_CUDA])
def device(request: pytest.FixtureRequest) -> str:
    """Name the device to test on."""
    return request.param


@pytest.fixture
def runner_device() -> str:
    """Name the device that MMEngine takes by itself."""
    return 'cuda' if torch.cuda.is_available() else 'cpu'

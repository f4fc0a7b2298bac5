from __future__ import annotations

import pytest

from tests.tool_runner import call_tool


@pytest.mark.parametrize(
    ('tool', 'arguments', 'message'),
    [
        ('label_graph', ['x.json', '--seed', '-1'], '--seed: must be a whole number from 0'),
        ('split_dataset', ['x.json', '-o', 'y', '--seed', '1.5'], '--seed: must be a whole number'),
        ('tune_thresholds', ['x.pkl', '--seed', '-1'], '--seed: must be a whole number from 0'),
        (
            'make_digits',
            ['--seed', str(2**31)],
            '--seed: must be a whole number from 0 to 2',
        ),
        ('demo', ['--seed', '-1'], '--seed: must be a whole number from 0'),
    ],
)
def test_numbers_out_of_range_are_refused_before_work(
    tool: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        call_tool(tool, *arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err

"""Report a run as one HTML file: curves, classes, worst mistakes with pictures, config."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import check_writable
from mmshufflemix.report import Sources, write_report


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('work_dir', type=Path, help='work folder of a run of tools/train.py')
    parser.add_argument(
        '-o', '--output', type=Path, help='the page to write (default: WORK_DIR/report.html)'
    )
    parser.add_argument(
        '--predictions',
        metavar='FILE',
        type=Path,
        help='JSON file of tools/test.py --out (default: the newest one in WORK_DIR)',
    )
    parser.add_argument(
        '--thresholds', metavar='FILE', type=Path, help='JSON file of tools/tune_thresholds.py'
    )
    parser.add_argument(
        '--config', metavar='FILE', type=Path, help='config (default: the one left in WORK_DIR)'
    )
    parser.add_argument(
        '--top', type=int, default=5, help='mistakes shown in each list (default: 5)'
    )
    parser.add_argument(
        '--pictures',
        metavar='FOLDER',
        type=Path,
        action='append',
        default=[],
        help='embed pictures from this folder, and from no other; may be given several times '
        '(default: the data folders of the test set in the config)',
    )
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    output = args.output or args.work_dir / 'report.html'
    if args.output or args.work_dir.is_dir():
        check_writable(output)
    sources = Sources(args.work_dir, args.predictions, args.thresholds, args.config, args.pictures)
    for note in write_report(output, sources, args.top):
        print(f'note: {note}', file=sys.stderr)
    print(f'wrote {output} ({os.path.getsize(output) / 2**20:.1f} MiB)')


if __name__ == '__main__':
    run_cli(main)

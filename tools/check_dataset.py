"""Check the labels and pictures of a data set: counts, faults, duplicates and leaks."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.dataset_check import (
    check_dataset,
    format_report,
    report_record,
    require_sound,
    write_dataset_page,
)
from mmshufflemix.dataset_check.readers.config import read_config_splits
from mmshufflemix.dataset_check.readers.folder import read_folder
from mmshufflemix.files import check_writable, write_json
from mmshufflemix.option_types import add_cfg_options
from mmshufflemix.prepare import read_config

from mmpretrain.utils import register_all_modules


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument(
        'data',
        metavar='CONFIG|FOLDER',
        help='any config of MMPretrain, or a folder: train.json, val.json, test.json and pictures '
        'in images; or the layout of VOC or COCO',
    )
    parser.add_argument('-o', '--output', metavar='FILE.html', help='write a page with pictures')
    parser.add_argument('--json', metavar='FILE.json', help='write all counts and all faults')
    parser.add_argument('--strict', action='store_true', help='warnings count as errors')
    parser.add_argument('--no-pictures', action='store_true', help='check labels and names only')
    parser.add_argument(
        '--workers', type=int, default=1, metavar='N', help='threads that decode (default: 1)'
    )
    add_cfg_options(parser)
    args = parser.parse_args()
    if args.workers < 1:
        parser.error(f'--workers must be at least 1, got {args.workers}')
    if args.cfg_options and Path(args.data).is_dir():
        parser.error(f'--cfg-options is for configs, but {args.data} is a folder')
    return args


def main() -> None:
    args = parse_args()
    for path in (args.output, args.json):
        if path:
            check_writable(path)
    if Path(args.data).is_dir():
        dataset = read_folder(args.data)
    else:
        register_all_modules()
        dataset = read_config_splits(read_config(args.data, args.cfg_options), args.data)
    result = check_dataset(dataset, not args.no_pictures, args.workers)
    print(format_report(result))
    if args.json:
        write_json(args.json, report_record(result))
        print(f'wrote {args.json}')
    if args.output:
        write_dataset_page(args.output, result)
        print(f'wrote {args.output}')
    require_sound(result, args.strict)


if __name__ == '__main__':
    run_cli(main)

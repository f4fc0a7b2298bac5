"""Predict the labels of pictures with a trained multi-label model."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmengine.config import DictAction

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import check_writable
from mmshufflemix.inference import MultiLabelInferencer, find_pictures
from mmshufflemix.inference.output import check_output, format_table, write_predictions
from mmshufflemix.inference.run import predict_pictures
from mmshufflemix.text import some


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument(
        'images', nargs='+', help='pictures, folders (with all below them) or quoted patterns'
    )
    parser.add_argument(
        '--threshold',
        default='0.5',
        metavar='NUMBER|FILE.json',
        help='lowest score of a label, or a file of one for each class, as '
        'tools/tune_thresholds.py writes it (default: 0.5)',
    )
    parser.add_argument('--batch-size', type=int, default=8, help='pictures at once (default: 8)')
    parser.add_argument('--out', metavar='FILE', help='write all scores to a .jsonl or .csv file')
    parser.add_argument('--draw', metavar='FOLDER', help='draw each picture with its labels')
    parser.add_argument('--device', help='such as cpu or cuda:1 (default: a GPU if there is one)')
    parser.add_argument(
        '--cfg-options', nargs='+', action=DictAction, help='change settings of the config'
    )
    args = parser.parse_args()
    if args.batch_size < 1:
        parser.error(f'--batch-size must be at least 1, got {args.batch_size}')
    return args


def main() -> None:
    args = parse_args()
    if args.out:
        check_output(args.out)
        check_writable(args.out)
    if args.draw:
        check_writable(Path(args.draw) / 'picture.png')
    pictures = find_pictures(args.images)
    if not pictures:
        raise ValueError(
            f'no pictures found in {some(args.images, limit=3)}; give files, folders or patterns.'
        )
    inferencer = MultiLabelInferencer(
        args.config, args.checkpoint, args.device, args.threshold, options=args.cfg_options
    )
    predictions, faults = predict_pictures(inferencer, pictures, args.batch_size, args.draw)
    if predictions:
        print(format_table(predictions))
    if args.out:
        write_predictions(args.out, predictions, inferencer.classes)
        print(f'wrote {args.out}')
    if faults:
        raise ValueError(
            f'{len(faults)} of {len(pictures)} pictures could not be read and were skipped '
            f'({some(faults, limit=3)}).'
        )


if __name__ == '__main__':
    run_cli(main)

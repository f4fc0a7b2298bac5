"""Predict the labels of pictures with a trained multi-label model."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import check_writable
from mmshufflemix.inference import MultiLabelInferencer
from mmshufflemix.inference.command import (
    add_inference_arguments,
    require_all,
    require_pictures,
)
from mmshufflemix.inference.output import check_output, format_table, write_predictions
from mmshufflemix.inference.run import predict_pictures


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add_inference_arguments(parser)
    parser.add_argument('--batch-size', type=int, default=8, help='pictures at once (default: 8)')
    parser.add_argument('--out', metavar='FILE', help='write all scores to a .jsonl or .csv file')
    parser.add_argument('--draw', metavar='FOLDER', help='draw each picture with its labels')
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
    pictures = require_pictures(args.images)
    inferencer = MultiLabelInferencer(
        args.config, args.checkpoint, args.device, args.threshold, options=args.cfg_options
    )
    predictions, faults = predict_pictures(inferencer, pictures, args.batch_size, args.draw)
    if predictions:
        print(format_table(predictions))
    if args.out:
        write_predictions(args.out, predictions, inferencer.classes)
        print(f'wrote {args.out}')
    if args.draw and predictions:
        print(f'wrote {len(predictions)} drawings to {args.draw}')
    require_all(faults, len(pictures))


if __name__ == '__main__':
    run_cli(main)

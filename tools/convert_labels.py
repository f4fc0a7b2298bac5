"""Convert labels from CSV, text lists, class folders, VOC or COCO to the JSON of MultiLabelJSON."""

from __future__ import annotations

import argparse

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import write_json
from mmshufflemix.label_files import (
    FORMATS,
    ReadOptions,
    check_target,
    convert_labels,
    describe_conversion,
    read_class_names,
)


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument(
        'labels',
        help='.csv or .tsv with a header row, .txt with lines "name label label" or "name: label, '
        'label", .json of COCO, a folder with a folder for each class, or a VOC tree',
    )
    parser.add_argument('--images', help='folder of the pictures that the labels name')
    parser.add_argument('-o', '--output', required=True, help='the .json file to write')
    parser.add_argument('--format', choices=FORMATS, help='format (default: found from the input)')
    parser.add_argument(
        '--classes',
        nargs='+',
        help='all class names in their order, or a file with one a line (default: columns in '
        'their order, or sorted names)',
    )
    parser.add_argument(
        '--missing',
        choices=['error', 'skip'],
        default='error',
        help='what to do with rows whose picture is not there (default: error)',
    )
    csv = parser.add_argument_group('CSV')
    csv.add_argument(
        '--image-column',
        help='column of the pictures (default: one called image, file, path and the like, else '
        'the first)',
    )
    csv.add_argument(
        '--label-column',
        help='column of class names (default: the only other one, or one called labels, tags, '
        'classes or categories; else each other column is a class with 0 or 1)',
    )
    csv.add_argument(
        '--separator',
        help='what divides class names in a cell; "space" for spaces (default: the first of ; | , '
        'that occurs in the column; spaces are cut at only between numbers, unless you say so; '
        'lists of Python or JSON are read)',
    )
    voc = parser.add_argument_group('VOC')
    voc.add_argument(
        '--image-list',
        help='list in ImageSets/Main (default: trainval); difficult objects stay '
        'in gt_label_difficult: negative in training, left out of AP',
    )
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    check_target(args.labels, args.output)
    conversion = convert_labels(
        args.labels,
        args.images,
        args.format,
        read_class_names(args.classes) if args.classes else None,
        args.missing,
        ReadOptions(args.image_column, args.label_column, args.separator, args.image_list),
    )
    write_json(args.output, conversion.content)
    print(describe_conversion(conversion))
    print(f'wrote {args.output}')


if __name__ == '__main__':
    run_cli(main)

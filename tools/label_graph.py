"""Make the label graph of a config's training set: counts, co-occurrence, class vectors."""

from __future__ import annotations

import argparse

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import check_writable
from mmshufflemix.label_graph import (
    build_label_graph,
    describe_label_graph,
    draw_label_graph,
    save_label_graph,
)
from mmshufflemix.option_types import SEED, add_cfg_options
from mmshufflemix.pictures import check_picture_file
from mmshufflemix.prepare import read_config

from mmpretrain.registry import DATASETS
from mmpretrain.utils import register_all_modules


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('config', help='any config whose train_dataloader has multi-label data')
    parser.add_argument('-o', '--output', required=True, help='the .npz file to write')
    parser.add_argument('--embeddings', help='text file of word vectors, such as glove.6B.300d.txt')
    parser.add_argument(
        '--method',
        choices=['ppmi', 'random'],
        default='ppmi',
        help="class vectors without such a file: from the labels' co-occurrence, or drawn "
        '(default: ppmi)',
    )
    parser.add_argument('--dim', type=int, default=300, help='length of the vectors (default: 300)')
    parser.add_argument('--seed', type=SEED, default=0, help='seed of all draws (default: 0)')
    parser.add_argument(
        '--threshold',
        type=float,
        default=0.4,
        help='least P(j | i) of an edge in what is printed and drawn; the file holds counts, and '
        'the head has its own threshold (default: 0.4)',
    )
    parser.add_argument('--plot', help='picture of the graph to write (.png, .pdf, .svg)')
    add_cfg_options(parser, 'override settings of the config')
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    if args.plot:
        check_picture_file(args.plot)
    for path in filter(None, (args.output, args.plot)):
        check_writable(path)
    register_all_modules()
    config = read_config(args.config, args.cfg_options)
    if 'train_dataloader' not in config:
        raise ValueError(f'{args.config} has no train_dataloader, so there are no labels to count')
    dataset_config = config.train_dataloader.dataset
    if 'pipeline' in dataset_config:
        # Labels need no pictures, and the data set then does not ask for them.
        dataset_config.pipeline = []
    dataset = DATASETS.build(dataset_config)
    print(f'counting the labels of {len(dataset)} images', flush=True)
    graph = build_label_graph(dataset, args.dim, args.embeddings, args.method, args.seed)
    print(describe_label_graph(graph, args.threshold))
    save_label_graph(args.output, graph)
    print(f'wrote {args.output}')
    if args.plot:
        draw_label_graph(args.plot, graph, args.threshold)
        print(f'wrote {args.plot}')


if __name__ == '__main__':
    run_cli(main)

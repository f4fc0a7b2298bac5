"""Measure what mixing costs on this machine."""

from __future__ import annotations

from mmshufflemix.benchmark import describe_machine
from mmshufflemix.benchmark.commands import COMMANDS
from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import check_writable, write_json
from mmshufflemix.option_types import whole_number

import torch
from mmpretrain.utils import register_all_modules


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument(
        '--threads',
        type=whole_number(1, 1024),
        help='threads of PyTorch (default: its own choice)',
    )
    parser.add_argument('--json', help='file for machine, settings and results')
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    for command in COMMANDS:
        command.add_command(commands)
    args = parser.parse_args()
    if args.json is not None:
        check_writable(args.json)
    if args.threads is not None:
        torch.set_num_threads(args.threads)
    register_all_modules()
    machine = describe_machine()
    print('\n'.join(f'{key}: {value}' for key, value in machine.items()), end='\n\n')
    results = args.run(args)
    if args.json is not None:
        settings = {k: v for k, v in vars(args).items() if k not in ('run', 'json', 'traceback')}
        write_json(args.json, {'machine': machine, 'settings': settings, 'results': results})


if __name__ == '__main__':
    run_cli(main)

"""Run or resume the experiments of a table of the paper, and print ours beside the paper's.

What is finished is not run again, and a stopped training goes on from its last checkpoint. Several
processes, also on several machines with a common disk, may work on one folder: each takes the next
run that none of the others is at.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.option_types import add_cfg_options
from mmshufflemix.reproduce import (
    TABLES,
    check_options,
    check_settings,
    choose_rows,
    describe_difference,
    describe_job,
    end_on_signals,
    find_table,
    move_aside,
    plan_jobs,
    run_jobs,
    stale_runs,
    write_report,
)

ROOT = Path(__file__).resolve().parents[1]


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add('table', metavar='TABLE', help=f'one of {", ".join(TABLES)}')
    add('--methods', nargs='+', metavar='NAME', help='only rows of these methods')
    add('--rows', nargs='+', metavar='PATTERN', help="only rows such as 'preact18_*' (quoted)")
    add('--seeds', nargs='+', type=int, default=[0, 1, 2], help='default: 0 1 2')
    add('--epochs', type=int, help='shorten the training; results go to a folder of their own')
    add('--out', type=Path, default='work_dirs/reproduce', help='default: work_dirs/reproduce')
    add('--dry-run', action='store_true', help='say what is done and what would be run, and end')
    add('--collect', action='store_true', help='run nothing, write and print the whole table')
    add(
        '--restart',
        action='store_true',
        help='move runs with other settings aside first',
    )
    add_cfg_options(
        parser, 'change settings of all configs; all runs of a table must have the same'
    )
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    end_on_signals()
    table = find_table(args.table)
    rows = choose_rows(table, args.methods, args.rows)
    seeds = list(dict.fromkeys(args.seeds))
    options = args.cfg_options
    everything = plan_jobs(
        table, table.rows, seeds, args.out, ROOT / 'configs', args.epochs, options
    )
    jobs = [job for job in everything if job.row in rows]
    steps = [step for job in everything for step in job.steps]
    if not args.collect:
        check_options(table, rows, ROOT / 'configs', options)
    if not (args.collect or args.restart):
        check_settings(steps)
    stale = dict(stale_runs(steps)) if args.collect or args.restart else {}
    if args.collect:
        remarks = [f"'{folder}' {describe_difference(stale[folder])}" for folder in stale]
        print(write_report(table, args.out, args.epochs, remarks), end='')
        return
    for folder in stale if args.dry_run else move_aside(stale):
        print(f'{"would be moved" if args.dry_run else "moved"} aside: {folder}')
    if args.dry_run:
        for job in jobs:
            again = any(step.folder in stale for step in job.steps)
            print(f'{job.name}: to run' if again else describe_job(job, ROOT / 'tools'))
        return
    failures = run_jobs(jobs, ROOT / 'tools', lambda: write_report(table, args.out, args.epochs))
    failed = [failure.partition(' failed: ')[0] for failure in failures]
    left = [job.name for job in jobs if not job.done and job.name not in failed]
    remarks = [*failures, *(f'{name} was left to another process' for name in left)]
    print(write_report(table, args.out, args.epochs, remarks), end='')
    if failures:
        raise RuntimeError(
            f'{len(failures)} of {len(jobs)} runs failed, the first: {failures[0]}; '
            'the same command tries them again'
        )


if __name__ == '__main__':
    run_cli(main)

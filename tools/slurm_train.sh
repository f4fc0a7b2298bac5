#!/usr/bin/env bash
# One process per GPU under Slurm. PYTHON chooses the interpreter.
. "$(dirname "${BASH_SOURCE[0]}")/launch_common.sh"

check_usage 'PARTITION JOB_NAME CONFIG WORK_DIR [options of tools/train.py]' 4 "$@"
check_config "$3"
run_slurm "$1" "$2" train.py "$3" --work-dir="$4" --launcher=slurm "${@:5}"

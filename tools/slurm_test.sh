#!/usr/bin/env bash
# One process per GPU under Slurm. PYTHON chooses the interpreter.
. "$(dirname "${BASH_SOURCE[0]}")/launch_common.sh"

check_usage 'PARTITION JOB_NAME CONFIG CHECKPOINT [options of tools/test.py]' 4 "$@"
check_config "$3"
run_slurm "$1" "$2" test.py "$3" "$4" --launcher=slurm "${@:5}"

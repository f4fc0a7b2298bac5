#!/usr/bin/env bash
# One process per GPU, or per share of the CPU cores. PYTHON chooses the interpreter.
. "$(dirname "${BASH_SOURCE[0]}")/launch_common.sh"

check_usage 'CONFIG PROCESSES [options of tools/train.py]' 2 "$@"
check_config "$1"
run_distributed "$2" train.py "$1" --launcher pytorch "${@:3}"

#!/usr/bin/env bash
# One process per GPU, or per share of the CPU cores. PYTHON chooses the interpreter.
. "$(dirname "${BASH_SOURCE[0]}")/launch_common.sh"

check_usage 'CONFIG CHECKPOINT PROCESSES [options of tools/test.py]' 3 "$@"
check_config "$1"
run_distributed "$3" test.py "$1" "$2" --launcher pytorch "${@:4}"

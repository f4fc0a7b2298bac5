#!/usr/bin/env bash
# bash tools/slurm_train.sh PARTITION JOB_NAME CONFIG WORK_DIR [options of tools/train.py]
# GPUS, GPUS_PER_NODE, CPUS_PER_TASK and SRUN_ARGS as in MMPretrain; GPUS_PER_NODE=0 asks for no GPU
# and starts GPUS processes on CPU cores. PYTHON chooses the interpreter.
set -euo pipefail

USAGE="usage: bash $0 PARTITION JOB_NAME CONFIG WORK_DIR [options of tools/train.py]"
case "${1:-}" in
-h | --help)
    echo "$USAGE"
    exit 0
    ;;
esac
if [ $# -lt 4 ]; then
    echo "error: $USAGE" >&2
    exit 1
fi
TOOLS=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$(dirname "$TOOLS")${PYTHONPATH:+:$PYTHONPATH}"
PARTITION=$1
JOB_NAME=$2
CONFIG=$3
WORK_DIR=$4
shift 4
GPUS=${GPUS:-8}
GPUS_PER_NODE=${GPUS_PER_NODE:-8}
if [ ! -f "$CONFIG" ]; then
    echo "error: config '$CONFIG' does not exist or is not a file." >&2
    exit 1
fi
if [[ ! "$GPUS" =~ ^[1-9][0-9]*$ ]]; then
    echo "error: GPUS must be a whole number of at least 1, got '$GPUS'." >&2
    exit 1
fi
if [[ ! "$GPUS_PER_NODE" =~ ^[0-9]+$ ]]; then
    echo "error: GPUS_PER_NODE must be a whole number of at least 0, got '$GPUS_PER_NODE'." >&2
    exit 1
fi
if [ "$GPUS_PER_NODE" != 0 ]; then
    PLACES="--gres=gpu:$GPUS_PER_NODE --ntasks-per-node=$GPUS_PER_NODE"
fi

# PLACES and SRUN_ARGS hold several words each.
# shellcheck disable=SC2086
exec srun -p "$PARTITION" --job-name="$JOB_NAME" --ntasks="$GPUS" ${PLACES:-} \
    --cpus-per-task="${CPUS_PER_TASK:-5}" --kill-on-bad-exit=1 ${SRUN_ARGS:-} \
    "${PYTHON:-python}" -u "$TOOLS/train.py" "$CONFIG" --work-dir="$WORK_DIR" --launcher=slurm "$@"

#!/usr/bin/env bash
# bash tools/dist_train.sh CONFIG PROCESSES [options of tools/train.py]
# One process per GPU, or per share of the CPU cores. PORT, NNODES, NODE_RANK and MASTER_ADDR as in
# MMPretrain; PYTHON chooses the interpreter.
set -euo pipefail

USAGE="usage: bash $0 CONFIG PROCESSES [options of tools/train.py]"
case "${1:-}" in
-h | --help)
    echo "$USAGE"
    exit 0
    ;;
esac
if [ $# -lt 2 ]; then
    echo "error: $USAGE" >&2
    exit 1
fi
TOOLS=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$(dirname "$TOOLS")${PYTHONPATH:+:$PYTHONPATH}"
PYTHON=${PYTHON:-python}
CONFIG=$1
PROCESSES=$2
shift 2
if [ ! -f "$CONFIG" ]; then
    echo "error: config '$CONFIG' does not exist or is not a file." >&2
    exit 1
fi
if [[ ! "$PROCESSES" =~ ^[1-9][0-9]*$ ]]; then
    echo "error: PROCESSES must be a whole number of at least 1, got '$PROCESSES'." >&2
    exit 1
fi
NNODES=${NNODES:-1}
if [ -z "${PORT:-}" ] && [ "$NNODES" = 1 ]; then
    PORT=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

exec "$PYTHON" -m torch.distributed.run \
    --nnodes="$NNODES" \
    --node_rank="${NODE_RANK:-0}" \
    --master_addr="${MASTER_ADDR:-127.0.0.1}" \
    --master_port="${PORT:-29500}" \
    --nproc_per_node="$PROCESSES" \
    "$TOOLS/train.py" "$CONFIG" --launcher pytorch "$@"

# Sourced by the launchers beside it: argument checks, and the two ways to start processes.
set -euo pipefail

TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH="$(dirname "$TOOLS")${PYTHONPATH:+:$PYTHONPATH}"
PYTHON=${PYTHON:-python}

fail() {
    echo "error: $1" >&2
    exit 1
}

# check_usage USAGE NUMBER_OF_ARGUMENTS "$@"
check_usage() {
    case "${3:-}" in
    -h | --help)
        echo "usage: bash $0 $1"
        exit 0
        ;;
    esac
    [ $(($# - 2)) -ge "$2" ] || fail "usage: bash $0 $1"
}

check_config() {
    [ -f "$1" ] || fail "config '$1' does not exist or is not a file."
}

# check_count NAME VALUE LEAST
check_count() {
    if [[ ! "$2" =~ ^(0|[1-9][0-9]{0,8})$ ]] || [ "$2" -lt "$3" ]; then
        fail "$1 must be a whole number of at least $3, got '$2'."
    fi
}

# run_distributed PROCESSES TOOL [arguments]: PORT, NNODES, NODE_RANK and MASTER_ADDR as in MMPretrain.
run_distributed() {
    check_count PROCESSES "$1" 1
    NNODES=${NNODES:-1}
    check_count NNODES "$NNODES" 1
    check_count NODE_RANK "${NODE_RANK:-0}" 0
    [ "${NODE_RANK:-0}" -lt "$NNODES" ] || fail "NODE_RANK must be below NNODES=$NNODES, got '$NODE_RANK'."
    check_count PORT "${PORT:-29500}" 1
    [ "${PORT:-29500}" -le 65535 ] || fail "PORT must be at most 65535, got '$PORT'."
    if [ -z "${PORT:-}" ] && [ "$NNODES" = 1 ]; then
        PORT=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    fi
    export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
    exec "$PYTHON" "$TOOLS/launch_processes.py" \
        --nnodes="$NNODES" \
        --node_rank="${NODE_RANK:-0}" \
        --master_addr="${MASTER_ADDR:-127.0.0.1}" \
        --master_port="${PORT:-29500}" \
        --nproc_per_node="$1" \
        "$TOOLS/$2" "${@:3}"
}

# run_slurm PARTITION JOB_NAME TOOL [arguments]: GPUS, GPUS_PER_NODE, CPUS_PER_TASK and SRUN_ARGS as in
# MMPretrain; GPUS_PER_NODE=0 asks for no GPU and starts GPUS processes on CPU cores.
run_slurm() {
    GPUS=${GPUS:-8}
    GPUS_PER_NODE=${GPUS_PER_NODE:-8}
    check_count GPUS "$GPUS" 1
    check_count GPUS_PER_NODE "$GPUS_PER_NODE" 0
    check_count CPUS_PER_TASK "${CPUS_PER_TASK:-5}" 1
    command -v srun > /dev/null || fail 'srun of Slurm is not on PATH; without Slurm use the dist_ scripts.'
    if [ "$GPUS_PER_NODE" != 0 ]; then
        PLACES="--gres=gpu:$GPUS_PER_NODE --ntasks-per-node=$GPUS_PER_NODE"
    fi
    # PLACES and SRUN_ARGS hold several words each.
    # shellcheck disable=SC2086
    exec srun -p "$1" --job-name="$2" --ntasks="$GPUS" ${PLACES:-} \
        --cpus-per-task="${CPUS_PER_TASK:-5}" --kill-on-bad-exit=1 ${SRUN_ARGS:-} \
        "$PYTHON" -u "$TOOLS/$3" "${@:4}"
}

#!/usr/bin/env bash
# Check and measure on one GPU, without a network: see docs/gpu.md. PYTHON chooses the interpreter.
set -uo pipefail

usage='usage: [PYTHON=python3] [DEVICE=cuda] tools/gpu_check.sh [options]
  --data DIR      CIFAR-100 as tiles: DIR/train and DIR/test; without it nothing is trained
  --wheels DIR    install these wheels for this run only; nothing is fetched
  --out DIR       results (default: $OUT, else work_dirs/gpu_check)
  --minutes N     for everything, a whole number (default: 10); Ctrl-C ends it before
  --steps "..."   which of: tests benchmark compile inductor train (default: all, in this order)
  --epochs N      train so many epochs; without it the schedule is shortened to what fits
  --compile       train with a compiled step
  --rehearse      tiny sizes and made-up data, on the CPU with DEVICE=cpu: does everything start?'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3} device=${DEVICE:-cuda}
out=${OUT:-work_dirs/gpu_check} data='' wheels='' minutes=10 rehearse=''
steps='tests benchmark compile inductor train' train_options=() config_options=()
summary=/dev/null

fail() { echo "gpu_check.sh: $1" >&2; exit 2; }

check_count() { # OPTION VALUE
    [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || fail "$1 must be a whole number from 1 to 9999, got '$2'"
}

# attended LOG SECONDS COMMAND...: at most so long, and nothing that it starts outlives it. In the
# background, since bash does not answer a signal while it waits for a command in the foreground.
attended() {
    local code
    timeout -k 5 "${@:2}" >>"$1" 2>&1 &
    wait "$!" 2>/dev/null
    code=$?
    kill -KILL -- "-$!" 2>/dev/null
    return "$code"
}

stop() { # SIGNAL EXIT_CODE
    trap '' INT TERM HUP
    local job
    # timeout passes it on to all processes of the step.
    for job in $(jobs -p); do kill -TERM "$job"; wait "$job"; kill -KILL -- "-$job"; done 2>/dev/null
    echo "stopped by SIG$1: the step that was running has no result" | tee -a "$summary" >&2
    exit "$2"
}
trap 'stop INT 130' INT
trap 'stop TERM 143' TERM
trap 'stop HUP 129' HUP

while [ $# -gt 0 ]; do
    case $1 in
        --help) echo "$usage"; exit 0 ;;
        --rehearse) rehearse=1 ;;
        --compile) config_options+=(compile=True) ;;
        --data | --wheels | --out | --minutes | --steps | --epochs)
            [ $# -ge 2 ] || fail "$1 needs a value; see --help"
            case $1 in
                --data) data=$2 ;; --wheels) wheels=$2 ;; --out) out=$2 ;;
                --minutes) minutes=$2 ;; --steps) steps=$2 ;;
                --epochs) check_count "$1" "$2" && train_options+=(--epochs "$2") ;;
            esac
            shift ;;
        *) fail "unknown option '$1'; see --help" ;;
    esac
    shift
done
check_count --minutes "$minutes"
[[ $steps =~ [^[:space:]] ]] || fail '--steps names no step; see --help'
for name in $steps; do
    case $name in tests | benchmark | compile | inductor | train) ;; *) fail "unknown step '$name'; see --help" ;; esac
done
[ -z "$wheels" ] || compgen -G "$wheels/*.whl" >/dev/null || fail "no wheel in '$wheels'"
[ -z "$data" ] || { [ -d "$data/train" ] && [ -d "$data/test" ]; } || fail "'$data' has no train and test"

case $device in
    cuda) ;;
    cpu) [ -n "$rehearse" ] || fail 'DEVICE=cpu is for a rehearsal; add --rehearse' ;;
    *) fail "DEVICE must be cuda or cpu, got '$device'" ;;
esac
# Else the Runner would take a GPU that it sees.
[ "$device" = cuda ] || export CUDA_VISIBLE_DEVICES=
[[ $python != */* || $python = /* ]] || python=$PWD/$python
attended /dev/null 120 "$python" -c "import torch; raise SystemExit(
    0 if '$device' == 'cpu' or torch.cuda.is_available() else 3)"
case $? in
    0) ;;
    3) fail 'PyTorch sees no CUDA device; rehearse on the CPU by DEVICE=cpu tools/gpu_check.sh --rehearse' ;;
    *) fail "'$python' cannot import torch; name a Python that can, by PYTHON=..." ;;
esac

mkdir -p "$out" 2>/dev/null && out=$(cd "$out" && pwd) && { : >"$out/summary.txt"; } 2>/dev/null ||
    fail "cannot write to '$out'; name another folder by --out"
[ -z "$data" ] || data=$(cd "$data" && pwd)
[ -z "$wheels" ] || wheels=$(cd "$wheels" && pwd)
work=$(mktemp -d) || fail 'there is no place for temporary files; name one by TMPDIR=...'
trap 'rm -rf "$work" "$out"/{benchmark,compile,train}.json.unfinished-*' EXIT
cd "$root" || exit 2
# What a step leaves when it is ended goes away with the folder.
export TMPDIR=$work PYTHONPATH="$work/site:$root${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
rm -f "$out"/machine.txt "$out"/{tests,benchmark,train}.log "$out"/{benchmark,compile,train}.json
summary=$out/summary.txt
failures=0 deadline=$((60 * minutes))

remaining() { echo $((deadline - SECONDS)); }

# step NAME SECONDS LOG COMMAND...: at most so long, its end in the summary.
step() {
    local name=$1 limit=$2 log=$out/$3 begin=$SECONDS code state
    shift 3
    [ "$limit" -le "$(remaining)" ] || limit=$(remaining)
    if [ "$limit" -lt 1 ]; then
        code=124
    else
        echo "== $name: $*" >>"$log"
        attended "$log" "$limit" "$@"
        code=$?
    fi
    # pytest ends with 5 if it finds no test, but with 0 if all are skipped.
    [ "$code $log" != "0 $out/tests.log" ] || tail -n 1 "$log" | grep -q ' passed' || code=5
    case $code in
        0) state=ok ;;
        5) state="failed (no test ran, see ${log##*/})" ;;
        124 | 137) state="failed (more than $limit s)" ;;
        *) state="failed (exit code $code, see ${log##*/})" ;;
    esac
    [ "$code" = 0 ] || failures=$((failures + 1))
    printf '%-10s %4d s  %s\n' "$name" $((SECONDS - begin)) "$state" | tee -a "$summary"
}

skip() { printf '%-15s not run: %s\n' "$@" | tee -a "$summary"; }

describe() {
    nvidia-smi || echo 'no nvidia-smi'
    "$python" - <<'PYTHON'
import torch
from mmshufflemix.benchmark import describe_machine
print('\n'.join(f'{key}: {value}' for key, value in describe_machine().items()))
print('CUDA', torch.version.cuda, 'cuDNN', torch.backends.cudnn.version())
PYTHON
}

make_tiles() {
    "$python" - "$1" <<'PYTHON'
import sys
from pathlib import Path
import numpy as np
from PIL import Image
rng = np.random.default_rng(0)
for split, rows in (('train', 4), ('test', 2)):
    for number in range(100):
        path = Path(sys.argv[1], split, f'class_{number:02d}.webp')
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 256, (32 * rows, 160, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path, lossless=True)
PYTHON
}

benchmark() { # LOG STEP SECONDS JSON options
    step "$1" "$2" benchmark.log "$python" tools/benchmark.py --json "$out/$3" gpu --device "$device" \
        ${rehearse:+--quick} "${@:4}"
}

[ -z "$wheels" ] || step install 60 machine.txt "$python" -m pip install -q --no-index --no-deps \
    --no-compile --no-cache-dir --upgrade --target "$work/site" "$wheels"/*.whl
export python && export -f describe make_tiles && step machine 60 machine.txt bash -c describe

marker=gpu
if [ -n "$rehearse" ]; then
    data=$work/tiles && step tiles 60 machine.txt bash -c 'make_tiles "$1"' _ "$data"
    config_options+=(model.backbone.base_channels=8 model.head.in_channels=64)
    [ "$device" = cuda ] || marker='not gpu'
fi
plain_kinds='float32 tf32 fp16 bf16 bf16-channels-last'
for name in $steps; do
    case $name in
        tests) step tests 60 tests.log "$python" -m pytest -p no:cacheprovider \
            -m "$marker and not slow" tests/gpu tests/test_robustness/test_noise.py ;;
        # shellcheck disable=SC2086
        benchmark) benchmark benchmark 90 benchmark.json --parts training step op --kinds $plain_kinds ;;
        compile) benchmark compile 75 compile.json --kinds bf16-channels-last-compile \
            --parts compiled-op $([ -n "$rehearse" ] || echo training) ;;
        inductor)
            [ -z "$rehearse" ] || { skip inductor --rehearse; continue; }
            step inductor 60 tests.log "$python" -m pytest -p no:cacheprovider \
                -m "$marker and slow" tests/gpu ;;
        train)
            [ -n "$data" ] || { skip train 'no --data'; continue; }
            # Importing and the last checkpoint are not in the time that the training counts.
            limit=$(remaining)
            [ -z "$rehearse" ] || limit=75
            seconds=$((limit > 40 ? limit - 30 : 10))
            for part in train val test; do config_options+=("${part}_dataloader.dataset.data_root=$data"); done
            step train "$limit" train.log "$python" tools/benchmark.py --json "$out/train.json" timed \
                configs/cifar100/preact18_shufflemix_gpu.py --work-dir "$work/training" \
                --minutes "$(printf '%d.%03d' $((seconds / 60)) $((seconds % 60 * 1000 / 60)))" \
                "${train_options[@]}" --cfg-options "${config_options[@]}" ;;
    esac
done
[ ! -f "$out/train.log" ] || tail -n 1 "$out/train.log" | tee -a "$summary"
printf 'total      %4d s  %s\n' "$SECONDS" "$failures failed" | tee -a "$summary"
[ "$failures" = 0 ]

#!/usr/bin/env bash
# Check and measure on one GPU, without a network: see docs/gpu.md. PYTHON chooses the interpreter.
set -uo pipefail

usage='usage: [PYTHON=python3] [DEVICE=cuda] tools/gpu_check.sh [options]
  --data DIR      CIFAR-100 as tiles: DIR/train and DIR/test; without it nothing is trained
  --wheels DIR    install these wheels for this run only; nothing is fetched
  --out DIR       results (default: $OUT, else work_dirs/gpu_check)
  --minutes N     for everything, a whole number (default: 10)
  --steps "..."   which of: tests benchmark compile inductor train (default: all, in this order)
  --epochs N      train so many epochs; without it the schedule is shortened to what fits
  --compile       train with a compiled step
  --rehearse      tiny sizes and made-up data, on the CPU with DEVICE=cpu: does everything start?'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3} device=${DEVICE:-cuda}
out=${OUT:-work_dirs/gpu_check} data='' wheels='' minutes=10 rehearse=''
steps='tests benchmark compile inductor train' train_options=() config_options=()

fail() { echo "gpu_check.sh: $1" >&2; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
        --help) echo "$usage"; exit 0 ;;
        --rehearse) rehearse=1 ;;
        --compile) config_options+=(compile=True) ;;
        --data | --wheels | --out | --minutes | --steps | --epochs)
            [ $# -ge 2 ] || fail "$1 needs a value; see --help"
            case $1 in
                --data) data=$2 ;; --wheels) wheels=$2 ;; --out) out=$2 ;;
                --minutes) minutes=$2 ;; --steps) steps=$2 ;; --epochs) train_options+=(--epochs "$2") ;;
            esac
            shift ;;
        *) fail "unknown option '$1'; see --help" ;;
    esac
    shift
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || fail "--minutes must be a whole number above 0, got '$minutes'"
for name in $steps; do
    case $name in tests | benchmark | compile | inductor | train) ;; *) fail "unknown step '$name'; see --help" ;; esac
done
[ -z "$wheels" ] || compgen -G "$wheels/*.whl" >/dev/null || fail "no wheel in '$wheels'"
[ -z "$data" ] || { [ -d "$data/train" ] && [ -d "$data/test" ]; } || fail "'$data' has no train and test"

mkdir -p "$out" && out=$(cd "$out" && pwd) || fail "cannot write to '$out'"
[ -z "$data" ] || data=$(cd "$data" && pwd)
[ -z "$wheels" ] || wheels=$(cd "$wheels" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$root" || exit 2
export PYTHONPATH="$work/site:$root${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
rm -f "$out"/{machine,summary}.txt "$out"/{tests,benchmark,train}.log "$out"/{benchmark,compile,train}.json
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
        timeout -k 5 "$limit" "$@" >>"$log" 2>&1
        code=$?
    fi
    case $code in
        0) state=ok ;;
        124 | 137) state="failed (more than $limit s)" ;;
        *) state="failed (exit code $code, see ${log##*/})" ;;
    esac
    [ "$code" = 0 ] || failures=$((failures + 1))
    printf '%-10s %4d s  %s\n' "$name" $((SECONDS - begin)) "$state" | tee -a "$out/summary.txt"
}

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
export python && export -f describe && step machine 60 machine.txt bash -c describe

marker=gpu
if [ -n "$rehearse" ]; then
    data=$work/tiles && make_tiles "$data"
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
            [ -n "$rehearse" ] || step inductor 60 tests.log "$python" -m pytest -p no:cacheprovider \
                -m "$marker and slow" tests/gpu ;;
        train)
            if [ -z "$data" ]; then
                echo 'train           not run: no --data' | tee -a "$out/summary.txt"
                continue
            fi
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
[ ! -f "$out/train.log" ] || tail -n 1 "$out/train.log" | tee -a "$out/summary.txt"
printf 'total      %4d s  %s\n' "$SECONDS" "$failures failed" | tee -a "$out/summary.txt"
[ "$failures" = 0 ]

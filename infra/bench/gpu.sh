#!/bin/sh
# Proves training on one machine with an NVIDIA GPU, in eight minutes and without network: builds the learner, runs its tests,
# measures updates on the GPU beside the CPU and beside torch (eager and compiled), and trains cart-pole, a policy with
# convolutions and one of texts with the learner on the GPU.
#   sh infra/bench/gpu.sh             runs everything; exit status 1 if a step failed
#   sh infra/bench/gpu.sh --dry-run   says what is missing and what it would run, and runs nothing; 1 if something is missing
# Environment:
#   OUT                     folder of logs and results; default: gpu-results
#   AGENTGYM_BENCH_PYTHON   Python with a torch that has CUDA; default: python3
# Without a GPU of its own, this repository has run only --dry-run.
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root" || exit 2
out=${OUT:-gpu-results}
python=${AGENTGYM_BENCH_PYTHON:-python3}
dry=
case ${1:-} in
  '') ;;
  --dry-run) dry=yes ;;
  *) echo "gpu: unknown option $1; the only one is --dry-run" >&2; exit 2 ;;
esac
PATH=$root/node_modules/.bin:$PATH
export PATH

missing=0
# need WHAT HINT COMMAND…: what the proof cannot do without.
need() {
  what=$1 hint=$2
  shift 2
  if "$@" >/dev/null 2>&1; then
    echo "found    $what"
  else
    echo "missing  $what: $hint"
    missing=$((missing + 1))
  fi
}
# want WHAT HINT COMMAND…: what one step cannot do without.
want() {
  what=$1 hint=$2
  shift 2
  if "$@" >/dev/null 2>&1; then echo "found    $what"; return 0; fi
  echo "without  $what: $hint"
  return 1
}

gpu=$(nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
need "an NVIDIA GPU${gpu:+ ($gpu)}" 'nvidia-smi lists none' test -n "$gpu"
need 'the repository'"'"'s packages' 'run npx -y pnpm@12.4.2 install --frozen-lockfile first, with network' test -x node_modules/.bin/vitest
for tool in cmake make c++; do need "$tool" 'apt-get install cmake make g++' command -v "$tool"; done
need "a torch with CUDA ($python)" 'pip install torch' \
  "$python" -c 'import torch; raise SystemExit(0 if torch.cuda.is_available() else 1)'
rollouts=cpu
want "ONNX Runtime's CUDA library" 'rollouts stay on the CPU: docs/training.md says where it is looked for' \
  node infra/bench/gpu-bench.ts --library &&
  rollouts=cuda
want 'a C compiler for torch.compile (Triton)' 'compiled torch is left out' command -v cc

failed=0
# step NAME SECONDS COMMAND…: runs it within its time and keeps its output; goes on whatever comes of it.
step() {
  name=$1 seconds=$2
  shift 2
  if [ -n "$dry" ]; then
    echo "would run, within $seconds s: $*"
    return
  fi
  started=$(date +%s)
  if timeout "$seconds" "$@" >"$out/$name.log" 2>&1; then result=ok; else result="failed ($?)" failed=$((failed + 1)); fi
  echo "$result  $name, $(($(date +%s) - started)) s" | tee -a "$out/steps.txt"
  [ "$result" = ok ] || tail -n 5 "$out/$name.log"
}

if [ -z "$dry" ]; then
  if [ $missing -gt 0 ]; then
    echo "gpu: $missing missing; nothing was run" >&2
    exit 1
  fi
  mkdir -p "$out"
  rm -f "$out/steps.txt"
  nvidia-smi >"$out/nvidia-smi.txt"
fi

# The learner finds the torch of the python3 on the PATH.
[ "$python" = python3 ] || LIBTORCH=${LIBTORCH:-$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>/dev/null)}
[ -z "${LIBTORCH:-}" ] || export LIBTORCH

step build 100 sh runtime/learner/build.sh
step tests 90 vitest run runtime/src/learner runtime/src/policy/policy-session.test.ts
step updates 110 node infra/bench/gpu-bench.ts --python "$python"
step cart-pole 45 ./agentgym train cart-pole --json --seed 1 --out "$out/cart-pole" --force --set learner_device=cuda --set "rollout_provider=$rollouts"
step convolutions 60 ./agentgym train breakout --json --seed 1 --steps 30000 --out "$out/breakout" --force --set learner_device=cuda --set "rollout_provider=$rollouts"
step texts 40 ./agentgym train text-craft --json --seed 1 --steps 10000 --out "$out/text-craft" --force --set learner_device=cuda
step auto 25 ./agentgym train cart-pole --json --seed 1 --steps 20000 --out "$out/auto" --force --set learner_device=auto --set rollout_provider=auto

if [ -n "$dry" ]; then
  [ $missing -eq 0 ] || echo "$missing missing"
  [ $missing -eq 0 ]
  exit
fi
grep -h '^|' "$out/updates.log"
echo "$failed failed; logs are in $out"
[ $failed -eq 0 ]

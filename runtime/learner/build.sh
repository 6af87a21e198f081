#!/bin/sh
# Builds build/agentgym_learner.node and build/agentgym_autograd.so. Does nothing when sources, libtorch, Node-API headers, compiler and processor are
# those of the last build. Needs cmake, make, g++ and python3; finds libtorch in this order: $LIBTORCH, the torch of a
# python3 on the PATH, the system's (Debian: libtorch-dev libopenblas0-pthread).
#   build.sh            builds what is missing
#   build.sh --status   prints "built" or "missing", exit status 0 or 1, and builds nothing
set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
modules=$here/../node_modules
build=$here/build
architecture=${AGENTGYM_LEARNER_ARCHITECTURE:-native}

fail() {
  echo "learner: $1" >&2
  exit 1
}

# Folder of libtorch, empty for the system's.
find_torch() {
  if [ -n "${LIBTORCH:-}" ]; then
    torch_root=$LIBTORCH
    [ -f "$torch_root/lib/libtorch_cpu.so" ] || fail "LIBTORCH=$LIBTORCH holds no lib/libtorch_cpu.so"
    return
  fi
  # find_spec looks without importing: an import of torch takes seconds.
  torch_root=$(python3 -c 'import importlib.util as u, os; s = u.find_spec("torch"); print(os.path.dirname(s.origin) if s and s.origin else "")' 2>/dev/null || true)
  [ -f "$torch_root/lib/libtorch_cpu.so" ] || torch_root=
}

# Old downloads use the C++ ABI from before C++11, which the names in the library show.
find_abi() {
  torch_abi=1
  if [ -n "$torch_root" ] && ! grep -q -a 'NSt7__cxx1112basic_string' "$torch_root/lib/libc10.so"; then
    torch_abi=0
  fi
}

# A processor of another kind must not run instructions that -march=native chose here.
fingerprint() {
  {
    cat "$here/CMakeLists.txt" "$here/build.sh" "$here"/src/*
    echo "$architecture $torch_root"
    ls -lL "${torch_root:-/usr}/include/torch/csrc/api/include/torch/version.h" 2>&1
    c++ --version 2>&1 | head -n 1
    ls -d "$(readlink -f "$modules/node-addon-api")" "$(readlink -f "$modules/node-api-headers")" 2>&1
    grep -m 1 -E '^(flags|Features)' /proc/cpuinfo 2>/dev/null
  } | sha256sum | cut -d ' ' -f 1
}

find_torch
stamp=$(fingerprint)
if [ -f "$build/agentgym_learner.node" ] && [ -f "$build/agentgym_autograd.so" ] && [ "$(cat "$build/stamp" 2>/dev/null || true)" = "$stamp" ]; then
  [ "${1:-}" = --status ] && echo built
  exit 0
fi
if [ "${1:-}" = --status ]; then
  echo missing
  exit 1
fi

for tool in cmake make c++; do
  command -v "$tool" >/dev/null || fail "$tool is not installed (Debian: apt-get install cmake make g++)"
done
[ -f "$modules/node-api-headers/include/node_api.h" ] || fail "dependencies are not installed: run pnpm install first"
if [ -z "$torch_root" ] && ! ldconfig -p | grep -q 'libtorch_cpu\.so'; then
  fail "libtorch is not installed (Debian: apt-get install libtorch-dev libopenblas0-pthread; elsewhere set LIBTORCH to its folder)"
fi
find_abi

# Built aside and moved into place: what is there stays usable until then, and two builds at once do no harm.
work=$build/work.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
log=$build/build.log
{
  cmake -S "$here" -B "$work" -G "Unix Makefiles" \
    -DTORCH_ROOT="$torch_root" -DTORCH_CXX11_ABI="$torch_abi" -DLEARNER_ARCHITECTURE="$architecture" \
    -DNODE_API_INCLUDE="$modules/node-api-headers/include" -DNODE_ADDON_API_INCLUDE="$modules/node-addon-api" &&
    cmake --build "$work" --parallel "$(nproc)"
} >"$work/build.log" 2>&1 || {
  mv "$work/build.log" "$log"
  grep -E -A 5 'error|Error' "$log" | head -n 40 >&2
  fail "the build failed; $log has all of it"
}
mv "$work/build.log" "$log"
rm -f "$build/stamp"
mv "$work/agentgym_autograd.so" "$work/agentgym_learner.node" "$build/"
# The sandbox lets jobs read it.
echo "$torch_root" >"$build/torch-root"
# For copies on other machines: what else than any processor of this kind the compiler has used.
c++ "-march=$architecture" -dM -E - </dev/null 2>/dev/null |
  sed -n -E 's/^#define __((AVX|AMX|FMA)[A-Z0-9_]*)__ 1$/\1/p' | sort >"$build/instructions"
echo "$stamp" >"$build/stamp"

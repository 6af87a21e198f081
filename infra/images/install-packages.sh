#!/bin/sh
# First step of the build, as root in its stage: Debian's compilers and libraries, and the torch of pip where TORCH names one.
set -eu

packages='ca-certificates curl g++ make cmake python3 bubblewrap util-linux postgresql-client-15'
if [ -n "${TORCH:-}" ]; then packages="$packages python3-pip python3-venv"; else packages="$packages libtorch-dev libopenblas0-pthread"; fi
apt-get update
# shellcheck disable=SC2086 # a list of names
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
[ -n "${TORCH:-}" ] || exit 0
[ ! -f /build/build-ca.crt ] || export PIP_CERT=/build/build-ca.crt
python3 -m venv /opt/torch
/opt/torch/bin/pip install --no-cache-dir "$TORCH"

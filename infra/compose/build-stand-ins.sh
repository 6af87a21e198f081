#!/bin/sh
# Makes what stack.test.ts needs where no registry of images is reached: sh infra/compose/build-stand-ins.sh DIR writes
#   docker-compose   Docker Compose, from Go's modules
#   weed             SeaweedFS, from Go's modules
#   programs.tar     a root file system with Debian's PostgreSQL, Prometheus and Caddy
# Needs root, Go 1.26 and Debian's package mmdebstrap; takes some minutes.
set -eu

[ $# -eq 1 ] || { echo 'usage: build-stand-ins.sh DIR' >&2; exit 2; }
for program in go mmdebstrap; do
  command -v "$program" >/dev/null || { echo "stand-ins: $program is not installed" >&2; exit 2; }
done
mkdir -p "$1"
out=$(CDPATH='' cd -- "$1" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/agentgym-stand-ins.XXXXXX")
trap 'rm -rf "$work"' EXIT

# build NAME PACKAGE VERSION: modules of their own, because the two need different versions of others.
build() {
  mkdir "$work/$1"
  cd "$work/$1"
  printf 'module stand-in\n\ngo 1.24\n' > go.mod
  go get -tool "$2@$3"
  CGO_ENABLED=0 nice -n 10 go build -p 2 -trimpath -ldflags '-s -w' -o "$out/$1" "$2"
}
[ -x "$out/docker-compose" ] || build docker-compose github.com/docker/compose/v2/cmd v2.40.3
[ -x "$out/weed" ] || build weed github.com/seaweedfs/seaweedfs/weed v0.0.0-20261109003541-7506e5f91cd6
[ -f "$out/programs.tar" ] ||
  mmdebstrap --mode=root --variant=minbase --include=postgresql-15,prometheus,caddy,wget bookworm "$out/programs.tar"

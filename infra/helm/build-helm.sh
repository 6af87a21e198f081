#!/bin/sh
# Builds helm from Go's modules, for the tests of the long form where it is not installed: sh infra/helm/build-helm.sh DIR
# puts it into DIR. Needs Go 1.26; takes minutes.
set -eu

[ $# -eq 1 ] || { echo 'usage: build-helm.sh DIR' >&2; exit 2; }
mkdir -p "$1"
GOBIN=$(CDPATH='' cd -- "$1" && pwd)
export GOBIN
nice -n 15 go install -p 2 helm.sh/helm/v3/cmd/helm@v3.22.0
echo "$GOBIN/helm"

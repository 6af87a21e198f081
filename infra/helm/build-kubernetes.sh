#!/bin/sh
# Builds kube-apiserver from Go's modules and fetches the kinds of KEDA and of the Prometheus operator, for the test of the long
# form that applies the chart: sh infra/helm/build-kubernetes.sh DIR puts them into DIR, which AGENTGYM_KUBERNETES then names.
# Needs Go 1.26 and 3 GB of memory; takes 20 minutes on two cores.
set -eu

[ $# -eq 1 ] || { echo 'usage: build-kubernetes.sh DIR' >&2; exit 2; }
minor=37.2
keda=v2.21.0
prometheus=v0.85.0

mkdir -p "$1/crds"
out=$(CDPATH='' cd -- "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# field MODULE NAME: what `go mod download` says of a module.
field() {
  go mod download -json "$1" | sed -n "s/^\t\"$2\": \"\(.*\)\",*$/\1/p"
}

# Kubernetes replaces its parts by folders of its repository, which as a module it does not have: they are modules themselves.
{
  printf 'module wrapper\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v1.%s\n' "$minor"
  sed -n 's/^.*\(k8s\.io\/[a-z-]*\) => \.\/staging\/.*$/\1/p' "$(field "k8s.io/kubernetes@v1.$minor" GoMod)" |
    while read -r part; do echo "replace $part => $part v0.$minor"; done
} >go.mod
cat >main.go <<'GO'
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
GO
export GOFLAGS=-mod=mod
go mod tidy
nice -n 15 go build -p 2 -trimpath -ldflags '-s -w' -o "$out/kube-apiserver" .

dir=$(field "github.com/kedacore/keda/v2@$keda" Dir)
for kind in scaledjobs triggerauthentications; do cp "$dir/config/crd/bases/keda.sh_$kind.yaml" "$out/crds/"; done
dir=$(field "github.com/prometheus-operator/prometheus-operator@$prometheus" Dir)
for kind in prometheusrules servicemonitors; do
  cp "$dir/example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml" "$out/crds/"
done
chmod -R u+w "$out/crds"
echo "$out"

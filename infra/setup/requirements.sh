# What the machine itself must have, and what to say when it does not. Sourced by run.sh.

# Sets missing_packages: Debian's names, each after a space. `script` is what is going to run, `beyond_quick` is not
# empty where the full or the long form of the tests is, `long_form` where the long form is.
find_requirements() {
  missing_packages=''
  case ${script##*/} in
    test.sh)
      [ -n "${AGENTGYM_TEST_DATABASE_URL:-}" ] || postgresql_installed || missing_packages=' postgresql'
      [ -n "${AGENTGYM_TEST_CHROMIUM:-}" ] || chromium_installed || missing_packages="$missing_packages chromium"
      # The tests' text encoder comes from a Python package index.
      [ -n "${AGENTGYM_ENCODERS:-}" ] || python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)' 2>/dev/null || missing_packages="$missing_packages python3-pip"
      # The full and the long form run Python clients, each with its libraries.
      [ -z "$beyond_quick" ] || python3 -c 'import ensurepip' 2>/dev/null || missing_packages="$missing_packages python3-venv"
      [ -z "$long_form" ] || [ -x /usr/sbin/pgbouncer ] || missing_packages="$missing_packages pgbouncer"
      ;;
  esac
  # What keeps scenarios of strangers apart from this machine.
  [ "$(uname -s)" != Linux ] || command -v bwrap >/dev/null 2>&1 || missing_packages="$missing_packages bubblewrap"
  command -v c++ >/dev/null 2>&1 || missing_packages="$missing_packages g++"
  command -v make >/dev/null 2>&1 || missing_packages="$missing_packages make"
  command -v cmake >/dev/null 2>&1 || missing_packages="$missing_packages cmake"
  [ -z "${LIBTORCH:-}" ] || return 0
  # find_spec instead of import: importing torch takes seconds, and this runs every time.
  if python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2>/dev/null; then return 0; fi
  debian_package_installed libtorch-dev || missing_packages="$missing_packages libtorch-dev"
  # For trainings over several machines; a libtorch of elsewhere brings its own Gloo, without headers.
  debian_package_installed libgloo-dev || missing_packages="$missing_packages libgloo-dev"
  # libtorch is content with the reference BLAS, which is several times slower.
  debian_package_installed libopenblas0-pthread || missing_packages="$missing_packages libopenblas0-pthread"
}

# Debian keeps the server's programs off the PATH.
postgresql_installed() {
  for initdb in /usr/lib/postgresql/*/bin/initdb; do [ ! -x "$initdb" ] || return 0; done
  command -v initdb >/dev/null 2>&1
}

# The same places as testkit/src/browser.ts.
chromium_installed() { [ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-browser ] || [ -x /usr/bin/google-chrome ]; }

debian_package_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Ends the set-up, before anything has been changed, when this machine cannot be made ready; sets as_root otherwise.
refuse_unsupported_machine() {
  as_root=''
  if [ -n "${LIBTORCH:-}" ] && [ ! -d "$LIBTORCH/include" ]; then
    say "$cross LIBTORCH is $LIBTORCH, which has no include folder. Point it at an unpacked libtorch (the folder with include, lib and share), or unset it."
    exit 2
  fi
  if ! command -v npx >/dev/null 2>&1; then
    say "$cross npx is missing. Install Node.js 18 or later with npm (Debian 12: apt-get install -y nodejs npm)."
    exit 2
  fi
  [ -n "$missing_packages" ] || return 0
  if ! is_debian_12; then explain_other_system; exit 2; fi
  [ "$(id -u)" != 0 ] || return 0
  # With a terminal sudo may ask for a password, once and now; without one it must work without asking.
  if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 2 ] && sudo -v; }; }; then
    as_root=sudo
    return 0
  fi
  say "$cross These Debian packages are missing, and installing them needs root:$missing_packages"
  say "  As root:  apt-get update && apt-get install -y --no-install-recommends$missing_packages"
  case "$missing_packages" in *libtorch*) say '  Without root: set LIBTORCH to an unpacked libtorch, or have a python3 with torch on the PATH.' ;; esac
  case "$missing_packages" in *chromium*) say '  Without root: set AGENTGYM_TEST_CHROMIUM to the program of a Chromium or Chrome.' ;; esac
  case "$missing_packages" in *postgresql*) say '  Without root: set AGENTGYM_TEST_DATABASE_URL to a PostgreSQL server where databases may be made.' ;; esac
  say '  Then run the same command again. Nothing has been changed.'
  exit 2
}

is_debian_12() {
  command -v apt-get >/dev/null 2>&1 && [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

explain_other_system() {
  system=$( (. /etc/os-release && echo "$PRETTY_NAME") 2>/dev/null || uname -sr)
  say "$cross This set-up installs system packages on Debian 12 only; this is $system. Install these yourself:"
  for package in $missing_packages; do
    case $package in
      libtorch-dev)
        say '  - libtorch 1.13 or later for C++. Either unpack a libtorch archive (cxx11 ABI) and set LIBTORCH to its folder,'
        say '    or have a python3 on the PATH that has torch:  python3 -m venv torch && . torch/bin/activate && pip install torch' ;;
      libgloo-dev | libopenblas0-pthread) ;; # comes inside a libtorch archive and inside torch
      postgresql)
        say '  - PostgreSQL 14 or later, its server (initdb on the PATH is enough; it need not run), or set'
        say '    AGENTGYM_TEST_DATABASE_URL to a server where databases may be made' ;;
      python3-venv) say '  - Python 3.11 or later with venv and pip' ;;
      python3-pip)
        say '  - pip for python3, or set AGENTGYM_ENCODERS to a folder that has the model of the text encoder' ;;
      g++) say '  - g++ 12 or later, or clang 15 or later' ;;
      cmake) say '  - cmake 3.18 or later' ;;
      *) say "  - $package" ;;
    esac
  done
  say '  Then run the same command again. Nothing has been changed.'
}

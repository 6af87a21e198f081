# What the set-up says, and how it runs one step. Sourced by run.sh.

case "${LC_ALL:-${LC_CTYPE:-${LANG:-}}}" in
  *UTF-8* | *utf8* | *utf-8*) arrow='→' tick='✓' cross='✗' dots='…' ;;
  *) arrow='->' tick='ok' cross='failed:' dots='...' ;;
esac
dim='' plain=''
if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then dim=$(printf '\033[2m') plain=$(printf '\033[0m'); fi

say() { printf '%s\n' "$*" >&2; }

# step NAME WHAT WHY COMMAND: one line before, one after with the time; the output goes to a log that is shown on failure.
step() {
  step_name=$1 step_what=$2 step_why=$3 step_start=$(date +%s)
  shift 3
  say "$arrow $step_what $dim($step_why)$plain"
  # A slow network must not look like a hang. sleep outlives us: it must hold neither our output (a reader would wait for
  # it) nor descriptor 9, the lock of the set-up.
  (
    while sleep 20 >/dev/null 2>&1 9>&-; do
      step_last=$(tail -n 1 "$logs/$step_name.log" 2>/dev/null | tr -d '[:cntrl:]' | cut -c 1-90)
      say "  $dots $step_name, $(($(date +%s) - step_start)) s${step_last:+: $step_last}"
    done
  ) &
  step_ticker=$!
  step_status=0
  # In a shell of its own with -e: a function called on the left of || would run on past its first failure.
  (set -e; "$@") > "$logs/$step_name.log" 2>&1 &
  step_job=$!
  trap 'kill $step_job $step_ticker 2>/dev/null; exit 130' INT TERM
  wait "$step_job" || step_status=$?
  trap - INT TERM
  kill "$step_ticker" 2>/dev/null || true
  wait "$step_ticker" 2>/dev/null || true
  if [ "$step_status" != 0 ]; then
    tail -n 25 "$logs/$step_name.log" | sed 's/^/  | /' >&2
    say "$cross $step_what (exit $step_status). The whole log: $logs/$step_name.log. Run the same command again once it is fixed: finished steps are kept."
    return 1
  fi
  say "$tick $step_what, $(($(date +%s) - step_start)) s"
}

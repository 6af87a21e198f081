# npm run test:chaos: an hour of faults under mixed load, or AGENTGYM_CHAOS_SECONDS; AGENTGYM_CHAOS_SEED repeats those of another
# run. Started by run.sh, with Node 24 on the PATH.
export NODE_COMPILE_CACHE="$PWD/node_modules/.cache/agentgym/compiled"
export AGENTGYM_TEST_LONG=1 AGENTGYM_CHAOS_SECONDS="${AGENTGYM_CHAOS_SECONDS:-3600}"
exec vitest run infra/e2e/chaos.test.ts "$@"

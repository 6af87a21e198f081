# npm test [-- FILTER…], npm run test:full, npm run test:long: checks and tests. Started by run.sh, with Node 24 on the PATH.
# Tests start hundreds of processes of ours: what one of them has compiled, the next one loads.
export NODE_COMPILE_CACHE="$PWD/node_modules/.cache/agentgym/compiled"
exec node infra/setup/run-tests.ts "$@"

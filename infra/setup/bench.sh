# npm run bench [-- NAME] [--json]: the figures that the documents claim, measured on this machine; --help lists them. Started by run.sh.
exec node --no-node-snapshot infra/bench/bench.ts "$@"

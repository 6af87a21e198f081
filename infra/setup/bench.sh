# npm run bench [-- registry|site|service|market [--embedded]|algorithms] [--json]: the figures that the README claims, measured on this machine. Started by run.sh.
exec node --no-node-snapshot infra/bench/bench.ts "$@"

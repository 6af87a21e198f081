# npm run bench [-- speed|peers|registry|site|service|market [--embedded]|algorithms|dqn] [--json]: the figures that the README claims, measured on this machine. Started by run.sh.
exec node --no-node-snapshot infra/bench/bench.ts "$@"

# npm run bench [-- speed|serve|peers|registry|site|service|market [--embedded]|algorithms|dqn] [--json], or -- results [NAME…] [--page]: the figures that the README claims, measured on this machine. Started by run.sh.
exec node --no-node-snapshot infra/bench/bench.ts "$@"

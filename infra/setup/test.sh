# npm test [-- --long] [FILTER…]: every check and every test. Started by run.sh, with Node 24 on the PATH.
exec node infra/setup/run-tests.ts "$@"

# pnpm check: types, lint, format, import rules and the other rules of this repository. Started by run.sh.
exec node infra/setup/run-tests.ts --checks

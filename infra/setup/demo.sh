# npm run demo: the journey from one account's scenario to another account's agent that meets its targets. Started by run.sh.
exec node infra/setup/demo.ts

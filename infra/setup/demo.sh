# npm run demo: the journey from a scenario's source to an agent that meets its targets. Started by run.sh.
set -eu

for scenario in cart-pole customer-support; do
  printf '\n── %s: check, train, evaluate ──\n\n' "$scenario"
  ./agentgym scenario check "plugins/$scenario"
  # --force: a second demo trains anew and moves the first one's agent aside.
  ./agentgym train "plugins/$scenario" --out "agents/$scenario" --force
  ./agentgym eval "agents/$scenario"
done

exec node infra/setup/demo-summary.ts agents/cart-pole agents/customer-support

import { loadScenario, resolvePlan, train } from '@agentgym/runtime'

// Trains as the CLI would, in a process that a test can kill: FOLDER OUT RESUME key=value…
const [folder, out, resume, ...pairs] = process.argv.slice(2)
const scenario = await loadScenario(folder)
const set = Object.fromEntries(pairs.map((pair) => pair.split('=')))
await train({
  scenario,
  plan: resolvePlan(scenario, { set }),
  seed: 3,
  out,
  resume: resume === 'resume',
  onEvent: (event) => {
    process.stdout.write(`${JSON.stringify(event)}\n`)
  },
})

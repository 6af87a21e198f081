// How good each agent is against its scenario's own criteria, and where it lies.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { type AgentManifest, agentManifestSchema } from '@agentgym/contract'

const figure = new Intl.NumberFormat('en', { maximumFractionDigits: 3 })

/** Prints what became of each agent, and between them and the last word what else there is; false when one misses a target. */
export function printSummary(folders: readonly string[], printMore: () => void): boolean {
  const agents = folders.map((folder) => ({ folder, manifest: readAgent(folder) }))
  console.log(`\n${styleText('bold', 'What you have now')}\n`)
  for (const { folder, manifest } of agents) {
    const { evaluation, steps } = manifest
    console.log(`${styleText('bold', evaluation.scenario)}: ${figure.format(steps)} steps trained`)
    for (const { metric, target, value, ok } of evaluation.success.criteria) {
      const reached = value === null ? 'none' : figure.format(value)
      const mark = ok ? styleText('green', '✓') : styleText('red', '✗')
      console.log(`  ${mark} ${metric.padEnd(18)} ${reached.padStart(8)}  target ${figure.format(target)} or more`)
    }
    console.log(`  over ${evaluation.episodes} held-out episodes; the agent is in ${folder}\n`)
  }
  printMore()
  const short = agents.filter(({ manifest }) => manifest.evaluation.success.ok !== true)
  if (short.length > 0) console.log(`✗ Below target: ${short.map(({ folder }) => folder).join(', ')}`)
  else {
    console.log('✓ Every agent meets its scenario’s targets')
    console.log('→ Next: ./agentgym serve, a registry of your own, or ./agentgym train acrobot --watch')
  }
  return short.length === 0
}

function readAgent(folder: string): AgentManifest {
  return agentManifestSchema.parse(JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')))
}

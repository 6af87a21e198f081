import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readAgent } from '@agentgym/agent/engine'
import type { Comparison } from '@agentgym/contract'
import { writeAtomically } from '../training/run-folder.ts'
import { withComparedSection } from './model-card-section.ts'

/** Writes a comparison into the agent.json of an agent's folder, and into its README.md if it has one. */
export async function saveComparison(folder: string, comparison: Comparison): Promise<void> {
  const manifest = { ...(await readAgent(folder)), comparison }
  const card = join(folder, 'README.md')
  if (existsSync(card)) await writeAtomically(card, withComparedSection(await readFile(card, 'utf8'), manifest))
  await writeAtomically(join(folder, 'agent.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

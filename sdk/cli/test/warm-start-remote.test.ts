// @module-tag full
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentManifestSchema } from '@agentgym/contract'
import { writeReadme } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

let registry: Registry
let ann: Person
const short = ['--steps', '4096', '--set', 'evaluation_episodes=10']

beforeAll(async () => {
  registry = await openRegistry()
  ann = registry.person('ann')
  await ann.join()
  await done(['scenario', 'init', 'puck', '--yes', '--name', '@ann/puck'])
  writeReadme(join(ann.work, 'puck'))
  await done(['scenario', 'publish', 'puck'])
  await done(['train', '@ann/puck', '--out', 'parent', ...short])
  await done(['agent', 'publish', 'parent', '--name', '@ann/parent', '--version', '1.0.0', '--summary', 'Moves.'])
}, 300_000)
afterAll(() => registry?.close())

async function done(words: string[]): Promise<string> {
  const { status, stdout, stderr } = await ann.run(words)
  if (status !== 0) throw new Error(`agentgym ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return stdout
}

const agentIn = (folder: string) =>
  agentManifestSchema.parse(JSON.parse(readFileSync(join(ann.work, folder, 'agent.json'), 'utf8')))

describe('train --remote --from', { timeout: 300_000 }, () => {
  it('comes to the agent that the same command trains on this machine, and records its parent', async () => {
    await done(['train', '@ann/puck', '--from', 'parent', '--seed', '7', '--out', 'here', ...short])
    const remote = ['--remote', '--watch', '--from', '@ann/parent@^1.0.0', '--seed', '7', '--out', 'there']
    const watched = await done(['train', '@ann/puck', ...remote, ...short])
    expect(watched).toContain('Starting from @ann/parent@1.0.0 (license UNLICENSED)')
    const { parent: local, ...here } = agentIn('here')
    const { parent, ...there } = agentIn('there')
    expect(there).toEqual(here)
    expect(parent).toEqual({ ...local, name: '@ann/parent', version: '1.0.0' })
    expect(readFileSync(join(ann.work, 'there/README.md'), 'utf8')).toContain('@ann/parent')
    const { lines } = await ann.run(['runs', 'list', '--remote', '--json'])
    const [{ id }] = (lines[0] as { runs: { id: string }[] }).runs
    expect(await done(['runs', 'show', id])).toMatch(/started from\s+@ann\/parent@1\.0\.0/)
  })

  it('asks to publish a local agent first', async () => {
    const { status, stderr } = await ann.run(['train', '@ann/puck', '--remote', '--from', 'parent'])
    expect(status).toBe(2)
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('agentgym agent publish parent --name @you/name --summary TEXT')
  })
})

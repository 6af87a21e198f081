// @module-tag full
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  agentManifestSchema,
  evaluationSchema,
  leaderboardSchema,
  type Run,
  resultEventSchema,
  runListSchema,
  runSchema,
  serverStatusSchema,
} from '@agentgym/contract'
import { runCli, writeReadme } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChangingProxy } from './changing-proxy.ts'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

let registry: Registry
let ann: Person
let bob: Person

/** Trains until it is canceled. */
const endless = ['--steps', '1e9', '--set', 'evaluate_every=0']
const short = ['--steps', '4096', '--set', 'evaluation_episodes=20']

beforeAll(async () => {
  registry = await openRegistry()
  ann = registry.person('ann')
  bob = registry.person('bob')
  await ann.join()
  await bob.join()
  await done(ann, ['scenario', 'init', 'puck', '--yes', '--name', '@ann/puck'])
  writeReadme(join(ann.work, 'puck'))
  await done(ann, ['scenario', 'publish', 'puck'])
}, 240_000)
afterAll(() => registry?.close())

async function done(person: Person, words: string[]): Promise<unknown[]> {
  const { status, lines, stdout, stderr } = await person.run([...words, '--json'])
  if (status !== 0) throw new Error(`agentgym ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return lines
}

async function startRun(person: Person, words: string[]): Promise<Run> {
  const [line] = await done(person, ['train', '@ann/puck', '--remote', ...words])
  return runSchema.parse(line)
}

async function refusal(person: Person, words: string[]): Promise<{ status: number | null; code: string | undefined }> {
  const { status, lines } = await person.run([...words, '--json'])
  return { status, code: (lines.at(-1) as { error?: { code: string } }).error?.code }
}

/** Runs the command as `person` and interrupts it at the first line that fits. */
function interruptAt(person: Person, words: string[], fits: (line: string) => boolean) {
  const environment = { AGENTGYM_HOME: person.home, AGENTGYM_SERVER: registry.server.url }
  return runCli(words, { cwd: person.work, environment, onLine: (line, interrupt) => void (fits(line) && interrupt()) })
}

describe('training on shared machines', { timeout: 300_000 }, () => {
  it('status shows the idle worker', async () => {
    const [line] = await done(bob, ['status'])
    const { server, ...answer } = line as { server: string }
    expect(server).toBe(registry.server.url)
    expect(serverStatusSchema.parse(answer).workers).toMatchObject([{ slots: expect.any(Number) }])
  })

  it('downloads an agent that evaluates as reported', async () => {
    const lines = await done(bob, ['train', '@ann/puck', '--remote', '--watch', '--seed', '3', ...short])
    const result = resultEventSchema.parse(lines.at(-1))
    expect(result).toMatchObject({ ok: true, agent: join(bob.work, 'agents', 'puck') })
    const steps = lines
      .map((line) => line as { event: string; iteration: number })
      .filter(({ event }) => event === 'progress')
    expect(steps.map(({ iteration }) => iteration)).toEqual(steps.map((_, index) => index + 1))
    const { episodes, seed } = result.evaluation
    const [again] = await done(bob, ['eval', 'puck', '--episodes', `${episodes}`, '--seed', `${seed}`])
    expect(evaluationSchema.parse(again)).toEqual(result.evaluation)
    expect(existsSync(join(bob.work, 'agents', 'puck', 'learning-curve.svg'))).toBe(true)
  })

  it('matches local training bit for bit', async () => {
    await done(ann, ['train', '@ann/puck', '--seed', '3', '--out', 'agents/here', ...short])
    const hashOf = (path: string) => agentManifestSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).model_hash
    const remote = hashOf(join(bob.work, 'agents', 'puck', 'agent.json'))
    expect(hashOf(join(ann.work, 'agents', 'here', 'agent.json'))).toBe(remote)
  })

  it('continues when detached, is found again, and is canceled', async () => {
    const left = await interruptAt(
      bob,
      ['train', '@ann/puck', '--remote', '--watch', '--out', 'later', '--json', ...endless],
      (line) => line.includes('"event":"progress"'),
    )
    expect(left.status).toBe(0)
    const run = runSchema.parse(left.lines.at(-1))
    const [list] = await done(bob, ['runs', 'list', '--state', 'running'])
    expect(runListSchema.parse(list).runs.map(({ id }) => id)).toEqual([run.id])
    await done(bob, ['runs', 'cancel', run.id.slice(0, 8)])
    const watched = await bob.run(['runs', 'watch', run.id.slice(0, 8), '--json'])
    expect(watched.status).toBe(1)
    expect(watched.lines.at(-1)).toMatchObject({ event: 'error', error: { code: 'training_cancelled' } })
    const [shown] = await done(bob, ['runs', 'show', run.id])
    expect(shown).toMatchObject({ state: 'cancelled', checkpoint: { iteration: expect.any(Number) } })
    expect(existsSync(join(bob.work, 'later'))).toBe(false)
  })

  it('is hidden from others, resumes only after its budget is used up, and exports curve and trajectories', async () => {
    const run = await startRun(bob, ['--trajectories', '1', '--note', 'to look at', ...short])
    expect(await refusal(ann, ['runs', 'show', run.id])).toEqual({ status: 1, code: 'run_not_found' })
    expect(await refusal(ann, ['runs', 'cancel', run.id])).toEqual({ status: 1, code: 'run_not_found' })
    await done(bob, ['runs', 'watch', run.id])
    expect(await refusal(bob, ['runs', 'resume', run.id, '--budget', '1'])).toEqual({
      status: 1,
      code: 'run_state_conflict',
    })
    const [shown] = (await done(bob, ['runs', 'show', run.id])) as { curve: { steps: number }[]; note: string }[]
    expect(shown.note).toBe('to look at')
    expect(shown.curve.at(-1)?.steps).toBeGreaterThanOrEqual(4096)
    await done(bob, ['runs', 'export', run.id, '--csv', '--out', 'curve.csv'])
    expect(readFileSync(join(bob.work, 'curve.csv'), 'utf8')).toMatch(/^iteration,steps,/)
    await done(bob, ['runs', 'export', run.id, '--tensorboard', '--out', 'curve.tfevents'])
    expect(readFileSync(join(bob.work, 'curve.tfevents')).includes('brain.Event:2')).toBe(true)
    await done(bob, ['runs', 'export', run.id, '--trajectories', '--out', 'played.ndjson'])
    const [first] = readFileSync(join(bob.work, 'played.ndjson'), 'utf8').split('\n')
    expect(JSON.parse(first)).toMatchObject({ iteration: 1 })
    const human = await bob.run(['runs', 'show', run.id.slice(0, 8)])
    expect(human.stdout).toMatch(/[\u2801-\u28ff]{3}/)
  })

  it.each([
    [['@ann/nothing'], 1, 'package_not_found'],
    [['@ann/puck@^9'], 1, 'version_not_found'],
    [['@ann/puck', '--algorithm', 'magic'], 2, 'config_invalid'],
    [['@ann/puck', '--set', 'gamma=2'], 2, 'config_invalid'],
    [['@ann/puck', '--publish', '@ann/mine'], 1, 'forbidden'],
    [['@ann/puck', '--publish', 'unsaid'], 2, 'package_summary_missing'],
  ])('train %j --remote is refused', async (words, status, code) => {
    expect(await refusal(bob, ['train', ...words, '--remote'])).toEqual({ status, code })
  })
})

describe('published agents', { timeout: 300_000 }, () => {
  const agent = () => join(bob.work, 'agents', 'puck')

  it('a folder is packed, re-run by a worker, and verified', async () => {
    const [dry] = await done(bob, ['agent', 'publish', 'puck', '--dry-run', '--summary', 'Holds the puck.'])
    expect(dry).toMatchObject({ dry_run: true, name: '@bob/puck-ppo', version: '0.1.0' })
    const [published] = await done(bob, ['agent', 'publish', 'puck', '--summary', 'Holds the puck.'])
    expect(published).toMatchObject({
      ok: true,
      name: '@bob/puck-ppo',
      state: 'published',
      integrity: (dry as { integrity: string }).integrity,
      verification: { state: 'verified', signed: { key_id: expect.any(String) } },
    })
    const again = await bob.run(['agent', 'publish', 'puck', '--json'])
    expect(again.lines).toMatchObject([{ ok: true, integrity: (dry as { integrity: string }).integrity }])
  })

  it('users can verify it without trusting the server', async () => {
    const [report] = await done(ann, ['agent', 'verify', '@bob/puck-ppo'])
    expect(report).toMatchObject({ ok: true, agent: { name: '@bob/puck-ppo', version: '0.1.0' } })
    const { checks } = report as { checks: { id: string; ok: boolean }[] }
    expect(checks.map(({ id, ok }) => [id, ok])).toEqual([
      ['signature', true],
      ['package', true],
      ['claim', true],
      ['held_out', true],
    ])
    const human = await ann.run(['agent', 'verify', '@bob/puck-ppo'])
    expect(human.status).toBe(0)
    expect(human.stdout).toContain(
      '@bob/puck-ppo@0.1.0 is verified: the signature is valid and the results were reproduced',
    )
  })

  it('an altered statement is rejected', async () => {
    // As it stands in the JSON of the version: a text with its quotes escaped.
    const proxy = await startChangingProxy(registry.server.url, (text) =>
      text.replaceAll('\\"episodes\\":100', '\\"episodes\\":101'),
    )
    try {
      const verified = await ann.run(['agent', 'verify', '@bob/puck-ppo', '--json'], { AGENTGYM_SERVER: proxy.url })
      expect(verified).toMatchObject({ status: 1, lines: [{ error: { code: 'signature_invalid' } }] })
    } finally {
      await proxy.close()
    }
  })

  it('an agent with wrong claims is published, marked, and not signed', async () => {
    const liar = join(bob.work, 'agents', 'liar')
    mkdirSync(liar, { recursive: true })
    cpSync(agent(), liar, { recursive: true })
    const path = join(liar, 'agent.json')
    const manifest = agentManifestSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    manifest.evaluation.return_mean = (manifest.evaluation.return_mean ?? 0) + 1
    writeFileSync(path, JSON.stringify(manifest))
    const here = await bob.run(['agent', 'verify', 'liar', '--json'])
    expect(here.status).toBe(1)
    expect(here.lines).toMatchObject([
      {
        ok: false,
        checks: [
          { id: 'model', ok: true },
          { id: 'claim', ok: false },
        ],
      },
    ])
    const published = await bob.run(['agent', 'publish', 'liar', '--name', 'liar', '--summary', 'Lies.', '--json'])
    expect(published.status).toBe(1)
    expect(published.lines).toMatchObject([
      { ok: false, state: 'published', verification: { state: 'inconclusive', signed: null } },
    ])
    const verified = await ann.run(['agent', 'verify', '@bob/liar', '--json'])
    expect(verified).toMatchObject({ status: 1, lines: [{ error: { code: 'verification_missing' } }] })
  })

  it('another model for a used version is refused, with the command to use', async () => {
    const taken = await bob.run(['agent', 'publish', 'liar', '--name', '@bob/puck-ppo', '--json'])
    expect(taken).toMatchObject({
      status: 1,
      lines: [{ error: { code: 'version_exists', hint: expect.stringContaining('--version') } }],
    })
  })

  it('a run’s agent is published by ID, or by the run itself', async () => {
    const [list] = await done(bob, ['runs', 'list', '--state', 'completed', '--limit', '1'])
    const [run] = runListSchema.parse(list).runs
    const words = [
      'agent',
      'publish',
      run.id.slice(0, 8),
      '--name',
      'from-a-run',
      '--version',
      '2.0.0',
      '--summary',
      'Holds.',
    ]
    expect(await done(bob, words)).toMatchObject([{ ok: true, name: '@bob/from-a-run', version: '2.0.0' }])
    const lines = await done(bob, [
      'train',
      '@ann/puck',
      '--remote',
      '--watch',
      '--out',
      'p',
      '--publish',
      'by-itself',
      '--summary',
      'Holds the puck by itself.',
      ...short,
    ])
    const published = (lines as { change?: string; agent?: Run['agent'] }[]).find(
      ({ change }) => change === 'completed',
    )
    expect(published?.agent?.package).toEqual({ name: '@bob/by-itself', version: '0.1.0' })
  })

  it('verified agents are on the leaderboard and the scenario’s page', async () => {
    const [board] = await done(ann, ['leaderboard', '@ann/puck'])
    const names = leaderboardSchema.parse(board).entries.map(({ agent }) => agent.name)
    expect(names).toContain('@bob/puck-ppo')
    expect(names).not.toContain('@bob/liar')
    const page = await ann.run(['info', '@ann/puck'])
    expect(page.stdout).toMatch(/Best verified agents.*@bob\/puck-ppo@0\.1\.0/s)
    expect((await ann.run(['info', '@bob/puck-ppo'])).stdout).toMatch(/✓ Verified \S{8} by/)
    expect((await ann.run(['info', '@bob/liar@0.1.0'])).stdout).toMatch(/! Not verified: The re-run differs/)
  })

  it('an installed agent is evaluated by name', async () => {
    await done(ann, ['agent', 'install', '@bob/puck-ppo'])
    const [evaluation] = await done(ann, ['eval', '@bob/puck-ppo', '--episodes', '5'])
    expect(evaluationSchema.parse(evaluation)).toMatchObject({ episodes: 5, scenario: '@ann/puck@0.1.0' })
  })
})

it('tokens and passwords are never printed', () => {
  for (const output of [...registry.outputs, registry.server.output()]) {
    for (const secret of registry.secrets) expect(output).not.toContain(secret)
  }
})

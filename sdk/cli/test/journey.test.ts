// @module-tag full
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  agentManifestSchema,
  checkReportSchema,
  evaluationSchema,
  resultEventSchema,
  type TrainingEvent,
  trainingEventSchema,
} from '@agentgym/contract'
import { runCli, runCliProcess } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-journey-'))
const options = { cwd: folder, environment: { AGENTGYM_HOME: join(folder, 'home') } }
const agent = join(folder, 'agents', 'puck')
const short = ['--steps', '6000', '--set', 'evaluation_episodes=20']
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function modelHash(path: string): string {
  return agentManifestSchema.parse(JSON.parse(readFileSync(join(path, 'agent.json'), 'utf8'))).model_hash
}

describe('from an empty folder to an agent', () => {
  it.each(['control', 'tools'])('init writes a scenario that passes every check (%s)', async (template) => {
    const name = template === 'control' ? 'puck' : 'desk'
    const init = await runCli(['scenario', 'init', name, '--template', template, '--yes', '--json'], options)
    expect(init).toMatchObject({
      status: 0,
      lines: [{ name, template, files: expect.arrayContaining(['src/index.ts']) }],
    })
    const check = await runCli(['scenario', 'check', name, '--json'], options)
    const report = checkReportSchema.parse(check.lines[0])
    expect(report.checks.filter((one) => !one.ok)).toEqual([])
    expect(check.status).toBe(0)
  })

  it('init overwrites nothing', async () => {
    writeFileSync(join(folder, 'puck', 'README.md'), 'mine')
    const { status, lines } = await runCli(['scenario', 'init', 'puck', '--json'], options)
    expect(status).toBe(2)
    expect(lines[0]).toMatchObject({
      error: { code: 'usage_invalid', data: { files: expect.arrayContaining(['README.md']) } },
    })
    expect(readFileSync(join(folder, 'puck', 'README.md'), 'utf8')).toBe('mine')
  })

  it('check exits with 1 and shows the problem', async () => {
    const broken = join(folder, 'broken')
    await runCli(['scenario', 'init', 'broken', '--yes'], options)
    const entry = join(broken, 'src', 'index.ts')
    writeFileSync(entry, readFileSync(entry, 'utf8').replace('reward: 1 - distance', 'reward: Number.NaN'))
    const json = await runCli(['scenario', 'check', 'broken', '--json'], options)
    expect(json.status).toBe(1)
    expect(checkReportSchema.parse(json.lines[0]).ok).toBe(false)
    const human = await runCli(['scenario', 'check', 'broken'], options)
    expect(human.status).toBe(1)
    expect(human.stdout).toMatch(/^ {2}✗ /m)
    expect(human.stdout).toMatch(/broken@0\.1\.0: \d+ of \d+ checks failed/)
  })

  it('build prints path, size and hash', async () => {
    const { status, lines } = await runCli(['scenario', 'build', 'puck', '--json'], options)
    expect(status).toBe(0)
    const path = join(folder, 'puck', 'dist', 'scenario.js')
    expect(lines).toEqual([
      {
        name: 'puck',
        version: '0.1.0',
        path,
        bytes: readFileSync(path).length,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
  })

  it('train prints events of the contract, the result last; the template learns', async () => {
    const { status, stderr, lines } = await runCli(['train', 'puck', '--seed', '3', '--json'], options)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const events: TrainingEvent[] = lines.map((line) => trainingEventSchema.parse(line))
    expect(events.filter((event) => event.event === 'result')).toHaveLength(1)
    expect(resultEventSchema.parse(events.at(-1))).toMatchObject({
      ok: true,
      agent,
      evaluation: { success: { ok: true } },
    })
    expect(events.slice(0, 2).map(({ event }) => event)).toEqual(['defaults', 'progress'])
    expect(existsSync(join(agent, 'run.json'))).toBe(false)
  })

  it('the template with tools learns', async () => {
    const { lines } = await runCli(['train', 'desk', '--out', 'desk/agent', '--json'], options)
    expect(resultEventSchema.parse(lines.at(-1)).evaluation.success).toMatchObject({ ok: true })
  })

  it('eval prints an evaluation, reproducibly', async () => {
    const first = await runCli(['eval', 'agents/puck', '--episodes', '10', '--seed', '5', '--json'], options)
    expect(first.status).toBe(0)
    expect(evaluationSchema.parse(first.lines[0])).toMatchObject({ scenario: 'puck@0.1.0', episodes: 10, seed: 5 })
    const again = await runCli(
      ['eval', 'puck', '--episodes', '10', '--seed', '5', '--scenario', 'puck', '--json'],
      options,
    )
    expect(again.lines).toEqual(first.lines)
  })

  it('list and info show the agent', async () => {
    const list = await runCli(['list', '--json'], options)
    expect(list.lines[0]).toMatchObject({ agents: [{ name: 'puck', folder: agent, scenario: 'puck@0.1.0', seed: 3 }] })
    const info = await runCli(['info', 'agents/puck', '--json'], options)
    expect(info.lines[0]).toMatchObject({ kind: 'agent', folder: agent })
    agentManifestSchema.parse((info.lines[0] as { manifest: unknown }).manifest)
    const human = await runCli(['info', 'agents/puck'], options)
    expect(human.stdout).toContain('on_target')
    expect(human.stdout).toMatch(/^ {2}bundle +[0-9a-f]{64}$/m)
  })

  it('a broken agent does not break the list', async () => {
    writeFileSync(join(agent, 'model.onnx'), 'something else')
    const list = await runCli(['list', '--json'], options)
    expect(list.status).toBe(0)
    expect(list.lines[0]).toMatchObject({ agents: [{ name: 'puck', error: { code: 'agent_invalid' } }] })
    expect((await runCli(['list'], options)).stdout).toContain('broken')
  })

  it('train never overwrites an agent; --force moves it aside', async () => {
    const refused = await runCli(['train', 'puck', '--json', ...short], options)
    expect(refused.status).toBe(2)
    expect(refused.lines).toMatchObject([
      { event: 'error', error: { code: 'usage_invalid', hint: expect.stringContaining('--force') } },
    ])
    const forced = await runCli(['train', 'puck', '--force', '--watch', ...short], options)
    expect(forced.status).toBe(0)
    expect(forced.stdout).toContain('Moved the existing agent to agents/puck.1')
    expect(forced.stdout).toContain('--watch needs a terminal')
    expect(forced.stdout).toMatch(/→ Evaluate it: agentgym eval agents\/puck\n$/)
    expect(readFileSync(join(`${agent}.1`, 'model.onnx'), 'utf8')).toBe('something else')
  })

  it('a run that fails at once leaves nothing behind', async () => {
    const { status, lines } = await runCli(['train', 'broken', '--json', ...short], options)
    expect(status).toBe(1)
    expect(lines.at(-1)).toMatchObject({ event: 'error', error: { code: 'reward_not_finite' } })
    expect(existsSync(join(folder, 'agents', 'broken'))).toBe(false)
  })
})

describe('an interrupted run', { timeout: 300_000 }, () => {
  const longer = ['--steps', '120000', '--seed', '9', '--set', 'evaluation_episodes=20']
  beforeAll(async () => {
    if (!existsSync(join(folder, 'puck'))) await runCli(['scenario', 'init', 'puck', '--yes'], options)
  })

  it.each([
    // A real signal to a real process, and an interrupt in this one.
    { algorithm: 'ppo', run: runCliProcess },
    { algorithm: 'grpo', run: runCli },
  ])(
    'keeps a checkpoint, shows how to resume, and then ends as if never interrupted ($algorithm)',
    async ({ algorithm, run }) => {
      const [out, whole] = [`agents/${algorithm}-stopped`, `agents/${algorithm}-whole`]
      const request = ['--algorithm', algorithm, ...longer]
      let interrupted = false
      const stopped = await run(['train', 'puck', '--out', out, '--json', ...request], {
        ...options,
        onLine: (_, interrupt) => {
          if (!interrupted) interrupt()
          interrupted = true
        },
      })
      expect(stopped.status).toBe(1)
      const last = trainingEventSchema.parse(stopped.lines.at(-1))
      const resume = `agentgym train puck --out ${out} --resume`
      expect(last).toMatchObject({
        event: 'error',
        error: { code: 'training_cancelled', data: { resume, checkpoint: expect.any(String) } },
      })

      const refused = await runCli(['train', 'puck', '--out', out, '--json'], options)
      expect(refused.lines).toMatchObject([
        { error: { code: 'usage_invalid', message: expect.stringContaining('unfinished run') } },
      ])

      // Algorithm, seed and settings come from the record of the run.
      const resumed = await runCli([...resume.split(' ').slice(1), '--json'], options)
      expect(resumed.status).toBe(0)
      const uninterrupted = await runCli(['train', 'puck', '--out', whole, '--json', ...request], options)
      expect(uninterrupted.status).toBe(0)
      expect(modelHash(join(folder, out))).toBe(modelHash(join(folder, whole)))
      expect(readFileSync(join(folder, out, 'README.md'), 'utf8')).toContain(`Trained with ${algorithm.toUpperCase()} `)
    },
  )
})

describe('a resumed run', { timeout: 300_000 }, () => {
  const out = 'agents/continued'
  const train = (...words: string[]) => runCli(['train', 'puck', '--out', out, '--json', ...words], options)
  const manifest = () => agentManifestSchema.parse(JSON.parse(readFileSync(join(folder, out, 'agent.json'), 'utf8')))
  beforeAll(async () => {
    if (!existsSync(join(folder, 'puck'))) await runCli(['scenario', 'init', 'puck', '--yes'], options)
    await train(...short, '--seed', '4', '--set', 'gamma=0.9', '--set', 'learning_rate_schedule=constant')
  })

  it('is refused without more steps, with their current number', async () => {
    const again = await train()
    expect(again.lines).toMatchObject([{ error: { hint: expect.stringContaining('--resume --steps N') } }])
    const complete = await train('--resume')
    expect(complete.status).toBe(2)
    expect(complete.lines).toMatchObject([
      { error: { code: 'usage_invalid', hint: expect.stringMatching(/--resume --steps \d+\.$/) } },
    ])
    const fewer = await train('--resume', '--steps', '1000')
    expect(fewer.lines).toMatchObject([{ error: { code: 'config_invalid', data: { field: 'steps' } } }])
    const other = await train('--resume', '--steps', '12000', '--set', 'gamma=0.8', '--seed', '5')
    expect(other.lines).toMatchObject([{ error: { code: 'checkpoint_invalid', data: { fields: ['gamma', 'seed'] } } }])
    expect(existsSync(join(folder, out, 'run.json'))).toBe(false)
  })

  it("keeps its seed and settings, even if the scenario's have changed", async () => {
    const path = join(folder, 'puck', 'package.json')
    const written = readFileSync(path, 'utf8')
    const { agentgym, ...rest } = JSON.parse(written)
    writeFileSync(path, JSON.stringify({ ...rest, agentgym: { ...agentgym, training: { gamma: 0.5, epochs: 9 } } }))
    const { settings: before, seed } = manifest()
    const { status, lines } = await train('--resume', '--steps', '12000')
    writeFileSync(path, written)
    expect({ status, last: lines.at(-1) }).toMatchObject({ status: 0, last: { event: 'result' } })
    expect(manifest()).toMatchObject({ seed, settings: { ...before, steps: 12_000 } })
    expect(lines[0]).toMatchObject({ event: 'progress' })
    expect((lines[0] as { steps: number }).steps).toBeGreaterThan(Number(before.steps) / 2)
    expect(existsSync(join(folder, out, 'run.json'))).toBe(false)
  })

  it('starts over if interrupted before its first checkpoint', async () => {
    const early = 'agents/early'
    mkdirSync(join(folder, early))
    const record = { format: 1, seed: 6, steps: 3000, set: { evaluation_episodes: '5' } }
    writeFileSync(join(folder, early, 'run.json'), JSON.stringify(record))
    const { lines } = await runCli(['train', 'puck', '--out', early, '--json', '--resume'], options)
    expect(lines.at(-1)).toMatchObject({ event: 'result', evaluation: { episodes: 5 } })
  })

  it('is not suggested if the scenario failed', async () => {
    await runCli(['scenario', 'init', 'late', '--yes'], options)
    const entry = join(folder, 'late', 'src', 'index.ts')
    const source = readFileSync(entry, 'utf8')
    writeFileSync(
      entry,
      source.replace('reward: 1 - distance', 'reward: distance > 0 && ++calls > 9_000 ? Number.NaN : 1'),
    )
    writeFileSync(entry, `let calls = 0\n${readFileSync(entry, 'utf8')}`)
    const words = ['train', 'late', ...short, '--steps', '40000', '--set', 'checkpoint_every=2000']
    const { status, stderr } = await runCli(words, options)
    expect(status).toBe(1)
    expect(stderr.replace(/\s+/g, ' ')).toContain('train with what you have changed, and --force')
    expect(stderr).not.toContain('Resume:')
  })
})

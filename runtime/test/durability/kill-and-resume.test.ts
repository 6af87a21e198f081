// @module-tag full
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ResultEvent, TrainingEvent } from '@agentgym/contract'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFixtures, scenarioOf, temporaryFolder } from '../scenario-fixture.ts'

afterAll(removeFixtures)

const entry = fileURLToPath(new URL('./train-in-a-process.ts', import.meta.url))

/** Runs training in its own process; with `killAfter`, SIGKILLs it right after that many checkpoints were reported. */
function run(
  folder: string,
  out: string,
  options: { resume?: boolean; killAfter?: number; set: string[] },
): Promise<TrainingEvent[]> {
  const child = spawn(
    process.execPath,
    ['--no-node-snapshot', entry, folder, out, options.resume ? 'resume' : 'new', ...options.set],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const events: TrainingEvent[] = []
  let checkpoints = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as TrainingEvent
    events.push(event)
    if (event.event === 'checkpoint' && ++checkpoints === options.killAfter) child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(events))
  })
}

function result(events: TrainingEvent[]): ResultEvent {
  const last = events.at(-1)
  if (last?.event !== 'result') throw new Error(`the run ended with ${JSON.stringify(last)}`)
  return last
}

async function modelHash(out: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(out, 'model.onnx')))
    .digest('hex')
}

const settings = [
  'steps=8192',
  'environments=8',
  'rollout_steps=64',
  'checkpoint_every=1024',
  'evaluation_episodes=20',
  'normalize_observation=true',
  'normalize_reward=true',
  'rollout_workers=2',
]

// Long episodes, so that most of them are under way at a checkpoint; state and randomness in every form.
const definition = `
  observation: box({ shape: [3] }), action: discrete({ n: 3 }), maxSteps: 150,
  reset({ rng }) { return { x: rng.normal(), noise: Math.random(), born: Date.now(), history: new Map() } },
  step(state, action, { rng }) {
    state.x += (action - 1) * 0.1 + rng.normal() * 0.05
    state.noise = Math.random()
    state.history.set(state.history.size, action)
    return { reward: -Math.abs(state.x), terminated: Math.abs(state.x) > 4 }
  },
  observe(state) { return [state.x, state.noise, state.history.size / 150] },`

describe('a run that dies and is resumed', { timeout: 300_000 }, () => {
  it('ends with the same weights, evaluation and trajectories as one that was not interrupted', async () => {
    const { folder } = await scenarioOf(definition)
    const whole = join(temporaryFolder(), 'whole')
    const reference = result(await run(folder, whole, { set: settings }))

    const killed = join(temporaryFolder(), 'killed')
    const before = await run(folder, killed, { set: settings, killAfter: 3 })
    expect(before.at(-1)?.event).not.toBe('result')
    // Killed a second time, so that a resumed run's own checkpoints are tried too.
    await run(folder, killed, { set: settings, resume: true, killAfter: 2 })
    const resumed = result(await run(folder, killed, { set: settings, resume: true }))

    expect(resumed.evaluation).toEqual(reference.evaluation)
    expect(resumed.steps).toBe(reference.steps)
    expect(await modelHash(killed)).toBe(await modelHash(whole))
  })

  it('gives equal weights and trajectories twice over, and others for another seed', async () => {
    const { folder } = await scenarioOf(definition)
    const [a, b] = [join(temporaryFolder(), 'a'), join(temporaryFolder(), 'b')]
    const first = result(await run(folder, a, { set: settings }))
    const second = result(await run(folder, b, { set: settings }))
    expect(second.evaluation.trajectory_hash).toBe(first.evaluation.trajectory_hash)
    expect(await modelHash(b)).toBe(await modelHash(a))
  })
})

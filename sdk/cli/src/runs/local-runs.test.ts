import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentGymError, type Evaluation, type ProgressEvent } from '@agentgym/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findLocalRun, listLocalRuns, RunRecorder, readLocalCurve, removeLocalRun } from './local-runs.ts'

let folder: string
let home: { environment: Record<string, string>; cwd: string }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-local-runs-'))
  home = { environment: { AGENTGYM_HOME: folder }, cwd: folder }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const plan = (change: { agent?: string; resume?: boolean; seed?: number } = {}) => ({
  scenario: '@acme/maze@1.0.0',
  title: 'Maze',
  algorithm: 'ppo',
  steps: 1_000,
  seed: 1,
  out: 'agents/maze',
  agent: join(folder, 'agents/maze'),
  resume: false,
  success: { return_mean: 5 },
  settings: { learning_rate: 0.001 },
  ...change,
})

const progress = (iteration: number, value: number | null = iteration): ProgressEvent => ({
  event: 'progress',
  iteration,
  steps: iteration * 100,
  steps_total: 1_000,
  steps_per_second: 1,
  seconds: iteration,
  collect_seconds: 0,
  update_seconds: 0,
  episodes: 1,
  episodes_total: iteration,
  return_mean: value,
  length_mean: 1,
  metrics: {},
  learner: {
    policy_loss: null,
    value_loss: null,
    entropy: null,
    approximate_kl: null,
    clip_fraction: null,
    explained_variance: null,
    kl_to_reference: null,
    zero_variance_groups: null,
    gradient_norm: null,
    learning_rate: null,
  },
})

const evaluation: Evaluation = {
  scenario: '@acme/maze@1.0.0',
  episodes: 100,
  seed: 0,
  return_mean: 6,
  return_std: 1,
  length_mean: 10,
  metrics: {},
  success: { ok: true, criteria: [{ metric: 'return_mean', target: 5, value: 6, ok: true }] },
  trajectory_hash: 'a'.repeat(64),
}
const result = { event: 'result' as const, ok: true, agent: 'agents/maze', steps: 300, seconds: 3, evaluation }
const recordPath = (id: string) => join(folder, 'runs', id, 'run.json')

describe('RunRecorder', () => {
  it('keeps the curve and the result of a run', async () => {
    const recorder = await RunRecorder.start(home, plan())
    expect(await listLocalRuns(home)).toMatchObject([{ id: recorder.id, state: 'running', ended_at: null }])
    for (const iteration of [1, 2, 3]) recorder.event(progress(iteration))
    await recorder.completed(result)
    const [run] = await listLocalRuns(home)
    expect(run).toMatchObject({ state: 'completed', steps: 300, seconds: 3, return_mean: 3, evaluation })
    expect(run.ended_at).not.toBeNull()
    expect(await readLocalCurve(home, run.id)).toEqual([1, 2, 3].map((iteration) => progress(iteration)))
    expect(recorder.problem).toBeUndefined()
  })

  it('distinguishes a stopped run from a failed one', async () => {
    const stopped = await RunRecorder.start(home, plan({ seed: 1 }))
    await stopped.failed(new AgentGymError({ code: 'training_cancelled', message: 'stopped' }))
    const failed = await RunRecorder.start(home, plan({ seed: 2 }))
    await failed.failed(new AgentGymError({ code: 'scenario_threw', message: 'it threw' }))
    const states = (await listLocalRuns(home)).map(({ seed, state, error }) => ({ seed, state, error }))
    expect(states).toContainEqual({
      seed: 1,
      state: 'stopped',
      error: { code: 'training_cancelled', message: 'stopped' },
    })
    expect(states).toContainEqual({ seed: 2, state: 'failed', error: { code: 'scenario_threw', message: 'it threw' } })
  })

  it('continues the record of a resumed run, replacing points after its checkpoint', async () => {
    const first = await RunRecorder.start(home, plan())
    for (const iteration of [1, 2, 3, 4]) first.event(progress(iteration, 1))
    await first.failed(new AgentGymError({ code: 'training_cancelled', message: 'stopped' }))
    // What a killed process leaves.
    appendFileSync(join(folder, 'runs', first.id, 'progress.jsonl'), '{"event":"progr')
    appendFileSync(join(folder, 'runs', first.id, 'progress.jsonl'), '\n')
    const second = await RunRecorder.start(home, plan({ resume: true }))
    expect(second.id).toBe(first.id)
    for (const iteration of [3, 4, 5]) second.event(progress(iteration, 2))
    await second.completed(result)
    const curve = await readLocalCurve(home, first.id)
    expect(curve.map(({ iteration, return_mean }) => [iteration, return_mean])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 2],
      [5, 2],
    ])
    expect(await listLocalRuns(home)).toHaveLength(1)
  })

  it('creates a new record for a new run in the same folder, and continues that of an extended run', async () => {
    const first = await RunRecorder.start(home, plan())
    await first.completed(result)
    const extended = await RunRecorder.start(home, plan({ resume: true }))
    expect(extended.id).toBe(first.id)
    expect((await RunRecorder.start(home, plan())).id).not.toBe(first.id)
  })

  it('never fails the run if the record cannot be written', async () => {
    writeFileSync(join(folder, 'runs'), 'a file')
    expect((await RunRecorder.start(home, plan())).problem).toMatchObject({ code: 'ENOTDIR' })
    rmSync(join(folder, 'runs'))
    const recorder = await RunRecorder.start(home, plan())
    rmSync(join(folder, 'runs', recorder.id), { recursive: true })
    recorder.event(progress(1))
    await recorder.completed(result)
    expect(recorder.problem).toMatchObject({ code: 'ENOENT' })
  })
})

describe('listLocalRuns', () => {
  it('is empty before the first run', async () => {
    expect(await listLocalRuns(home)).toEqual([])
  })

  it('shows a run whose process is gone as interrupted', async () => {
    const { id } = await RunRecorder.start(home, plan())
    const record = JSON.parse(readFileSync(recordPath(id), 'utf8'))
    // The greatest process ID of Linux is 4,194,304.
    writeFileSync(recordPath(id), JSON.stringify({ ...record, pid: 99_999_999 }))
    expect(await listLocalRuns(home)).toMatchObject([{ id, state: 'interrupted' }])
  })

  it('ignores invalid records', async () => {
    const { id } = await RunRecorder.start(home, plan())
    mkdirSync(join(folder, 'runs/other'))
    writeFileSync(join(folder, 'runs/other/run.json'), '{"format":')
    expect((await listLocalRuns(home)).map((run) => run.id)).toEqual([id])
  })

  it('finds a run by the beginning of its ID, and removes its record', async () => {
    const { id } = await RunRecorder.start(home, plan())
    expect(await findLocalRun(home, id.slice(0, 4).toUpperCase())).toMatchObject({ id })
    expect(await findLocalRun(home, id.slice(0, 3))).toBeNull()
    expect(await findLocalRun(home, 'zzzz')).toBeNull()
    await removeLocalRun(home, id)
    expect(readdirSync(join(folder, 'runs'))).toEqual([])
  })
})

import { describeOnEngines } from '@agentgym/testkit/databases'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { maxIdleAttempts } from './run-state.ts'
import { settleLostLeases } from './runs.tasks.ts'
import {
  cancel,
  chargesOf,
  expectGapless,
  openTraining,
  resume,
  runOf,
  silence,
  startRun,
  type Training,
  type Turn,
  takeTurn,
} from './testing/train.ts'

const workers = ['a', 'b'] as const
type Worker = (typeof workers)[number]
const writes = ['train', 'save', 'release', 'beat', 'complete', 'fail', 'stop', 'exceed'] as const
type Write = (typeof writes)[number]
const others = ['lease', 'silence', 'settle', 'cancel', 'resume'] as const
type Action = Write | (typeof others)[number]
type Step = { action: Action; worker: Worker }

/** More often what a run lives through than what ends it, so that most come far. */
const times = (count: number, action: Action) => Array.from({ length: count }, () => action)
const actions: Action[] = [...writes, ...others, ...times(15, 'train'), ...times(9, 'lease'), ...times(4, 'silence')]
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ action: fc.constantFrom(...actions), worker: fc.constantFrom(...workers) }),
  { minLength: 20, maxLength: 40, size: 'max' },
)
const trials = isLong ? 300 : 12

/** What a run has to be after these steps, as simply as it can be said. */
class Model {
  state = 'queued'
  holder: Worker | null = null
  /** The lease is over; the run may not know yet. */
  expired = false
  cancelRequested = false
  iterations = 0
  checkpoint: number | null = null
  idle = 0
  ends = 0

  end(state: string): void {
    this.state = state
    this.holder = null
    this.ends++
  }

  requeue(): void {
    this.state = 'queued'
    this.holder = null
    this.expired = false
    if (this.cancelRequested) this.end('cancelled')
    else if (this.idle >= maxIdleAttempts) this.end('failed')
  }

  lease(worker: Worker): boolean {
    if (this.state === 'running' && this.expired) this.requeue()
    if (this.state !== 'queued') return false
    Object.assign(this, { state: 'running', holder: worker, expired: false, idle: this.idle + 1 })
    return true
  }
}

class Trial {
  readonly model = new Model()
  readonly turns = new Map<Worker, Turn>()
  readonly training: Training
  readonly id: string

  constructor(training: Training, id: string) {
    this.training = training
    this.id = id
  }

  async run({ action, worker }: Step): Promise<void> {
    const { model, training, id } = this
    if (action === 'lease') await this.lease(worker)
    else if (action === 'silence') {
      await silence(training, id)
      if (model.state === 'running') {
        model.expired = true
        model.holder = null
      }
    } else if (action === 'settle') {
      await settleLostLeases(training.services)
      if (model.state === 'running' && model.expired) model.requeue()
    } else if (action === 'cancel') await this.cancel()
    else if (action === 'resume') await this.resume()
    else await this.act(action, worker)
  }

  async lease(worker: Worker): Promise<void> {
    const turn = await takeTurn(this.training)
    expect(turn !== undefined).toBe(this.model.lease(worker))
    if (turn === undefined) return
    // A worker does one job at a time: what it had before, it no longer thinks of.
    this.turns.set(worker, turn)
    expect(turn.job.run.checkpoint?.iteration ?? null).toBe(this.model.checkpoint)
  }

  async act(action: Write, worker: Worker): Promise<void> {
    const { model } = this
    const turn = this.turns.get(worker)
    if (turn === undefined) return
    if (model.holder !== worker) return this.actInVain(action, turn)
    if (action === 'train') {
      await turn.train()
      if (turn.iteration > model.iterations) Object.assign(model, { iterations: turn.iteration, idle: 0 })
    } else if (action === 'save') {
      await turn.save()
      if (model.checkpoint === null || turn.iteration > model.checkpoint)
        Object.assign(model, { checkpoint: turn.iteration, idle: 0 })
    } else if (action === 'beat') expect(await turn.beat()).toBe(model.cancelRequested ? 'cancel' : null)
    else if (action === 'release') {
      await turn.release()
      model.idle = Math.max(0, model.idle - 1)
      model.requeue()
    } else await this.finish(action, turn)
  }

  async finish(action: 'complete' | 'fail' | 'stop' | 'exceed', turn: Turn): Promise<void> {
    const { model } = this
    if (action === 'complete') model.end(await turn.complete())
    else if (action === 'fail') model.end(await turn.end(failure))
    else if (action === 'exceed') model.end(await turn.end({ state: 'budget_exceeded' }))
    else if (model.cancelRequested) model.end(await turn.end({ state: 'cancelled' }))
    else await expect(turn.end({ state: 'cancelled' })).rejects.toMatchObject({ code: 'request_invalid' })
  }

  /** A worker without the lease changes nothing; only repeating the run's own outcome gets the same response. */
  async actInVain(action: Write, turn: Turn): Promise<void> {
    const before = await runOf(this.training.services, this.id)
    const { iteration } = turn
    const tried = {
      train: () => turn.train(),
      save: () => turn.save(),
      beat: () => turn.beat(),
      release: () => turn.release(),
      complete: () => turn.complete(),
      fail: () => turn.end(failure),
      stop: () => turn.end({ state: 'cancelled' }),
      exceed: () => turn.end({ state: 'budget_exceeded' }),
    }
    const ended = { complete: '', fail: 'failed', stop: 'cancelled', exceed: 'budget_exceeded' }
    const repeated = action in ended && ended[action as keyof typeof ended] === before.state
    if (repeated && before.attempt === turn.job.run.attempt) expect(await tried[action]()).toBe(before.state)
    else await expect(tried[action]()).rejects.toMatchObject({ code: 'lease_lost' })
    turn.iteration = iteration
    expect(await runOf(this.training.services, this.id)).toEqual(before)
  }

  async cancel(): Promise<void> {
    const { model, training, id } = this
    const over = !['queued', 'running'].includes(model.state)
    if (over && !(model.state === 'cancelled' && model.cancelRequested))
      await expect(cancel(training, id)).rejects.toMatchObject({ code: 'run_state_conflict' })
    else {
      await cancel(training, id)
      model.cancelRequested = true
      if (model.state === 'queued') model.end('cancelled')
    }
  }

  async resume(): Promise<void> {
    const { model, training, id } = this
    const budget = 1_000_000 * (model.ends + 2)
    if (model.state !== 'budget_exceeded')
      await expect(resume(training, id, budget)).rejects.toMatchObject({ code: 'run_state_conflict' })
    else {
      await resume(training, id, budget)
      Object.assign(model, { state: 'queued', idle: 0, expired: false })
    }
  }

  async check(): Promise<void> {
    const { model, training, id } = this
    const { services } = training
    const run = await runOf(services, id)
    const { state, iterations: iteration, idle: idle_attempts } = model
    expect(run).toMatchObject({ state, iteration, idle_attempts })
    expect(await chargesOf(services, id)).toHaveLength(model.ends)
    await expectGapless(services, id)
  }
}

const failure = { state: 'failed', error: { code: 'scenario_threw', message: 'It threw.' } } as const

describeOnEngines('a run and two workers, step by step, on $kind', ({ open }) => {
  let database: Database
  let training: Training

  beforeAll(async () => {
    database = await open()
    training = await openTraining(database)
  })
  afterAll(async () => {
    await database.close()
    await training.services.remove()
  })

  it('any sequence of events: one end, one charge per end, a curve without gaps or duplicates', async () => {
    const property = fc.asyncProperty(steps, async (given) => {
      const trial = new Trial(training, await startRun(training, { budget_minor: 1_000_000 }))
      for (const step of given) {
        await trial.run(step)
        await trial.check()
      }
      await clear(trial)
    })
    await fc.assert(property, { numRuns: trials })
  }, 600_000)

  /** Ends the run, so that the next trial's is the only one that waits. */
  async function clear({ model, id }: Trial): Promise<void> {
    if (model.state !== 'queued' && model.state !== 'running') return
    await cancel(training, id)
    await silence(training, id)
    await settleLostLeases(training.services)
    expect((await runOf(training.services, id)).state).toBe('cancelled')
  }
})

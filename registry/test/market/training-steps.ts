import assert from 'node:assert'
import { expect } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import { type Done, perRunMinor, type Spender, type Spending, type Turn } from './spending.ts'
import type { SpendingChecks } from './spending-checks.ts'
import { type ModelRun, pick, type SpendingModel } from './spending-model.ts'

/** `what` and `amount` as of a step of the world. */
type TrainingStep = Spender & { do: string; what: number; amount: number }

/** Runs of the buyers: for real, by workers with a price, and in the model. */
export class TrainingSteps {
  readonly #database: Database
  readonly #spending: Spending
  readonly #model: SpendingModel
  readonly #checks: SpendingChecks
  readonly #turns: Turn[] = []

  constructor(database: Database, spending: Spending, model: SpendingModel, checks: SpendingChecks) {
    this.#database = database
    this.#spending = spending
    this.#model = model
    this.#checks = checks
  }

  /** All that trains or waits ends. */
  async finish(): Promise<void> {
    for (const turn of this.#turns.splice(0)) await this.#endTurn(turn, 'failed', turn.meteredMs)
    while (this.#model.runs.some(({ state }) => state === 'lost')) await this.lease()
    for (const turn of this.#turns.splice(0)) await this.#endTurn(turn, 'failed', turn.meteredMs)
    for (const run of this.#model.runs.filter(({ state }) => state === 'queued')) await this.#cancel(run)
  }

  async run(step: TrainingStep): Promise<void> {
    const [spender, model] = [{ buyer: step.buyer, byToken: step.byToken }, this.#model]
    const { currency } = model
    const [scenario, otherPrice] = [step.what % 2, step.what % 14 === 13]
    const budget = step.amount
    const cover = model.cover(spender.buyer, budget)
    const shownMinor = perRunMinor - (otherPrice ? 1 : 0)
    const run = await this.#spending.run(spender, scenario, { budgetMinor: budget, shownMinor })
    this.#expectRunReason(run, spender, { ...cover, scenario, otherPrice })
    if (run.value === null) return
    this.#checks.count(step.do)
    const { id } = run.value
    model.runs.push({
      ...{ ...spender, ...cover, id, scenario, budget, currency, state: 'queued', charged: 0, base: 0, metered: 0 },
      ...{ trained: false, cancelling: false },
    })
    this.#holdRunOrder(spender, id, scenario)
  }

  #holdRunOrder(spender: Spender, id: string, scenario: number): void {
    if (scenario === 0) return
    this.#model.orders.push({ ...spender, id, total: perRunMinor, refunded: 0, state: 'held', license: null })
  }

  /** The budget is reserved before the price of the run, each within caps. */
  #expectRunReason(
    done: Done<unknown>,
    spender: Spender,
    { held, scenario, otherPrice }: { held: number; scenario: number; otherPrice: boolean },
  ): void {
    const { currency } = this.#model
    const wanted = { currency, isCall: false, otherPrice: false }
    const budget = { ...wanted, thousandths: held * 1_000 }
    if (scenario === 0) {
      if (held === 0) expect(done.code).toBe('done')
      else this.#checks.expectReason(done, spender, budget)
      return
    }
    const isSame = currency === 'USD'
    const price = { ...wanted, currency: 'USD' as const, otherPrice }
    const both = { ...price, thousandths: (perRunMinor + (isSame ? held : 0)) * 1_000 }
    // In two currencies, each has its own reasons.
    const available = this.#checks.available(spender.buyer, currency)
    const isForBudget = held > 0 && !isSame && (held > available || this.#model.isCapped(spender, budget))
    this.#checks.expectReason(done, spender, isForBudget ? budget : both)
  }

  #runOf({ runId }: Turn): ModelRun {
    const run = this.#model.runs.find(({ id }) => id === runId)
    assert(run !== undefined)
    return run
  }

  async lease(): Promise<void> {
    const turn = await this.#spending.takeTurn()
    const { runs } = this.#model
    if (turn === undefined) expect(runs.filter(({ state }) => state === 'queued')).toEqual([])
    else {
      const run = this.#runOf(turn)
      expect(['queued', 'lost']).toContain(run.state)
      Object.assign(run, { state: 'running', metered: 0 })
      this.#turns.push(turn)
    }
    for (const run of runs.filter(({ state }) => state === 'lost')) await this.#followLost(run)
  }

  async progress({ what, amount }: TrainingStep): Promise<void> {
    const turn = pick(this.#turns, what)
    if (turn === undefined) return
    // A worker's clock may be a second ahead.
    const meteredMs = Math.min(900, turn.meteredMs + amount)
    expect((await this.#spending.progress(turn, meteredMs)).code).toBe('done')
    turn.iteration++
    turn.meteredMs = meteredMs
    const run = this.#runOf(turn)
    Object.assign(run, { metered: meteredMs, trained: true })
    this.#model.settleRunOrder(run, true)
  }

  async end({ what, amount }: TrainingStep): Promise<void> {
    const [turn] = this.#turns.splice(what % Math.max(1, this.#turns.length), 1)
    if (turn === undefined) return
    const isCancelling = this.#runOf(turn).cancelling
    const state = isCancelling ? 'cancelled' : amount % 2 === 0 ? 'failed' : 'budget_exceeded'
    await this.#endTurn(turn, state, Math.min(900, turn.meteredMs + (amount % 50)))
  }

  async #endTurn(turn: Turn, state: 'failed' | 'budget_exceeded' | 'cancelled', meteredMs: number): Promise<void> {
    const run = this.#runOf(turn)
    expect((await this.#spending.end(turn, state, meteredMs)).code).toBe('done')
    run.metered = meteredMs
    this.#model.endRun(run, state === 'budget_exceeded' ? 'paused' : 'over')
  }

  async lose({ what }: TrainingStep): Promise<void> {
    const [turn] = this.#turns.splice(what % Math.max(1, this.#turns.length), 1)
    if (turn === undefined) return
    await this.#spending.lose(turn)
    const run = this.#runOf(turn)
    run.state = 'lost'
    expect((await this.#spending.progress(turn, 900)).code).toBe('lease_lost')
    // After its last attempt it ends as it is; otherwise the next lease decides.
    await this.#followLost(run, run.metered)
  }

  /**
   * A run without a worker ends if it was to be canceled, has used its budget, or makes no progress. Without a checkpoint,
   * what the lost worker has trained costs nothing, because the next one repeats it.
   */
  async #followLost(run: ModelRun, metered = 0): Promise<void> {
    const { state } = await this.#database.query
      .selectFrom('training_runs')
      .select('state')
      .where('id', '=', run.id)
      .executeTakeFirstOrThrow()
    if (state === 'running') return
    run.metered = metered
    if (state === 'queued') run.state = 'queued'
    else this.#model.endRun(run, state === 'budget_exceeded' ? 'paused' : 'over')
  }

  async release({ what, amount }: TrainingStep): Promise<void> {
    const [turn] = this.#turns.splice(what % Math.max(1, this.#turns.length), 1)
    if (turn === undefined) return
    const meteredMs = Math.min(900, turn.meteredMs + amount)
    expect((await this.#spending.release(turn, meteredMs)).code).toBe('done')
    const run = this.#runOf(turn)
    Object.assign(run, { base: run.base + meteredMs, metered: 0 })
    await this.#followLost(run)
  }

  async cancelRun({ what }: TrainingStep): Promise<void> {
    const run = pick(
      this.#model.runs.filter(({ state }) => state === 'queued' || state === 'running' || state === 'lost'),
      what,
    )
    if (run !== undefined) await this.#cancel(run)
  }

  async #cancel(run: ModelRun): Promise<void> {
    expect((await this.#spending.cancelRun(run, run.id)).code).toBe('done')
    if (run.state === 'queued') this.#model.endRun(run, 'over')
    else run.cancelling = true
  }

  async resume(step: TrainingStep): Promise<void> {
    const model = this.#model
    const run = pick(
      model.runs.filter(({ state }) => state === 'paused'),
      step.what,
    )
    if (run === undefined) return
    const spender = { buyer: run.buyer, byToken: step.byToken }
    const budget = run.base + step.amount
    const { currency } = model
    const cover = model.cover(spender.buyer, Math.max(0, budget - run.charged))
    const orders = model.orders.filter(({ id }) => id === run.id)
    const isHeldAgain = !run.trained && orders.length > 0 && orders.every(({ state }) => state === 'over')
    const resumed = await this.#spending.resume(spender, run.id, budget)
    const scenario = isHeldAgain ? 1 : 0
    this.#expectRunReason(resumed, spender, { ...cover, scenario, otherPrice: false })
    if (resumed.code !== 'done') return
    this.#checks.count(step.do)
    Object.assign(run, { ...spender, ...cover, currency, budget, state: 'queued' })
    if (isHeldAgain) this.#holdRunOrder(spender, run.id, 1)
  }
}

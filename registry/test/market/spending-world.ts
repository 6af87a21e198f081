import { randomUUID } from 'node:crypto'
import type { TestServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { fitHolds, postUsage } from '../../src/modules/metering/post-usage.ts'
import { type Spender, Spending, type SpendingMarket } from './spending.ts'
import { SpendingChecks } from './spending-checks.ts'
import { licensePrices, trialCalls } from './spending-market.ts'
import { type Currency, currencies, type ModelCall, type ModelOrder, pick, SpendingModel } from './spending-model.ts'
import { TrainingSteps } from './training-steps.ts'

export const stepKinds = {
  ...{ topUp: 6, currency: 1, cap: 2, uncap: 1 },
  ...{ buy: 5, card: 2, pay: 3, cancelOrder: 1, expireOrder: 1, refund: 2 },
  ...{ call: 14, answer: 6, expireCall: 2, post: 2, fit: 2, price: 2, notice: 1 },
  ...{ run: 8, lease: 7, progress: 5, end: 5, lose: 1, release: 1, cancelRun: 2, resume: 4 },
  ...{ payOut: 2, settlePayout: 2 },
}
/** `what` is a place in the list of what there is, counted round. */
export type Step = { do: keyof typeof stepKinds; who: number; what: number; amount: number }

export const quotaMinor = 60
const most = { limits: { fromMinor: 0, afterSeconds: 0 } }

/** Buyers who spend for real and in the model. */
export class SpendingWorld {
  operations = 0
  readonly #services: TestServices
  readonly #spending: Spending
  readonly #model: SpendingModel
  readonly #leased: { lease: string; ids: string[] }[] = []
  readonly #payouts: string[] = []
  readonly #training: TrainingSteps
  readonly #checks: SpendingChecks

  constructor(services: TestServices, market: SpendingMarket) {
    this.#services = services
    this.#spending = new Spending(services, market)
    this.#model = new SpendingModel(market.buyers.length, { quota: quotaMinor, trials: [0, trialCalls] })
    this.#checks = new SpendingChecks(services.database, market, this.#model)
    this.#training = new TrainingSteps(services.database, this.#spending, this.#model, this.#checks)
    this.#setCurrency('USD')
  }

  /** Accepted operations by kind. */
  get accepted(): ReadonlyMap<string, number> {
    return this.#checks.accepted
  }

  /** A small balance for each buyer. */
  async fund(): Promise<void> {
    for (const [who] of this.#spending.market.buyers.entries())
      for (const [what, amount] of [300, 150].entries()) {
        this.#setCurrency(currencies[1 - what])
        await this.take({ do: 'topUp', who, what, amount })
      }
  }

  async take(step: Step): Promise<void> {
    this.operations++
    const training = { ...this.#spender(step), ...step }
    const take: { [Kind in Step['do']]: () => Promise<unknown> } = {
      topUp: () => this.#topUp(step),
      currency: async () => this.#setCurrency(currencies[step.amount % 2]),
      cap: () => this.#cap(step),
      uncap: () => this.#uncap(step),
      buy: () => this.#buy(step),
      card: () => this.#buy(step, true),
      pay: () => this.#pay(step),
      cancelOrder: () => this.#endOrder(step, 'cancel'),
      expireOrder: () => this.#endOrder(step, 'expire'),
      refund: () => this.#refund(step),
      call: () => this.#call(step),
      answer: () => this.#answer(step),
      expireCall: () => this.#expireCall(step),
      post: () => this.#post(),
      fit: () => this.#fit(),
      price: () => this.#price(step),
      notice: () => this.#spending.passNotice(step.what % 2),
      run: () => this.#training.run(training),
      lease: () => this.#training.lease(),
      progress: () => this.#training.progress(training),
      end: () => this.#training.end(training),
      lose: () => this.#training.lose(training),
      release: () => this.#training.release(training),
      cancelRun: () => this.#training.cancelRun(training),
      resume: () => this.#training.resume(training),
      payOut: () => this.#payOut(step),
      settlePayout: () => this.#settlePayout(step),
    }
    await take[step.do]()
    await this.#checks.compare()
  }

  /** All that is open ends, and what it was held for is paid or free again. */
  async finish(): Promise<void> {
    for (const call of this.#model.calls.filter(({ state }) => state === 'open')) await this.#expire(call)
    await this.#training.finish()
    await this.#post()
    await this.#fit()
    const holdings = await this.#checks.holdings()
    for (const [key, { held }] of holdings) expect(held, key).toEqual({})
    await this.#checks.compare()
  }

  #setCurrency(currency: Currency): void {
    this.#model.currency = currency
    this.#services.config.training.currency = currency
  }

  #spender({ who }: Step): Spender {
    const { length } = this.#spending.market.buyers
    return { buyer: who % length, byToken: who >= length }
  }

  async #topUp(step: Step): Promise<void> {
    const { buyer } = this.#spender(step)
    await this.#spending.topUp(buyer, step.amount, this.#model.currency)
    this.#model.worth[buyer][this.#model.currency] += step.amount
  }

  async #cap(step: Step): Promise<void> {
    const [spender, model] = [this.#spender(step), this.#model]
    const period = step.what % 3 === 0 ? 'calls' : 'total'
    const amount = step.amount * (period === 'calls' ? 40 : 3)
    const { id, spent_minor } = await this.#spending.setCap(spender, period, amount)
    const { currency } = model
    const isSame = (cap: Spender & { period: string }) =>
      cap.buyer === spender.buyer && cap.byToken === spender.byToken && cap.period === period
    model.caps = [...model.caps.filter((cap) => !isSame(cap)), { ...spender, id, period, amount, currency }]
    if (period === 'total') expect(spent_minor).toBe(Math.ceil(model.spent(spender, currency) / 1_000))
  }

  async #uncap({ what }: Step): Promise<void> {
    const cap = pick(this.#model.caps, what)
    if (cap === undefined) return
    await this.#spending.removeCap(cap.buyer, cap.id)
    this.#model.caps = this.#model.caps.filter((one) => one !== cap)
  }

  async #buy(step: Step, provider = false): Promise<void> {
    const [spender, model] = [this.#spender(step), this.#model]
    const license = step.what % licensePrices.length
    const total = licensePrices[license]
    const own = model.orders.filter((order) => order.buyer === spender.buyer && order.license === license)
    const otherPrice = step.amount % 5 === 0
    const priceMinor = total + (otherPrice ? -1 : 0)
    const bought = await this.#spending.buy(spender, license, { priceMinor, provider })
    if (own.some(({ state }) => state === 'paid')) return expect(bought.value?.status ?? bought.code).toBe(200)
    if (provider && !otherPrice && own.some(({ state }) => state === 'awaiting'))
      return expect(bought.code).toBe('done')
    const wanted = { thousandths: total * 1_000, currency: 'USD' as const, isCall: false, otherPrice }
    if (bought.code === 'insufficient_funds') expect(provider).toBe(false)
    this.#checks.expectReason(bought, spender, wanted)
    if (bought.value === null) return
    this.#checks.count(step.do)
    const { id } = bought.value.order
    const order: ModelOrder = { ...spender, id, total, refunded: 0, state: provider ? 'awaiting' : 'paid', license }
    model.orders.push(order)
    if (provider) return this.#openPayment(order)
    model.worth[spender.buyer].USD -= total
  }

  /** The payment that is open for an order. */
  async #openPayment(order: ModelOrder): Promise<void> {
    const { id } = await this.#services.database.query
      .selectFrom('payments')
      .select('id')
      .where('order_id', '=', order.id)
      .executeTakeFirstOrThrow()
    this.#model.payments.push({ id, order, state: 'pending' })
  }

  /** News of a payment, which may be old or come again. */
  async #pay({ what, amount }: Step): Promise<void> {
    const payment = pick(this.#model.payments, what)
    if (payment === undefined) return
    const { order } = payment
    const { worth, orders } = this.#model
    if (amount % 4 === 0) {
      await this.#spending.settlePayment(payment.id, { kind: amount % 8 === 0 ? 'failed' : 'expired', message: 'No.' })
      if (payment.state === 'pending') payment.state = 'ended'
      return
    }
    await this.#spending.settlePayment(payment.id, { kind: 'succeeded', amountMinor: order.total, currency: 'USD' })
    if (payment.state === 'paid') return
    payment.state = 'paid'
    const hasLicense = orders.some((one) => isSameLicense(one, order) && one.state === 'paid')
    if (order.state === 'awaiting' && !hasLicense) order.state = 'paid'
    else {
      worth[order.buyer].USD += order.total
      if (order.state === 'awaiting') order.state = 'over'
    }
  }

  async #endOrder({ what }: Step, how: 'cancel' | 'expire'): Promise<void> {
    const order = pick(
      this.#model.orders.filter(({ state }) => state === 'awaiting'),
      what,
    )
    if (order === undefined) return
    if (how === 'expire') await this.#spending.expireOrder(order.id)
    else expect((await this.#spending.cancelOrder(order, order.id)).code).toBe('done')
    order.state = 'over'
  }

  async #refund({ what, amount }: Step): Promise<void> {
    const order = pick(
      this.#model.orders.filter(({ license }) => license !== null),
      what,
    )
    if (order === undefined) return
    const left = order.total - order.refunded
    const part = amount % 2 === 0 ? undefined : amount
    const { code } = await this.#spending.refund(order.id, part)
    const isPossible = order.state === 'paid' && left > 0 && (part ?? left) <= left
    expect(code === 'done', code).toBe(isPossible)
    if (!isPossible) return
    order.refunded += part ?? left
    this.#model.worth[order.buyer].USD += part ?? left
    // It counts toward caps as before, and the license can be bought again.
    if (order.refunded === order.total) order.license = null
  }

  async #call(step: Step): Promise<void> {
    const [spender, model] = [this.#spender(step), this.#model]
    const [agent, id] = [step.what % 2, randomUUID()]
    const { currency } = model
    const price = await this.#callsPrice(agent)
    const maxPriceMinor = [price, price, price + 1, price - 1, undefined][step.amount % 5]
    const called = await this.#spending.call(spender, agent, { id, maxPriceMinor })
    const call: ModelCall = { ...spender, id, agent, price, currency, state: 'open' }
    if (model.trialsLeft[spender.buyer][agent] > 0) {
      expect(called.code).toBe('done')
      model.trialsLeft[spender.buyer][agent]--
      model.calls.push({ ...call, price: 0 })
      return this.#checks.count('trial')
    }
    if (called.code === 'rate_limited') return
    const confirmed = model.capsOf(spender).some(({ period }) => period === 'calls')
    const otherPrice = maxPriceMinor === undefined ? !confirmed : maxPriceMinor < price
    this.#checks.expectReason(called, spender, { thousandths: price, currency, isCall: true, agent, otherPrice })
    if (called.value === null) return
    this.#checks.count(step.do)
    model.calls.push(call)
  }

  /** As it is announced now. */
  async #callsPrice(agent: number): Promise<number> {
    const { rows } = await sql<{ price: number }>`
      select case when next_at <= now() then next_calls_price_minor else calls_price_minor end as price
      from sale_terms where package_id = ${this.#spending.market.agents[agent].id}`.execute(
      this.#services.database.query,
    )
    return rows[0].price
  }

  /** A worker takes calls, and answers some of them; or it comes back with answers that it has given before. */
  async #answer({ what, amount }: Step): Promise<void> {
    const leased = await this.#spending.leaseCalls()
    if (leased !== undefined) this.#leased.push({ lease: leased.lease, ids: leased.calls.map(({ id }) => id) })
    const chosen = pick(this.#leased, what)
    if (chosen === undefined) return
    const answers = chosen.ids
      .filter((_, index) => (amount >> (index % 8)) % 2 === 0)
      .map((id, index) => ({ id, fails: (amount + index) % 4 === 3 }))
    const { taken } = await this.#spending.answer(chosen.lease, answers)
    let open = 0
    for (const { id, fails } of answers) {
      const call = this.#model.calls.find((one) => one.id === id)
      if (call?.state !== 'open') continue
      open++
      if (fails) this.#fail(call)
      else call.state = 'answered'
    }
    expect(taken).toBe(open)
  }

  #fail(call: ModelCall): void {
    call.state = 'failed'
    if (call.price === 0) this.#model.trialsLeft[call.buyer][call.agent]++
  }

  async #expireCall({ what }: Step): Promise<void> {
    const call = pick(
      this.#model.calls.filter(({ state }) => state === 'open'),
      what,
    )
    if (call !== undefined) await this.#expire(call)
  }

  async #expire(call: ModelCall): Promise<void> {
    await this.#spending.expireCall(call.id)
    this.#fail(call)
  }

  async #post(): Promise<void> {
    await postUsage(this.#services, most.limits)
    this.#model.post()
  }

  /** Afterwards, no more is held for calls than they come to. */
  async #fit(): Promise<void> {
    await fitHolds(this.#services, -1)
    for (const [key, { held }] of await this.#checks.holdings()) {
      const [buyer, currency] = key.split(' ') as [string, Currency]
      const due = Math.ceil(this.#model.dueOf(Number(buyer), currency) / 1_000)
      expect(held.calls_hold ?? 0, `held for calls of ${key}`).toBe(due)
    }
  }

  /** A raise is announced: the price stays as it is. */
  async #price({ what, amount }: Step): Promise<void> {
    const agent = what % 2
    const before = await this.#callsPrice(agent)
    await this.#spending.setCallsPrice(agent, amount * 100)
    const isCalled = this.#model.calls.some((call) => call.agent === agent)
    if (isCalled) expect(await this.#callsPrice(agent)).toBe(Math.min(before, amount * 100))
  }

  async #payOut({ what, amount }: Step): Promise<void> {
    const paid = await this.#spending.payOut(what % 2 === 0 ? 'seller' : 'operator', amount)
    expect(['done', 'payout_below_cleared']).toContain(paid.code)
    if (paid.value !== null) this.#payouts.push(paid.value.id)
  }

  async #settlePayout({ what, amount }: Step): Promise<void> {
    const id = pick(this.#payouts, what)
    if (id === undefined) return
    const news =
      amount % 3 === 0 ? { kind: 'failed' as const, message: 'No.' } : { kind: 'paid' as const, reference: id }
    await this.#spending.settlePayout(id, news)
  }
}

function isSameLicense(one: ModelOrder, other: ModelOrder): boolean {
  return one.buyer === other.buyer && one.license !== null && one.license === other.license
}

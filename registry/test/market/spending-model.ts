import type { Spender } from './spending.ts'

export const currencies = ['USD', 'EUR'] as const
export type Currency = (typeof currencies)[number]

/** Amounts are minor units; a call's price is that of 1,000 calls, so a call costs so many thousandths. */
export type ModelCap = Spender & { id: string; period: 'total' | 'calls'; amount: number; currency: Currency }
export type ModelCall = Spender & {
  id: string
  agent: number
  price: number
  currency: Currency
  /** `posted`: answered, and part of a batch. */
  state: 'open' | 'answered' | 'failed' | 'posted'
}
export type ModelOrder = Spender & {
  id: string
  total: number
  refunded: number
  /** Minutes to pay are over. */
  state: 'awaiting' | 'held' | 'paid' | 'over'
  /** Of licenses. */
  license: number | null
}
export type ModelPayment = { id: string; order: ModelOrder; state: 'pending' | 'ended' | 'paid' }
export type ModelRun = Spender & {
  id: string
  scenario: number
  budget: number
  /** `lost`: its worker is gone, and no other one has it yet. */
  state: 'queued' | 'running' | 'lost' | 'paused' | 'over'
  /** What is reserved: of the free quota, and on the balance. */
  free: number
  held: number
  /** Of the reservation. */
  currency: Currency
  /** What was charged when it ended before. */
  charged: number
  /** Cost without the present attempt, and that of the attempt. */
  base: number
  metered: number
  trained: boolean
  cancelling: boolean
}
type Charge = Spender & { free: number; paid: number; currency: Currency }

/** The most that may be promised: what each buyer has, and everything that was promised of it. In as few words as it takes. */
export class SpendingModel {
  currency: Currency = 'USD'
  /** Per 1,000 free units a month and account; changes with nothing. */
  readonly quota: number
  /** What each buyer has, less what they owe. */
  readonly worth: Record<Currency, number>[]
  caps: ModelCap[] = []
  readonly calls: ModelCall[] = []
  readonly orders: ModelOrder[] = []
  readonly payments: ModelPayment[] = []
  readonly runs: ModelRun[] = []
  readonly charges: Charge[] = []
  /** Carried over by batches, in thousandths, by buyer, agent and currency; and what batches have taken. */
  readonly carried = new Map<string, number>()
  readonly posted: { buyer: number; amount: number; currency: Currency }[] = []
  readonly trialsLeft: number[][]

  constructor(buyers: number, { quota, trials }: { quota: number; trials: number[] }) {
    this.quota = quota
    this.worth = Array.from({ length: buyers }, () => ({ USD: 0, EUR: 0 }))
    this.trialsLeft = Array.from({ length: buyers }, () => [...trials])
  }

  /** What a buyer's calls come to that are not paid, in thousandths; rests of earlier batches where more is to come. */
  dueOf(buyer: number, currency: Currency): number {
    const due = this.calls.filter((call) => isOf(call, buyer, currency) && isDue(call))
    return sum(due.map(({ price }) => price)) + this.#restsOf(buyer, currency)
  }

  /** What earlier batches have carried over, of agents with calls to come. */
  #restsOf(buyer: number, currency: Currency, agent?: number): number {
    const due = this.calls.filter((call) => isOf(call, buyer, currency) && isDue(call))
    const agents = new Set([...due.map((call) => call.agent), ...(agent === undefined ? [] : [agent])])
    return sum([...agents].map((one) => this.carried.get(`${buyer} ${one} ${currency}`) ?? 0))
  }

  heldForRuns(buyer: number, currency: Currency): number {
    return sum(this.runs.filter((run) => isOf(run, buyer, currency)).map(({ held }) => held))
  }

  /** Licenses and runs are priced in USD. */
  heldForOrders(buyer: number, currency: Currency): number {
    if (currency !== 'USD') return 0
    return sum(this.orders.filter((order) => order.buyer === buyer && order.state === 'held').map(({ total }) => total))
  }

  promised(buyer: number, currency: Currency): number {
    const calls = Math.ceil(this.dueOf(buyer, currency) / 1_000)
    return calls + this.heldForRuns(buyer, currency) + this.heldForOrders(buyer, currency)
  }

  freeUsed(buyer: number, currency: Currency): number {
    const [charges, runs] = [this.charges, this.runs].map((all) => all.filter((one) => isOf(one, buyer, currency)))
    return sum(charges.map(({ free }) => free)) + sum(runs.map(({ free }) => free))
  }

  /** How a run's budget is reserved. */
  cover(buyer: number, needed: number): { free: number; held: number } {
    const free = Math.min(needed, Math.max(0, this.quota - this.freeUsed(buyer, this.currency)))
    return { free, held: needed - free }
  }

  /** What counts toward caps of an account, or of its token, in thousandths. */
  spent({ buyer, byToken }: Spender, currency: Currency, agent?: number): number {
    const counts = (one: Spender) => one.buyer === buyer && (!byToken || one.byToken)
    const own = <One extends Spender & { currency: Currency }>(all: readonly One[]) =>
      all.filter((one) => counts(one) && one.currency === currency)
    const calls = own(this.calls).filter((call) => isDue(call) || (byToken && call.state === 'posted'))
    const batches = byToken ? [] : this.posted.filter((batch) => isOf(batch, buyer, currency))
    const orders = currency === 'USD' ? this.orders.filter((order) => counts(order) && order.state !== 'over') : []
    const whole = [
      ...[...batches.map(({ amount }) => amount), ...orders.map(({ total }) => total)],
      ...[...own(this.charges).map(({ paid }) => paid), ...own(this.runs).map(({ held }) => held)],
    ]
    const rests = byToken ? 0 : this.#restsOf(buyer, currency, agent)
    return rests + sum(calls.map(({ price }) => price)) + 1_000 * sum(whole)
  }

  /** Caps that limit the spender: those of the account, and of the token that is used. */
  capsOf({ buyer, byToken }: Spender): ModelCap[] {
    return this.caps.filter((cap) => cap.buyer === buyer && (!cap.byToken || byToken))
  }

  /** Whether a cap forbids spending that much more; of a call, `thousandths` is also the price of 1,000 calls. */
  isCapped(spender: Spender, { thousandths, currency, isCall, agent }: Wanted): boolean {
    return this.capsOf(spender).some((cap) => {
      if (cap.period === 'calls') return isCall && (cap.currency !== currency || thousandths > cap.amount)
      if (cap.currency !== currency) return true
      const spent = this.spent(cap, currency, agent)
      // Other spending is compared in whole units, so a part of one that calls have spent counts as one.
      return (isCall ? spent : 1_000 * Math.ceil(spent / 1_000)) + thousandths > 1_000 * cap.amount
    })
  }

  /** A batch for every agent that has answered calls: whole units are paid, the rest is carried over. */
  post(): void {
    for (const call of this.calls) {
      if (call.state !== 'answered') continue
      const key = `${call.buyer} ${call.agent} ${call.currency}`
      const total = (this.carried.get(key) ?? 0) + call.price
      const amount = Math.floor(total / 1_000)
      this.carried.set(key, total % 1_000)
      call.state = 'posted'
      this.posted.push({ buyer: call.buyer, amount, currency: call.currency })
      this.worth[call.buyer][call.currency] -= amount
    }
  }

  /** A run ends, or pauses: what was used is charged, and the rest of what is reserved is free again. */
  endRun(run: ModelRun, state: 'paused' | 'over'): void {
    const amount = Math.max(0, Math.min(run.base + run.metered, run.budget) - run.charged)
    const free = Math.min(amount, run.free)
    const paid = Math.min(amount - free, run.held)
    const { buyer, byToken, currency } = run
    this.charges.push({ buyer, byToken, free, paid, currency })
    this.worth[buyer][currency] -= paid
    Object.assign(run, { state, free: 0, held: 0, charged: run.charged + amount })
    Object.assign(run, { base: run.base + run.metered, metered: 0 })
    this.settleRunOrder(run, run.trained)
  }

  /** The price of the run itself: paid once it has trained, or released. */
  settleRunOrder(run: ModelRun, trained: boolean): void {
    const order = this.orders.find(({ id, state }) => id === run.id && state === 'held')
    if (order === undefined) return
    order.state = trained ? 'paid' : 'over'
    if (trained) this.worth[order.buyer].USD -= order.total
  }
}

type Wanted = { thousandths: number; currency: Currency; isCall: boolean; agent?: number }

const isDue = ({ state }: ModelCall) => state === 'open' || state === 'answered'

function isOf(one: { buyer: number; currency: Currency }, buyer: number, currency: Currency): boolean {
  return one.buyer === buyer && one.currency === currency
}

const sum = (all: number[]): number => all.reduce((total, one) => total + one, 0)

/** A place in a list, counted round; undefined if it is empty. */
export function pick<Item>(all: readonly Item[], place: number): Item | undefined {
  return all[place % Math.max(1, all.length)]
}

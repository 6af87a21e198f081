import { randomUUID } from 'node:crypto'
import { AgentGymError, type CallAnswer, type Outcome, startRunRequestSchema } from '@agentgym/contract'
import { sql } from 'kysely'
import type { AppServices } from '../../src/app/app-services.ts'
import { type Actor, scopes } from '../../src/core/access/authorize.ts'
import type { Attempt, JobHandler } from '../../src/core/queue/job-handler.ts'
import { answerCalls, leaseCalls } from '../../src/modules/hosting/answer-calls.ts'
import { admitCall } from '../../src/modules/hosting/call-agent.ts'
import { CallBroker } from '../../src/modules/hosting/call-broker.ts'
import { endUnanswered } from '../../src/modules/hosting/hosted-calls.store.ts'
import { settleExhausted } from '../../src/modules/jobs/jobs.tasks.ts'
import { leaseJob, releaseJob } from '../../src/modules/jobs/lease-jobs.ts'
import { openAccounts } from '../../src/modules/ledger/accounts.ts'
import { applyTransfers } from '../../src/modules/ledger/apply-transfers.ts'
import { placeOrder } from '../../src/modules/orders/place-order.ts'
import { refundOrder } from '../../src/modules/orders/refunds.ts'
import { removeSpendCap, setSpendCap } from '../../src/modules/orders/spend-caps.ts'
import { cancelOrder, expireOrders } from '../../src/modules/orders/unpaid-orders.ts'
import type { PaymentNews, PayoutNews } from '../../src/modules/payments/payment-provider.ts'
import { lockPayment } from '../../src/modules/payments/payments.store.ts'
import { lockPayout, requestPayout, settlePayout } from '../../src/modules/payments/payouts.ts'
import { settlePayment } from '../../src/modules/payments/settle-payment.ts'
import { setPrice } from '../../src/modules/prices/set-price.ts'
import { progressPoint } from '../../src/modules/runs/exports/testing/progress-points.ts'
import { finishRun } from '../../src/modules/runs/finish-run.ts'
import { cancelRun, continueRun } from '../../src/modules/runs/steer-run.ts'
import { submitRun } from '../../src/modules/runs/submit-run.ts'
import { trainJobs } from '../../src/modules/runs/train-jobs.ts'
import { recordProgress } from '../../src/modules/runs/worker-reports.ts'

export type Person = { accountId: string; username: string }
export type Buyer = Person & { tokenId: string }
/** One who pays: a buyer, by their token or not. */
export type Spender = { buyer: number; byToken: boolean }

/** All that money can be spent on, and who spends it, as plain data: another process gets it as JSON. */
export type SpendingMarket = {
  operator: Person
  seller: Person
  buyers: Buyer[]
  /** Their calls have a price. */
  agents: { id: string; name: string }[]
  licenses: { id: string; name: string; ownerId: string }[]
  /** The second one costs `perRunMinor` a run. */
  scenarios: { id: string; name: string }[]
}

export const perRunMinor = 30
/** At this price an hour, a millisecond of training costs one minor unit. */
export const hourMinor = 3_600_000

const hourMs = 3_600_000

/** The code of an AgentGymError, or `done` with what the work resolved to. */
export type Done<Value> = { code: string; value: Value | null }

/** A worker's turn at a run. `meteredMs`: what it has reported. */
export type Turn = { runId: string; lease: string; iteration: number; meteredMs: number }

/** Operations of buyers, workers and the payment provider, by the services of one process. */
export class Spending {
  readonly services: AppServices
  readonly market: SpendingMarket
  readonly #handlers: JobHandler[]

  constructor(services: AppServices, market: SpendingMarket) {
    // A payment stays open until the test settles it, and so does a payout.
    const orderPayments = { create: services.orderPayments.create, open: async () => {} }
    const provider = services.paymentProvider
    const paymentProvider = async () => ({ ...(await provider()), sendPayout: async () => null })
    // Nor does time end anything, however slow the machine is.
    const callBroker = new CallBroker(services, { waitMs: hourMs, leaseMs: hourMs, pollMs: 250 })
    this.services = { ...services, orderPayments, paymentProvider, callBroker }
    this.market = market
    this.#handlers = [trainJobs(this.services)]
  }

  get #query() {
    return this.services.database.query
  }

  #actor({ buyer, byToken }: Spender): Actor {
    const { tokenId, ...person } = this.market.buyers[buyer]
    return { ...actorOf(person), tokenId: byToken ? tokenId : null }
  }

  async topUp(buyer: number, amountMinor: number, currency: string): Promise<void> {
    await this.services.database.transaction(async (query) => {
      const [provider, balance] = await openAccounts(query, [
        { owner: null, code: 'provider', currency },
        { owner: this.market.buyers[buyer].accountId, code: 'balance', currency },
      ])
      const money = { kind: 'posted' as const, code: 'top_up', amountMinor: BigInt(amountMinor), currency }
      await applyTransfers(query, [{ ...money, id: randomUUID(), debitAccountId: provider, creditAccountId: balance }])
    })
  }

  /** Buys a license for `priceMinor`: from the balance, or by an order that waits for its payment. */
  buy(spender: Spender, license: number, { priceMinor, provider }: { priceMinor: number; provider: boolean }) {
    const { name } = this.market.licenses[license]
    const request = { package: name, expected_price: { amount_minor: priceMinor } }
    return attempt(
      placeOrder(this.services, {
        ...{ actor: this.#actor(spender), idempotencyKey: randomUUID(), ip: null },
        request: { ...request, pay_with: provider ? 'provider' : 'balance' },
      }),
    )
  }

  async settlePayment(id: string, news: PaymentNews): Promise<void> {
    await this.services.database.transaction(async (query) => {
      const payment = await lockPayment(query, id)
      if (payment !== undefined) await settlePayment(this.services, query, payment, news)
    })
  }

  cancelOrder({ buyer }: Spender, id: string) {
    return attempt(cancelOrder(this.services, { actor: this.#actor({ buyer, byToken: false }), id, ip: null }))
  }

  async expireOrder(id: string): Promise<void> {
    await sql`update orders set expires_at = now() - interval '1 second' where id = ${id} and state = 'awaiting_payment'`.execute(
      this.#query,
    )
    await expireOrders(this.services)
  }

  refund(id: string, amountMinor: number | undefined) {
    const request = { amount_minor: amountMinor, reason: 'asked' }
    const refunding = { actor: actorOf(this.market.seller), id, request, idempotencyKey: randomUUID(), ip: null }
    return attempt(refundOrder(this.services, refunding))
  }

  /** Calls an agent under an ID of its own, and does not wait for the answer. */
  call(spender: Spender, agent: number, { id, maxPriceMinor }: { id: string; maxPriceMinor: number | undefined }) {
    const request = { observation: [1, 2] }
    const { name } = this.market.agents[agent]
    return attempt(admitCall(this.services, { actor: this.#actor(spender), id, name, request, key: id, maxPriceMinor }))
  }

  leaseCalls() {
    return leaseCalls(this.services, { loaded: [], waitMs: 0 }, new AbortController().signal)
  }

  answer(lease: string, answers: { id: string; fails: boolean }[]) {
    return answerCalls(this.services, { lease, answers: answers.map(answerOf) })
  }

  async expireCall(id: string): Promise<void> {
    await sql`update hosted_calls set expires_at = now() - interval '1 second' where id = ${id}`.execute(this.#query)
    await endUnanswered(this.#query, 'expired')
  }

  setCallsPrice(agent: number, priceMinor: number) {
    const change = { actor: actorOf(this.market.seller), name: this.market.agents[agent].name, ip: null }
    return setPrice(this.services, change, { kind: 'free', calls_price_minor: priceMinor })
  }

  /** As if the notice period of an announced price had passed. */
  async passNotice(agent: number): Promise<void> {
    const { id } = this.market.agents[agent]
    await sql`update sale_terms set next_at = now() - interval '1 second' where package_id = ${id} and next_at is not null`.execute(
      this.#query,
    )
  }

  setCap({ buyer, byToken }: Spender, period: 'total' | 'calls', amountMinor: number) {
    const request = {
      period,
      amount_minor: amountMinor,
      token_id: byToken ? this.market.buyers[buyer].tokenId : undefined,
    }
    return setSpendCap(this.services, { actor: this.#actor({ buyer, byToken: false }), ip: null, request })
  }

  removeCap(buyer: number, id: string) {
    return removeSpendCap(this.services, { actor: this.#actor({ buyer, byToken: false }), ip: null, id })
  }

  run(spender: Spender, scenario: number, { budgetMinor, shownMinor }: { budgetMinor: number; shownMinor: number }) {
    const request = startRunRequestSchema.parse({
      ...{ scenario: this.market.scenarios[scenario].name, budget_minor: budgetMinor },
      ...(scenario === 1 ? { expected_price: { amount_minor: shownMinor } } : {}),
    })
    return attempt(submitRun(this.services, { actor: this.#actor(spender), request, traceparent: null, ip: null }))
  }

  /** A worker with a price asks for a run. */
  async takeTurn(): Promise<Turn | undefined> {
    const usage = { cpu: 0.5, memory: 0.25, gpu: null }
    const machine = { cores: 2, memory_bytes: 2 ** 30, gpus: [], slots: 1 }
    const worker = { id: randomUUID(), name: 'worker', ...machine, price_minor_per_hour: hourMinor, usage }
    const job = await leaseJob(this.services, this.#handlers, { kinds: ['train'], worker })
    if (job?.kind !== 'train') return undefined
    await sql`update jobs set leased_until = now() + interval '1 hour' where id = ${job.id} and state = 'leased'`.execute(
      this.#query,
    )
    const { iteration } = await this.#query
      .selectFrom('training_runs')
      .select('iteration')
      .where('id', '=', job.id)
      .executeTakeFirstOrThrow()
    return { runId: job.id, lease: job.lease, iteration, meteredMs: 0 }
  }

  #attempt({ runId, lease }: Turn): Attempt {
    return this.services.queue.attemptOf('train', runId, lease)
  }

  progress(turn: Turn, meteredMs: number) {
    const points = [progressPoint(turn.iteration + 1)]
    const report = { points, evaluations: [], metered_ms: meteredMs }
    return attempt(recordProgress(this.services, this.#attempt(turn), report))
  }

  end(turn: Turn, state: 'failed' | 'budget_exceeded' | 'cancelled', meteredMs: number) {
    const error = { code: 'training_diverged', message: 'NaN' } as const
    const outcome: Outcome = state === 'failed' ? { state, error } : { state }
    return attempt(finishRun(this.services, this.#attempt(turn), { outcome, meteredMs }))
  }

  release({ runId: id, lease }: Turn, meteredMs: number) {
    return attempt(releaseJob(this.services, this.#handlers, { id, lease, reason: 'The worker stops.', meteredMs }))
  }

  /** As if the worker had not responded for too long. */
  async lose({ runId }: Pick<Turn, 'runId'>): Promise<void> {
    await sql`update jobs set leased_until = now() - interval '1 minute' where id = ${runId} and state = 'leased'`.execute(
      this.#query,
    )
    await this.services.queue.expireLeases()
    await settleExhausted(this.services, this.#handlers)
  }

  cancelRun({ buyer }: Spender, runId: string) {
    return attempt(cancelRun(this.services, { actor: this.#actor({ buyer, byToken: false }), runId, ip: null }))
  }

  resume(spender: Spender, runId: string, budgetMinor: number) {
    return attempt(continueRun(this.services, { actor: this.#actor(spender), runId, ip: null, budgetMinor }))
  }

  async payOut(who: 'seller' | 'operator', amountMinor: number) {
    await this.#query.deleteFrom('rate_limits').where('key', 'like', 'payout:%').execute()
    const request = { actor: actorOf(this.market[who]), request: { amount_minor: amountMinor }, ip: '127.0.0.1' }
    return attempt(requestPayout(this.services, { ...request, idempotencyKey: randomUUID() }))
  }

  async settlePayout(id: string, news: PayoutNews): Promise<void> {
    await this.services.database.transaction(async (query) => {
      const payout = await lockPayout(query, id)
      if (payout !== undefined) await settlePayout(this.services, query, payout, news)
    })
  }
}

function actorOf({ accountId, username }: Person): Actor {
  return { accountId, username, emailVerified: true, operator: false, tokenId: null, scopes: new Set(scopes) }
}

function answerOf({ id, fails }: { id: string; fails: boolean }): CallAnswer {
  if (fails) return { id, error: { code: 'model_timeout', message: 'The model did not answer within 1 s.' } }
  return { id, action: 1, label: 'right', probabilities: [0.25, 0.75], model_ms: 0.5 }
}

async function attempt<Value>(work: Promise<Value>): Promise<Done<Value>> {
  try {
    return { code: 'done', value: await work }
  } catch (error) {
    if (error instanceof AgentGymError) return { code: error.code, value: null }
    throw error
  }
}

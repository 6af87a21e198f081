import { startRunRequestSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from '../orders/audit-market.ts'
import {
  buy,
  codeOf,
  createTokenActor,
  createTrader,
  fund,
  holdings,
  listPackage,
} from '../orders/testing/marketplace.ts'
import { trainingQuota } from '../orders/training-quota.ts'
import { listEarnings } from '../payments/earnings-entries.ts'
import { readBalance, showBalance } from '../payments/read-payments.ts'
import { cancelRun, continueRun } from './steer-run.ts'
import { submitRun } from './submit-run.ts'
import { mustTakeTurn, openTraining, pricePerHour, runOf, silence, type Training, takeTurn } from './testing/train.ts'

/** A millisecond costs one minor unit. */
const price = pricePerHour

describeOnEngines('what training costs, on $kind', ({ open }) => {
  let database: Database
  let training: Training
  let operator: Actor
  let license: { name: string }
  const quota = (freeMinorPerMonth: number | null) => {
    training.services.config.training.freeMinorPerMonth = freeMinorPerMonth
  }

  beforeAll(async () => {
    database = await open()
    training = await openTraining(database)
    operator = await createTrader(database, 'operator')
    await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
    const { accountId: ownerId, username: owner } = await createTrader(database, 'seller')
    license = await listPackage(database, { ownerId, owner, price: { kind: 'one_time', amountMinor: 100 } })
  })
  beforeEach(async () => {
    quota(0)
    await connect(price)
  })
  afterAll(async () => {
    expect([...(await auditLedger(database)), ...(await auditMarket(database))]).toEqual([])
    await database.close()
    await training.services.remove()
  })

  /** A worker with that price requests a job, and there is none. */
  const connect = async (perHour: number) => {
    await database.query.deleteFrom('workers').execute()
    expect(await takeTurn(training, perHour)).toBeUndefined()
  }
  const user = async (minor: number) => {
    const actor = await createTrader(database, 'user')
    if (minor > 0) await fund(database, actor.accountId, minor)
    return actor
  }
  const submit = (actor: Actor, budget_minor?: number) => {
    const request = startRunRequestSchema.parse({ scenario: training.scenario, budget_minor })
    return submitRun(training.services, { actor, request, traceparent: null, ip: null })
  }
  const shown = ({ accountId: id, username }: Actor) => readBalance(database.query, { id, username }, 'USD')
  const income = async () => (await holdings(database, operator.accountId)).earnings ?? 0
  const failed = { state: 'failed', error: { code: 'training_diverged', message: 'NaN' } } as const

  it('is held at the start, and the used part is paid to the operator at the end', async () => {
    const actor = await user(1_000)
    const before = await income()
    const { id } = await submit(actor, 950)
    expect(await shown(actor)).toMatchObject({ available_minor: 50, held_minor: 950 })
    expect(await codeOf(buy(training.services, actor, license))).toBe('insufficient_funds')
    expect(await codeOf(submit(actor, 51))).toBe('insufficient_funds')
    const turn = await mustTakeTurn(training, price)
    await turn.train(1, 100)
    await turn.end(failed, 300)
    expect(await shown(actor)).toMatchObject({ available_minor: 700, held_minor: 0 })
    expect((await income()) - before).toBe(300)
    expect(await runOf(training.services, id)).toMatchObject({ held_minor: 0, free_minor: 0, hold_transfer_id: null })
    const { entries } = await listEarnings(training.services, operator, {
      limit: 1,
      account: undefined,
      cursor: undefined,
    })
    expect(entries).toMatchObject([{ kind: 'training', gross_minor: 300, net_minor: 300 }])
  })

  it('does not start without funds, and reports the missing amount', async () => {
    const actor = await user(70)
    const error = await submit(actor, 100).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({
      ...{ code: 'insufficient_funds', data: { needed_minor: 100, available_minor: 70, missing_minor: 30 } },
      hint: expect.stringContaining('agentgym balance top-up'),
    })
    expect(await codeOf(submit(actor)), 'without a budget there is nothing to hold').toBe('payment_required')
    const runs = database.query.selectFrom('training_runs').select('id').where('owner_id', '=', actor.accountId)
    expect(await runs.execute()).toEqual([])
    expect(await shown(actor)).toMatchObject({ available_minor: 70, held_minor: 0 })
  })

  it('pauses with a checkpoint when the budget is used up, and resumes with a new one', async () => {
    const actor = await user(500)
    const { id } = await submit(actor, 200)
    const turn = await mustTakeTurn(training, price)
    await turn.train(1, 50)
    await turn.save(60)
    expect(await turn.train(1, 210)).toBe('budget')
    await turn.end({ state: 'budget_exceeded' }, 220)
    expect(await runOf(training.services, id)).toMatchObject({ state: 'budget_exceeded', held_minor: 0 })
    expect(await shown(actor)).toMatchObject({ available_minor: 300, held_minor: 0 })
    const change = { actor, runId: id, ip: null }
    expect(await codeOf(continueRun(training.services, { ...change, budgetMinor: 501 }))).toBe('insufficient_funds')
    await continueRun(training.services, { ...change, budgetMinor: 400 })
    expect(await shown(actor)).toMatchObject({ available_minor: 100, held_minor: 200 })
    const again = await mustTakeTurn(training, price)
    expect(again.job.run.checkpoint).not.toBeNull()
    await again.end(failed, 10)
    expect((await shown(actor)).held_minor).toBe(0)
  })

  it('costs nothing if canceled before training; a lost worker keeps the hold', async () => {
    const actor = await user(300)
    const { id } = await submit(actor, 100)
    await cancelRun(training.services, { actor, runId: id, ip: null })
    expect(await shown(actor)).toMatchObject({ available_minor: 300, held_minor: 0 })
    const lost = await submit(actor, 100)
    await (await mustTakeTurn(training, price)).train(1, 40)
    await silence(training, lost.id)
    const next = await mustTakeTurn(training, price)
    expect(await shown(actor)).toMatchObject({ available_minor: 200, held_minor: 100 })
    await next.end(failed, 25)
    expect((await shown(actor)).available_minor).toBeGreaterThanOrEqual(235)
  })

  it('pauses a run submitted while only free workers were connected, rather than training unpaid', async () => {
    await connect(0)
    const actor = await user(0)
    const [without, poor] = [await submit(actor), await submit(actor, 100)]
    expect(await takeTurn(training, price)).toBeUndefined()
    expect(await runOf(training.services, without.id)).toMatchObject({
      ...{ state: 'budget_exceeded', error: { code: 'payment_required' } },
    })
    expect(await runOf(training.services, poor.id)).toMatchObject({
      ...{ state: 'budget_exceeded', error: { code: 'insufficient_funds' } },
    })
    await fund(database, actor.accountId, 100)
    await continueRun(training.services, { actor, runId: poor.id, ip: null, budgetMinor: 100 })
    const turn = await mustTakeTurn(training, price)
    expect(await runOf(training.services, poor.id)).toMatchObject({ state: 'running', error: null, held_minor: 100 })
    await turn.end(failed)
    expect(await shown(actor)).toMatchObject({ held_minor: 0 })
  })

  it('costs nothing without paid workers, and for the operator’s own account', async () => {
    expect(await codeOf(submit(operator))).toBe('done')
    await (await mustTakeTurn(training, price)).end(failed, 50)
    await connect(0)
    const actor = await user(0)
    await submit(actor, 100)
    await (await mustTakeTurn(training, 0)).end(failed, 50)
    expect(await shown(actor)).toMatchObject({ available_minor: 0, held_minor: 0 })
  })

  it('uses the free monthly quota first, and no part of it twice', async () => {
    quota(150)
    const actor = await user(100)
    const first = await submit(actor, 100)
    const second = await submit(actor, 100)
    expect(await runOf(training.services, first.id)).toMatchObject({ free_minor: 100, held_minor: 0 })
    expect(await runOf(training.services, second.id)).toMatchObject({ free_minor: 50, held_minor: 50 })
    await (await mustTakeTurn(training, price)).end(failed, 30)
    await (await mustTakeTurn(training, price)).end(failed, 90)
    // 30 and 50 of the quota, and 40 that were paid; 70 of the quota are left.
    expect(await shown(actor)).toMatchObject({ available_minor: 60, held_minor: 0 })
    const third = await submit(actor, 100)
    expect(await runOf(training.services, third.id)).toMatchObject({ free_minor: 70, held_minor: 30 })
    await cancelRun(training.services, { actor, runId: third.id, ip: null })
    quota(null)
    expect(await codeOf(submit(actor)), 'unlimited').toBe('done')
    await (await mustTakeTurn(training, price)).end(failed, 1_000)
    expect(await shown(actor)).toMatchObject({ available_minor: 60, held_minor: 0 })
  })

  it('the quota is per month in UTC, and its last part goes to one of two concurrent runs', async () => {
    quota(100)
    const actor = await user(1_000)
    const { id } = await submit(actor, 100)
    await cancelRun(training.services, { actor, runId: id, ip: null })
    const charge = (resumption: number, free_minor: number, at: string) =>
      sql`insert into training_charges (run_id, resumption, amount_minor, currency, price_milliseconds, free_minor, created_at)
        values (${id}, ${resumption}, ${free_minor}, 'USD', 0, ${free_minor},
          date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' + ${at}::interval)`.execute(database.query)
    await charge(1, 70, '-1 millisecond')
    await charge(2, 25, '0')
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])
      await database.transaction(async (query) => {
        await sql`select set_config('TimeZone', ${zone}, true)`.execute(query)
        const found = await trainingQuota(query, training.services.config, actor.accountId)
        expect(found, zone).toMatchObject({ limitMinor: 100, usedMinor: 25 })
        expect(found?.resetsAt.toISOString()).toMatch(/^\d{4}-\d{2}-01T00:00:00\.000Z$/)
      })
    const runs = await Promise.all([submit(actor, 60), submit(actor, 60)])
    const covers = await Promise.all(runs.map((run) => runOf(training.services, run.id)))
    expect(covers.map(({ free_minor }) => Number(free_minor)).sort()).toEqual([15, 60])
    expect(covers.reduce((sum, { held_minor }) => sum + Number(held_minor), 0)).toBe(45)
    expect(await showBalance(training.services, actor, undefined)).toMatchObject({
      training_quota: { limit_minor: 100, used_minor: 100, resets_at: expect.stringMatching(/-01T00:00:00/) },
    })
    for (const run of runs) await cancelRun(training.services, { actor, runId: run.id, ip: null })
    expect(await showBalance(training.services, actor, undefined)).toMatchObject({ training_quota: { used_minor: 25 } })
  })

  it('counts toward caps of the account and the token, while held and once paid', async () => {
    const actor = await user(10_000)
    const token = await createTokenActor(database, actor)
    for (const token_id of [null, token.tokenId])
      await database.query
        .insertInto('spend_caps')
        .values({ account_id: actor.accountId, token_id, period: 'day', amount_minor: 150, set_by: actor.accountId })
        .execute()
    expect(await codeOf(submit(token, 151))).toBe('spend_cap_exceeded')
    await submit(token, 100)
    expect(await codeOf(buy(training.services, token, license))).toBe('spend_cap_exceeded')
    expect(await codeOf(submit(token, 51))).toBe('spend_cap_exceeded')
    await (await mustTakeTurn(training, price)).end(failed, 60)
    expect(await codeOf(submit(token, 91))).toBe('spend_cap_exceeded')
    const { id } = await submit(token, 90)
    await cancelRun(training.services, { actor, runId: id, ip: null })
  })

  it('of a resumed run counts toward the caps of the resuming token, not the starting one', async () => {
    const actor = await user(10_000)
    const [starter, resumer] = [await createTokenActor(database, actor), await createTokenActor(database, actor)]
    for (const token_id of [starter.tokenId, resumer.tokenId])
      await database.query
        .insertInto('spend_caps')
        .values({ account_id: actor.accountId, token_id, period: 'total', amount_minor: 150, set_by: actor.accountId })
        .execute()
    const { id } = await submit(starter, 100)
    await (await mustTakeTurn(training, price)).end({ state: 'budget_exceeded' }, 100)
    const resumed = { actor: resumer, runId: id, ip: null }
    expect(await codeOf(continueRun(training.services, { ...resumed, budgetMinor: 251 }))).toBe('spend_cap_exceeded')
    await continueRun(training.services, { ...resumed, budgetMinor: 250 })
    expect(await codeOf(submit(starter, 51)), 'what was charged stays with who spent it').toBe('spend_cap_exceeded')
    expect(await codeOf(submit(resumer, 1))).toBe('spend_cap_exceeded')
    await (await mustTakeTurn(training, price)).end(failed, 90)
    expect(await codeOf(submit(resumer, 61))).toBe('spend_cap_exceeded')
    const other = await submit(resumer, 60)
    await cancelRun(training.services, { actor, runId: other.id, ip: null })
  })

  it('is refused under a cap in another currency, and never exceeds its budget when worker prices change', async () => {
    const actor = await user(1_000)
    const set = { period: 'total' as const, amount_minor: 1_000, set_by: actor.accountId }
    const caps = database.query.insertInto('spend_caps')
    await caps.values({ account_id: actor.accountId, token_id: null, currency: 'EUR', ...set }).execute()
    expect(await codeOf(submit(actor, 10))).toBe('spend_cap_exceeded')
    await database.query.deleteFrom('spend_caps').where('account_id', '=', actor.accountId).execute()
    await submit(actor, 100)
    const turn = await mustTakeTurn(training, 10 * price)
    await turn.end(failed, 900)
    expect(await shown(actor)).toMatchObject({ available_minor: 900, held_minor: 0 })
  })

  it('concurrent budgets cannot hold the same balance', async () => {
    const actor = await user(250)
    const codes = await Promise.all(Array.from({ length: 6 }, () => codeOf(submit(actor, 100))))
    expect(codes.filter((code) => code === 'done')).toHaveLength(2)
    expect(codes.filter((code) => code === 'insufficient_funds')).toHaveLength(4)
    expect(await shown(actor)).toMatchObject({ available_minor: 50, held_minor: 200 })
    for (let left = 2; left > 0; left--) await (await mustTakeTurn(training, price)).end(failed, 100)
    expect(await shown(actor)).toMatchObject({ available_minor: 50, held_minor: 0 })
  })
})

import { startRunRequestSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { createTrader, fund, holdings } from '../orders/testing/marketplace.ts'
import { setPrice } from '../prices/set-price.ts'
import { cancelRun, continueRun } from './steer-run.ts'
import { submitRun } from './submit-run.ts'
import { mustTakeTurn, openTraining, type Training } from './testing/train.ts'

describeOnEngines('runs that are paid for on $kind', ({ open }) => {
  let database: Database
  let training: Training
  let buyer: Actor

  beforeAll(async () => {
    database = await open()
    training = await openTraining(database)
    const { services, ada, scenario } = training
    await setPrice(services, { actor: ada, name: scenario, ip: null }, { kind: 'per_run', amount_minor: 300 })
    buyer = await createTrader(database, 'builder')
    await fund(database, buyer.accountId, 1_000)
  })
  afterAll(async () => {
    expect([...(await auditLedger(database)), ...(await auditMarket(database))]).toEqual([])
    await database.close()
    await training.services.remove()
  })

  const submit = (more: Record<string, unknown> = {}) => {
    const request = startRunRequestSchema.parse({
      scenario: training.scenario,
      expected_price: { amount_minor: 300 },
      ...more,
    })
    return submitRun(training.services, { actor: buyer, request, traceparent: null, ip: null })
  }
  const orderOf = async (run: string) =>
    (
      await database.query
        .selectFrom('orders')
        .select('state')
        .where('run_id', '=', run)
        .orderBy('created_at')
        .execute()
    ).map(({ state }) => state)
  const balance = async () => (await holdings(database, buyer.accountId)).balance
  const earnings = async () => (await holdings(database, training.ada.accountId)).earnings ?? 0

  it('is paid by the first iteration only', async () => {
    const before = [await balance(), await earnings()]
    const { id } = await submit()
    expect([await orderOf(id), (await balance()) - before[0], (await earnings()) - before[1]]).toEqual([
      ['awaiting_payment'],
      -300,
      0,
    ])
    const turn = await mustTakeTurn(training)
    await turn.beat()
    expect(await orderOf(id)).toEqual(['awaiting_payment'])
    await turn.train(2)
    expect([await orderOf(id), (await balance()) - before[0], (await earnings()) - before[1]]).toEqual([
      ['paid'],
      -300,
      270,
    ])
    await turn.train(2)
    await turn.end({ state: 'failed', error: { code: 'training_diverged', message: 'NaN' } })
    expect([await orderOf(id), (await earnings()) - before[1]]).toEqual([['paid'], 270])
  })

  it('costs nothing if the run fails or is canceled before training', async () => {
    const before = await balance()
    const failed = await submit()
    await (await mustTakeTurn(training)).end({ state: 'failed', error: { code: 'scenario_threw', message: 'no' } })
    const cancelled = await submit()
    await cancelRun(training.services, { actor: buyer, runId: cancelled.id, ip: null })
    expect([await orderOf(failed.id), await orderOf(cancelled.id), await balance()]).toEqual([
      ['cancelled'],
      ['cancelled'],
      before,
    ])
    const ended = await training.services.database.query
      .selectFrom('events')
      .select(['account_id', 'user_id', 'data'])
      .where('type', '=', 'run.ended')
      .where(sql`data ->> 'run'`, 'in', [failed.id, cancelled.id])
      .orderBy('created_at')
      .execute()
    const by = { account_id: buyer.accountId, user_id: buyer.accountId }
    expect(ended).toMatchObject([
      { ...by, data: { state: 'failed', error: 'no' } },
      { ...by, data: { state: 'cancelled', error: null } },
    ])
  })

  it('is paid after resuming, if the budget was used up before training', async () => {
    const before = await balance()
    const { id } = await submit({ budget_minor: 100 })
    await (await mustTakeTurn(training)).end({ state: 'budget_exceeded' }, 101)
    expect([await orderOf(id), await balance()]).toEqual([['cancelled'], before])
    await continueRun(training.services, { actor: buyer, runId: id, ip: null, budgetMinor: 10_000 })
    expect([await orderOf(id), await balance()]).toEqual([['cancelled', 'awaiting_payment'], before - 300])
    const turn = await mustTakeTurn(training)
    await turn.train(1)
    await turn.end({ state: 'failed', error: { code: 'training_diverged', message: 'NaN' } })
    expect(await orderOf(id)).toEqual(['cancelled', 'paid'])
  })

  it('requires sufficient balance and the shown price', async () => {
    const runs = async () => (await database.query.selectFrom('training_runs').select('id').execute()).length
    const before = await runs()
    await submit()
    await expect(submit()).rejects.toMatchObject({ code: 'insufficient_funds' })
    await expect(submit({ expected_price: { amount_minor: 299 } })).rejects.toMatchObject({ code: 'price_changed' })
    await expect(submit({ expected_price: undefined })).rejects.toMatchObject({ code: 'payment_required' })
    expect(await runs()).toBe(before + 1)
  })
})

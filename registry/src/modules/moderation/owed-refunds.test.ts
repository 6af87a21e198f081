import type { Evaluation } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { backgroundSettled } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import { auditLedger } from '../ledger/audit-ledger.ts'
import { auditMarket } from '../orders/audit-market.ts'
import { buy, codeOf, createTrader, fund, holdings, setListPrice } from '../orders/testing/marketplace.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { publish } from '../packages/testing/publishing.ts'
import { putReview } from '../reviews/write-review.ts'
import { requestVerification } from '../verification/request-verification.ts'
import { resultOf, runTwice, verifyAgent } from '../verification/testing/verifying.ts'
import { giveOwedRefunds } from './owed-refunds.ts'
import { takeDownPackage } from './take-down.ts'

describeOnEngines('money back on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let seller: Actor
  let agents = 0

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    seller = await createTrader(database)
    await publish(services, seller, '1.0.0')
  })
  afterAll(async () => {
    await backgroundSettled()
    await services.remove()
    await database.close()
  })

  /** An agent that was verified, for 10.00. */
  async function sellAgent() {
    const agent = await verifyAgent(services, seller, { base: `maze-${++agents}` })
    const { id } = await database.query
      .selectFrom('packages')
      .select('id')
      .where('name', '=', agent.name)
      .executeTakeFirstOrThrow()
    await setListPrice(database, { id, ownerId: seller.accountId }, { kind: 'one_time', amountMinor: 1_000 })
    return { ...agent, id }
  }
  async function buyer(agent: { name: string }): Promise<Actor> {
    const somebody = await createTrader(database, 'buyer')
    await fund(database, somebody.accountId, 1_000)
    await buy(services, somebody, agent)
    expect(await balance(somebody)).toBe(0)
    return somebody
  }
  const balance = async ({ accountId }: Actor) => (await holdings(database, accountId)).balance
  /** The marketplace re-runs it with that result. */
  async function runAgain(
    actor: Actor,
    agent: { name: string; version: string; evaluation: Evaluation },
    holds: boolean,
  ) {
    const request = { actor, name: agent.name, version: agent.version, traceparent: null, ip: null }
    const { id } = await requestVerification(services, request)
    expect((await requestVerification(services, request)).id, 'one run at a time').toBe(id)
    const before = await describeVersion(services, null, agent.name, agent.version)
    expect(before.verification?.state, 'what was found stays until more is').not.toBe('pending')
    const claim = holds ? agent.evaluation : { ...agent.evaluation, trajectory_hash: 'e'.repeat(64) }
    expect((await runTwice(services, (job) => resultOf(job, claim))).id).toBe(id)
    await giveOwedRefunds(services)
    await backgroundSettled()
  }
  const votes = async ({ id }: { id: string }) => {
    const row = await database.query
      .selectFrom('packages')
      .select('votes')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return row.votes
  }
  const nothingFound = async () => {
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
  }

  it('an agent that does not reproduce its claims: all buyers of that version are refunded', async () => {
    const agent = await sellAgent()
    const [first, second] = [await buyer(agent), await buyer(agent)]
    await runAgain(first, agent, true)
    expect([await balance(first), await balance(second)], 'it holds').toEqual([0, 0])
    const review = { name: agent.name, version: agent.version, stars: 5, text: 'It does what it says.' }
    await putReview(services, { actor: second, ip: '192.0.2.1' }, review)
    expect(await votes(agent)).toBe(1)
    await runAgain(first, agent, false)
    expect([await balance(first), await balance(second)]).toEqual([1_000, 1_000])
    expect(await votes(agent), 'with the licence goes the vote').toBe(0)
    const mails = (await services.mail.sent()).filter(({ to }) => to === `${second.username}@example.org`)
    expect(mails.at(-1)?.text).toContain('did not match its claims')
    const held = await database.query
      .selectFrom('entitlements')
      .select('revoked_at')
      .where('package_id', '=', agent.id)
      .execute()
    expect(held).toEqual([{ revoked_at: expect.any(Date) }, { revoked_at: expect.any(Date) }])
    await nothingFound()
  })

  it('buyers who knew of the failure are not refunded for it', async () => {
    const agent = await sellAgent()
    await runAgain(seller, agent, false)
    const knowing = await buyer(agent)
    await runAgain(knowing, agent, false)
    expect(await balance(knowing)).toBe(0)
    await runAgain(seller, agent, true)
    const trusting = await buyer(agent)
    await database.query.deleteFrom('rate_limits').execute()
    await runAgain(trusting, agent, false)
    expect([await balance(knowing), await balance(trusting)]).toEqual([0, 1_000])
    await nothingFound()
  })

  it('can be requested by those affected, within the limits', async () => {
    const agent = await sellAgent()
    const ask = (actor: Actor | null, name = agent.name, version = agent.version) =>
      codeOf(requestVerification(services, { actor, name, version, traceparent: null, ip: null }))
    const stranger = await createTrader(database)
    expect(await ask(null)).toBe('unauthenticated')
    expect(await ask(stranger)).toBe('forbidden')
    expect(await ask({ ...seller, scopes: new Set(['packages:manage', 'packages:read']) })).toBe('forbidden')
    expect(await ask(seller, `@${seller.username}/maze`, '1.0.0')).toBe('request_invalid')
    expect(await ask(seller, agent.name, '9.9.9')).toBe('version_not_found')
    for (let round = 0; round < 3; round++) await runAgain(seller, agent, true)
    expect(await ask(seller)).toBe('rate_limited')
    expect(await ask({ ...stranger, operator: true })).toBe('rate_limited')
  })

  it('taken down with refunds: buyers of the last 30 days, each once, even after an interruption', async () => {
    const agent = await sellAgent()
    const [early, late, lost] = [await buyer(agent), await buyer(agent), await buyer(agent)]
    await sql`update orders set paid_at = now() - interval '31 days' where buyer_id = ${early.accountId}`.execute(
      database.query,
    )
    const operator = { ...(await createTrader(database)), operator: true }
    const notice = { reason: 'It is copied.', refund: true, for_all: false }
    await takeDownPackage(services, { actor: operator, name: agent.name, ip: '192.0.2.1' }, notice)
    // As many at once as there are replicas.
    await Promise.all([1, 2, 3].map(() => giveOwedRefunds(services)))
    await backgroundSettled()
    expect([await balance(early), await balance(late), await balance(lost)]).toEqual([0, 1_000, 1_000])
    // As if the process had died before it said that it was done.
    await database.query
      .updateTable('owed_refunds')
      .set({ done_at: sql<Date>`null` as never })
      .execute()
    await giveOwedRefunds(services)
    expect(await balance(late)).toBe(1_000)
    expect(await codeOf(buy(services, await createTrader(database), agent))).toBe('package_taken_down')
    await nothingFound()
  })
})

// @module-tag full
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { runFolder } from '@agentgym/testkit/run-folder'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { auditLedger } from '../../src/modules/ledger/audit-ledger.ts'
import { fitHolds, postUsage } from '../../src/modules/metering/post-usage.ts'
import { auditMarket } from '../../src/modules/orders/audit-market.ts'
import { type Agreements, auditSpending } from './audit-spending.ts'
import { Spending, type SpendingMarket } from './spending.ts'
import { openSpendingMarket } from './spending-market.ts'
import type { Agreement, SpendingSettings } from './spending-process.ts'

const spender = fileURLToPath(new URL('./spending-process.ts', import.meta.url))
/** Each with two processes, of which one is killed. */
const rounds = isLong ? 60 : 2
const operationsARound = isLong ? 1_700 : 150
const quotaMinor = 60

type Report = { operations: number; accepted: Record<string, number> }
type Running = { child: ChildProcess; report: Report; ended: Promise<unknown> }

describe('two processes that spend the money of one account, on PostgreSQL', () => {
  let url: string
  let database: Database
  let services: TestServices
  let spending: Spending
  let market: SpendingMarket
  let agreements: string
  const running: Running[] = []

  beforeAll(async () => {
    url = await createPostgresqlDatabase()
    database = await openDatabase({ url })
    services = await testServices(database)
    services.config.training.freeMinorPerMonth = quotaMinor
    services.config.market.payoutHoldDays = 0
    market = await openSpendingMarket(services, 1)
    spending = new Spending(services, market)
    agreements = join(await mkdtemp(join(runFolder(), 'spending-')), 'agreements')
    await writeFile(agreements, '')
    await spending.topUp(0, 200, 'USD')
    // A worker with a price is connected.
    await spending.takeTurn()
  })
  afterEach(() => {
    for (const { child } of running.splice(0)) child.kill('SIGKILL')
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  function start(seed: number, capMinor: number): Running {
    const child = fork(spender, [JSON.stringify({ url })], { execArgv: [], stdio: 'inherit' })
    const one: Running = { child, report: { operations: 0, accepted: {} }, ended: once(child, 'exit') }
    child.on('message', (report: Report) => {
      one.report = report
    })
    const { secret, ...config } = services.config
    const shared = { market, agreements, objects: join(services.folder, 'objects') }
    const settings: SpendingSettings = {
      ...{ ...shared, seed, capMinor, atOnce: 4 },
      config: { ...config, secret: Buffer.from(secret).toString('base64') },
    }
    child.send(settings)
    running.push(one)
    return one
  }

  function agreed(): Agreements {
    const all: Agreements = { calls: new Map(), caps: { account: 0, token: 0, calls: 0 } }
    // A process that was killed may have left half a line, whose request was never sent.
    for (const line of readFileSync(agreements, 'utf8')
      .split('\n')
      .filter((text) => text.endsWith(']'))) {
      const agreement = JSON.parse(line) as Agreement
      if (agreement[0] === 'call') all.calls.set(agreement[1], agreement[2] ?? undefined)
      else all.caps[agreement[0]] = Math.max(all.caps[agreement[0]], agreement[1])
    }
    return all
  }

  async function audit(): Promise<void> {
    const [{ accountId, tokenId }] = market.buyers
    expect(await auditSpending(database, { accountId, tokenId, quotaMinor, agreed })).toEqual([])
    expect(await auditLedger(database)).toEqual([])
    expect(await auditMarket(database)).toEqual([])
  }

  /** A cap that leaves a little beyond what is spent: both processes move it about. */
  async function setCaps(): Promise<number> {
    const high = 1_000_000_000
    const { spent_minor: spent } = await spending.setCap({ buyer: 0, byToken: false }, 'total', high)
    const capMinor = spent + 400
    for (const [whose, byToken] of [
      ['account', false],
      ['token', true],
    ] as const) {
      appendFileSync(agreements, `${JSON.stringify([whose, capMinor])}\n`)
      await spending.setCap({ buyer: 0, byToken }, 'total', capMinor)
    }
    return capMinor
  }

  it(
    `never spend money twice, even when one is killed: ${rounds} × about ${operationsARound} operations`,
    async () => {
      const seed = Number(process.env.AGENTGYM_TEST_SEED ?? Date.now() % 2 ** 31)
      console.log(`seed ${seed}`)
      let operations = 0
      const accepted: Record<string, number> = {}
      for (let round = 0; round < rounds; round++) {
        const capMinor = await setCaps()
        const both = [start(seed + 2 * round, capMinor), start(seed + 2 * round + 1, capMinor)]
        const [killed, other] = both
        const done = () => both[0].report.operations + both[1].report.operations
        const until = async (count: number) => {
          while (done() < count) {
            for (const { child } of both) expect(child.exitCode, 'it runs until it is stopped').toBeNull()
            await delay(25)
          }
        }
        await until(operationsARound / 3)
        await audit()
        await until((operationsARound * 2) / 3)
        await delay((seed * (round + 7)) % 100)
        killed.child.kill('SIGKILL')
        await killed.ended
        await audit()
        await until(
          Math.min(operationsARound, killed.report.operations + other.report.operations + operationsARound / 3),
        )
        other.child.send('stop')
        await other.ended
        expect(other.child.exitCode).toBe(0)
        await audit()
        await endAll()
        await audit()
        operations += done()
        for (const { report } of both)
          for (const [what, count] of Object.entries(report.accepted)) accepted[what] = (accepted[what] ?? 0) + count
        if (isLong) console.log(`round ${round + 1} of ${rounds}, ${operations} operations: the auditors find nothing`)
        running.length = 0
      }
      console.log(`${operations} operations; accepted: ${JSON.stringify(accepted)}`)
    },
    120_000 + rounds * 120_000,
  )

  /** What is open ends: nothing stays held. */
  async function endAll(): Promise<void> {
    const { query } = database
    const [{ accountId }] = market.buyers
    const open = () => query.selectFrom('training_runs').select('id').where('owner_id', '=', accountId)
    await sql`update hosted_calls set expires_at = now() - interval '1 second' where state in ('waiting', 'leased')`.execute(
      query,
    )
    await spending.expireCall(accountId)
    for (const { id } of await open().where('state', '=', 'running').execute()) await spending.lose({ runId: id })
    for (const { id } of await open().where('state', 'in', ['queued', 'running']).execute())
      await spending.cancelRun({ buyer: 0, byToken: false }, id)
    while ((await spending.takeTurn()) !== undefined) {}
    await postUsage(services, { fromMinor: 0, afterSeconds: 0 })
    await fitHolds(services, -1)
    const { rows } = await sql`
      select ledger_transfers.code, amount from ledger_open_pendings join ledger_transfers on id = transfer_id
      join ledger_accounts on ledger_accounts.id = debit_account_id
      where owner_id = ${accountId} and ledger_transfers.code <> 'payout'`.execute(query)
    expect(rows).toEqual([])
    expect(await open().where('state', 'in', ['queued', 'running']).execute()).toEqual([])
  }
})

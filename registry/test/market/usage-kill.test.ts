// @module-tag full
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/open-database.ts'
import type { ServerConfig } from '../../src/core/services.ts'
import { auditLedger } from '../../src/modules/ledger/audit-ledger.ts'
import { meteredAgent, type UsageEvent, usageEvent } from '../../src/modules/metering/testing/metered-agents.ts'
import { auditMarket } from '../../src/modules/orders/audit-market.ts'
import { createTrader, fullBalance, fund } from '../../src/modules/orders/testing/marketplace.ts'

export type UsageTeller = {
  config: Pick<ServerConfig, 'training' | 'market'>
  chunks: UsageEvent[][]
  /** Chunks that were acknowledged before. */
  from: number
  eventsABatch: number
}

const teller = fileURLToPath(new URL('./usage-teller.ts', import.meta.url))
const kills = isLong ? 100 : 2
const callers = 3
const priceMinor = 777

describeOnEngines('kill -9 during metered calls, on $kind', ({ create }) => {
  it(
    'acknowledged usage is paid, each event once, including remainders',
    async () => {
      const address = await create()
      const { chunks, people, config } = await prepare(address)
      const settings: UsageTeller = { config, chunks, from: 0, eventsABatch: 4 }
      let killed = 0
      for (let ended = false; !ended; ) {
        const running = fork(teller, [JSON.stringify(address)], { execArgv: [], stdio: 'inherit' })
        running.send(settings)
        const begun = acknowledge(running, settings)
        const exit = once(running, 'exit')
        await Promise.race([begun, exit])
        if (killed < kills) {
          await delay(20 + Math.random() * 250)
          running.kill('SIGKILL')
        }
        const [code] = await exit
        if (running.signalCode === 'SIGKILL') killed++
        else {
          expect(code).toBe(0)
          ended = true
        }
      }
      expect(killed).toBeGreaterThan(0)
      await audit(address, chunks.flat(), people)
    },
    120_000 + kills * 20_000,
  )
})

/** Resolves once it has begun; keeps in `settings` what it has acknowledged. */
function acknowledge(running: ChildProcess, settings: UsageTeller): Promise<void> {
  return new Promise((begun) => {
    running.on('message', (message: { begun?: true; reported?: number }) => {
      if (message.begun) begun()
      if (message.reported !== undefined) settings.from = message.reported
    })
  })
}

type Address = Parameters<typeof openDatabase>[0]
type Person = { accountId: string; username: string }

async function prepare(address: Address) {
  const database = await openDatabase(address)
  const services = await testServices(database)
  const agent = await meteredAgent(database, { callsPriceMinor: priceMinor, royaltyBasisPoints: 1_000 })
  const people: Person[] = []
  for (let index = 0; index < callers; index++) {
    const person = await createTrader(database, 'caller')
    await fund(database, person.accountId, 10_000_000)
    people.push(person)
  }
  const chunks = Array.from({ length: 6 + 5 * kills }, (_, chunk) =>
    Array.from({ length: 5 }, (_, index) =>
      usageEvent(agent, people[(chunk + index) % callers], 1 + ((chunk * 31 + index * 7) % 500)),
    ),
  )
  const { training, market } = services.config
  await services.remove()
  await database.close()
  return { chunks, people, config: { training, market } }
}

async function audit(address: Address, events: UsageEvent[], people: Person[]): Promise<void> {
  const database = await openDatabase(address)
  const counted = await database.query.selectFrom('usage_events').select(['id', 'batch_id']).execute()
  expect(counted.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort())
  expect(counted.every(({ batch_id }) => batch_id !== null)).toBe(true)
  for (const { accountId, username } of people) {
    const calls = events.filter(({ account }) => account === username).reduce((sum, one) => sum + one.calls, 0)
    const paid = Math.floor((calls * priceMinor) / 1_000)
    expect(await fullBalance(database, accountId)).toBe(10_000_000 - paid)
    const batches = await database.query
      .selectFrom('usage_batches')
      .selectAll()
      .where('account_id', '=', accountId)
      .execute()
    expect(batches.reduce((sum, batch) => sum + batch.amount_minor, 0)).toBe(paid)
    expect(batches.reduce((sum, batch) => sum + batch.calls, 0)).toBe(calls)
  }
  expect(await auditLedger(database)).toEqual([])
  expect(await auditMarket(database)).toEqual([])
  await database.close()
}

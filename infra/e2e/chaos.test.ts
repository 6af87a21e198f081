// @module-tag full
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isLong } from '@agentgym/testkit/tier'
import { expect, it } from 'vitest'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'
import { faultKinds, faultsOf } from './chaos/faults.ts'
import { hasClocks, type Installation, noChaos, openInstallation } from './chaos/installation.ts'
import { type Acknowledged, browse, buy, call, install, type Load, publish, train } from './chaos/load.ts'
import { expectKept, openMarket } from './chaos/market.ts'

/** `npm run test:chaos` sets it to an hour. */
const seconds = Number(process.env.AGENTGYM_CHAOS_SECONDS ?? 60)
const seed = Number(process.env.AGENTGYM_CHAOS_SEED ?? randomInt(2 ** 31))

it('the same seed makes the same faults, each kind once before one comes again', () => {
  const [some, same] = [faultsOf(7), faultsOf(7)].map((faults) => faultKinds.map(() => faults.next().value))
  expect(some).toEqual(same)
  expect(some.map(({ kind }) => kind).sort()).toEqual([...faultKinds].sort())
})

/** Elsewhere, the reason is the title. */
if (isLong && noChaos !== null) it(`cannot make chaos here: ${noChaos}`, () => {})
if (isLong && noChaos === null)
  it(
    `${seconds} s of faults, seed ${seed}: every acknowledged write is there, and the auditors find nothing`,
    async () => {
      const installation = await openInstallation()
      try {
        await makeChaos(installation)
      } catch (error) {
        console.log(installation.log())
        throw error
      } finally {
        await installation.close()
      }
    },
    seconds * 1_000 + 1_800_000,
  )

async function makeChaos(installation: Installation): Promise<void> {
  const database = await openDatabase({ url: installation.databaseUrl })
  const ending = new AbortController()
  const acknowledged: Acknowledged = { orders: [], published: [], runs: [], actions: [], installs: 0, pages: 0 }
  const load: Load = { url: installation.url, signal: ending.signal, acknowledged, unexpected: [] }
  const endless = { ...load, signal: new AbortController().signal }
  const buyers = Math.max(2, Math.ceil(seconds / 10))
  const market = await openMarket(endless, { installation, database, buyers })
  const { token, scenario, agent } = market
  const buyInTurn = async () => {
    for (const buyer of market.buyers) await buy(load, buyer)
  }
  const lanes = [
    ...[browse(load), publish(load, token), install(load, scenario), train(load, token), call(load, token, agent)],
    buyInTurn(),
  ]
  const counts: Record<string, number> = {}
  const end = Date.now() + seconds * 1_000
  for (const fault of faultsOf(seed)) {
    if (Date.now() >= end) break
    if (fault.kind === 'jump-clock' && !hasClocks) continue
    counts[fault.kind] = (counts[fault.kind] ?? 0) + 1
    await installation.suffer(fault)
    await delay(fault.pauseMs)
  }
  ending.abort()
  await Promise.all(lanes)
  const sizes = Object.entries(acknowledged).map(([what, found]) => [what, Array.isArray(found) ? found.length : found])
  console.log(`AGENTGYM_CHAOS_SEED=${seed} AGENTGYM_CHAOS_SECONDS=${seconds}`, JSON.stringify(counts))
  console.log('acknowledged:', JSON.stringify(Object.fromEntries(sizes)))
  expect(load.unexpected).toEqual([])
  await expectKept(endless, database, market)
  await database.close()
}

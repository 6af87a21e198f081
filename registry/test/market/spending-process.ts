// Spends the money of one account, several operations at once, in a process of its own, to be killed:
// `node spending-process.ts ADDRESS`, the settings as a message. What is agreed to is noted in a file before it is requested.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openAppServices } from '../../src/app/app-services.ts'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { createProcessMetrics } from '../../src/core/observability/process-metrics.ts'
import type { ServerConfig } from '../../src/core/services.ts'
import { openDiskObjectStore } from '../../src/core/storage/disk-object-store.ts'
import { foldHotAccounts } from '../../src/modules/ledger/ledger.tasks.ts'
import { fitHolds, postUsage } from '../../src/modules/metering/post-usage.ts'
import { Spending, type SpendingMarket, type Turn } from './spending.ts'
import { licensePrices } from './spending-market.ts'

export type SpendingSettings = {
  config: Omit<ServerConfig, 'secret'> & { secret: string }
  market: SpendingMarket
  /** Folder of stored objects. */
  objects: string
  /** Where agreements are noted. */
  agreements: string
  seed: number
  atOnce: number
  /** Caps of the account are set to about this amount, and of its token to half of it. */
  capMinor: number
}
/** A line of the file of agreements: a call with its highest price, or a cap. */
export type Agreement = ['call', string, number | null] | ['account' | 'token' | 'calls', number]

const [address] = process.argv.slice(2)
const [settings] = (await once(process, 'message')) as [SpendingSettings]
const { market, capMinor } = settings
const database = await openDatabase(JSON.parse(address))
const silent = () => {}
const services = openAppServices({
  database,
  objects: await openDiskObjectStore(settings.objects),
  mail: { send: async () => {} },
  config: { ...settings.config, secret: Buffer.from(settings.config.secret, 'base64') },
  metrics: createProcessMetrics(),
  log: { info: silent, warn: silent, error: (message, data) => console.error(message, data) },
})
const spending = new Spending(services, market)
const [{ accountId }] = market.buyers
const file = openSync(settings.agreements, 'a')
const agree = (agreement: Agreement) => writeSync(file, `${JSON.stringify(agreement)}\n`)
const accepted: Record<string, number> = {}
const turns: Turn[] = []
let [operations, stopping] = [0, false]

let state = settings.seed >>> 0
/** Mulberry32: a whole number below `end`. */
function random(end: number): number {
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
}

const spender = () => ({ buyer: 0, byToken: random(2) === 0 })

async function anyOf(table: string, condition: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`select id from ${sql.ref(table)} where ${sql.raw(condition)}
    order by md5(id::text || ${String(random(1e9))}) limit 1`.execute(database.query)
  return rows[0]?.id
}

async function callAgent() {
  const [agent, id] = [random(2), randomUUID()]
  const { rows } = await sql<{ price: number }>`
    select calls_price_minor as price from sale_terms where package_id = ${market.agents[agent].id}`.execute(
    database.query,
  )
  const most = [rows[0].price, rows[0].price, rows[0].price - 1, undefined][random(4)]
  agree(['call', id, most ?? null])
  return spending.call(spender(), agent, { id, maxPriceMinor: most })
}

async function answer() {
  const leased = await spending.leaseCalls()
  if (leased === undefined) return
  const answers = leased.calls.filter(() => random(5) > 0).map(({ id }) => ({ id, fails: random(4) === 0 }))
  await spending.answer(leased.lease, answers)
  // The same again is too late.
  if (random(3) === 0 && (await spending.answer(leased.lease, answers)).taken > 0) throw new Error('answered twice')
}

async function settlePayment() {
  const id = await anyOf('payments', `account_id = '${accountId}'`)
  if (id === undefined) return
  const { amount_minor: amountMinor } = await database.query
    .selectFrom('payments')
    .select('amount_minor')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const news = [
    { kind: 'succeeded' as const, amountMinor, currency: 'USD' },
    { kind: 'failed' as const, message: 'No.' },
    { kind: 'expired' as const },
  ]
  await spending.settlePayment(id, news[Math.max(0, random(5) - 2)])
}

async function withTurn(work: (turn: Turn) => Promise<{ code: string } | undefined>) {
  const [turn] = turns.splice(random(turns.length), 1)
  if (turn === undefined) return
  const done = await work(turn)
  if (done?.code === 'lease_lost' || done?.code === 'request_invalid') return
  return done
}

async function progress(turn: Turn) {
  turn.meteredMs = Math.min(900, turn.meteredMs + random(80))
  const done = await spending.progress(turn, turn.meteredMs)
  turn.iteration++
  if (done.code === 'done') turns.push(turn)
  return done
}

async function setCap() {
  const byToken = random(2) === 0
  if (random(4) === 0) {
    const amount = random(12_000)
    agree(['calls', amount])
    await spending.setCap({ buyer: 0, byToken }, 'calls', amount)
    return
  }
  const amount = Math.floor((capMinor + random(200) - 100) / (byToken ? 2 : 1))
  agree([byToken ? 'token' : 'account', amount])
  await spending.setCap({ buyer: 0, byToken }, 'total', amount)
}

async function resume() {
  const id = await anyOf('training_runs', `owner_id = '${accountId}' and state = 'budget_exceeded'`)
  if (id === undefined) return
  const { budget_minor: budget } = await database.query
    .selectFrom('training_runs')
    .select('budget_minor')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return spending.resume(spender(), id, (budget ?? 0) + 1 + random(60))
}

const whenThere = async (table: string, condition: string, work: (id: string) => Promise<unknown>) => {
  const id = await anyOf(table, condition)
  if (id !== undefined) await work(id)
}
const mine = (condition: string) => `buyer_id = '${accountId}' and ${condition}`

const license = () => random(licensePrices.length)
const buy = (provider: boolean) => {
  const chosen = license()
  return spending.buy(spender(), chosen, { priceMinor: licensePrices[chosen] - (random(6) === 0 ? 1 : 0), provider })
}
const steps: Record<string, { weight: number; take: () => Promise<unknown> }> = {
  topUp: { weight: 6, take: () => spending.topUp(0, 1 + random(90), 'USD') },
  buy: { weight: 6, take: () => buy(false) },
  card: { weight: 2, take: () => buy(true) },
  settlePayment: { weight: 3, take: settlePayment },
  cancelOrder: {
    weight: 1,
    take: () =>
      whenThere('orders', mine(`state = 'awaiting_payment' and run_id is null`), (id) =>
        spending.cancelOrder({ buyer: 0, byToken: false }, id),
      ),
  },
  expireOrder: {
    weight: 1,
    take: () =>
      whenThere('orders', mine(`state = 'awaiting_payment' and run_id is null`), (id) => spending.expireOrder(id)),
  },
  refund: {
    weight: 4,
    take: () =>
      whenThere('orders', mine(`state = 'paid' and run_id is null`), (id) =>
        spending.refund(id, random(2) === 0 ? undefined : 1 + random(40)),
      ),
  },
  call: { weight: 24, take: callAgent },
  answer: { weight: 8, take: answer },
  expireCall: {
    weight: 3,
    take: () =>
      whenThere('hosted_calls', `account_id = '${accountId}' and state in ('waiting', 'leased')`, (id) =>
        spending.expireCall(id),
      ),
  },
  post: { weight: 2, take: async () => void (await postUsage(services, { fromMinor: 0, afterSeconds: 0, events: 9 })) },
  fit: { weight: 2, take: () => fitHolds(services, -1) },
  fold: { weight: 1, take: async () => void (await foldHotAccounts(database)) },
  price: { weight: 2, take: async () => void (await spending.setCallsPrice(random(2), 1 + random(12_000))) },
  notice: { weight: 1, take: () => spending.passNotice(random(2)) },
  cap: { weight: 3, take: setCap },
  run: {
    weight: 10,
    take: () =>
      spending.run(spender(), random(2), { budgetMinor: 1 + random(90), shownMinor: 30 - (random(8) === 0 ? 1 : 0) }),
  },
  lease: {
    weight: 9,
    take: async () => {
      const turn = await spending.takeTurn()
      if (turn !== undefined) turns.push(turn)
    },
  },
  progress: { weight: 6, take: () => withTurn(progress) },
  end: {
    weight: 6,
    take: () =>
      withTurn((turn) =>
        spending.end(turn, random(2) === 0 ? 'failed' : 'budget_exceeded', turn.meteredMs + random(50)),
      ),
  },
  release: { weight: 1, take: () => withTurn((turn) => spending.release(turn, turn.meteredMs)) },
  lose: {
    weight: 1,
    take: () =>
      whenThere('training_runs', `owner_id = '${accountId}' and state = 'running'`, (runId) =>
        spending.lose({ runId }),
      ),
  },
  cancelRun: {
    weight: 3,
    take: () =>
      whenThere('training_runs', `owner_id = '${accountId}' and state in ('queued', 'running')`, (id) =>
        spending.cancelRun({ buyer: 0, byToken: false }, id),
      ),
  },
  resume: { weight: 5, take: resume },
  payOut: {
    weight: 1,
    take: () => spending.payOut(random(2) === 0 ? 'seller' : 'operator', 1 + random(60)),
  },
  settlePayout: {
    weight: 1,
    take: () =>
      whenThere('payouts', `state = 'pending'`, (id) =>
        spending.settlePayout(
          id,
          random(3) === 0 ? { kind: 'failed', message: 'No.' } : { kind: 'paid', reference: id },
        ),
      ),
  },
}
const kinds = Object.entries(steps).flatMap(([kind, { weight }]) => Array.from({ length: weight }, () => kind))

async function spend(): Promise<void> {
  while (!stopping) {
    const kind = kinds[random(kinds.length)]
    const done = (await steps[kind].take()) as { code?: string } | undefined
    operations++
    if (done?.code === 'done') accepted[kind] = (accepted[kind] ?? 0) + 1
    if (operations % 50 === 0) process.send?.({ operations, accepted })
    await delay(0)
  }
}

process.on('message', (message) => {
  if (message === 'stop') stopping = true
})
process.send?.({ operations, accepted })
await Promise.all(Array.from({ length: settings.atOnce }, spend))
process.send?.({ operations, accepted })
await database.close()
process.disconnect?.()
process.exit(0)

import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  applyTransfers,
  auditLedger,
  auditMarket,
  type Database,
  foldHotAccounts,
  insertOwners,
  openAccounts,
  openBenchMarket,
  splitSale,
} from '@agentgym/registry/benchmarks'
import { onBenchDatabase } from './bench-database.ts'
import type { Figure } from './figure.ts'
import { atFixedRate, percentile } from './http-load.ts'

const currency = 'USD'
const buyers = 2_000
const sellers = 300
const authors = 100
/** Purchases that are under way at once when as many as possible are made. */
const atOnce = 16
const seconds = 10
const perSecond = 100

type Options = { embedded: boolean; say: (line: string) => void }

/**
 * Whole orders (`POST /v1/orders` with a token, without a socket: price, license, fee, royalty, audit, answer), and before
 * that purchases as the ledger alone sees them: four linked transfers each. Between random people, on PostgreSQL that waits
 * for the disk, or embedded. First as many as there can be, then at a fixed rate, each timed from when it was due. Client,
 * server and database share the machine. The books are audited.
 */
export function marketBenchmark({ embedded, say }: Options): Promise<Figure[]> {
  return onBenchDatabase(embedded, (database, engine) => measure(database, engine, say))
}

async function measure(database: Database, engine: string, say: Options['say']): Promise<Figure[]> {
  say(`market: ${buyers + sellers + authors} people with accounts, ${engine} …`)
  const people = await furnish(database)
  const transfers = await measureOne(database, () => purchase(database, people), say)
  const { buy } = await openBenchMarket(database, { buyers, sellers, authors })
  const orders = await measureOne(database, buy, say)
  const findings = [...(await auditLedger(database)), ...(await auditMarket(database))]
  if (findings.length > 0) throw new Error(`the books are wrong: ${JSON.stringify(findings.slice(0, 5))}`)
  return [
    ...figures({ id: 'purchase', what: 'purchases of four linked transfers', engine }, transfers),
    ...figures({ id: 'order', what: 'whole orders', engine }, orders),
  ]
}

type Measured = { rate: number; paced: number; times: number[] }

async function measureOne(database: Database, buy: () => Promise<void>, say: Options['say']): Promise<Measured> {
  await whileUpkeep(database, () => closedLoop(buy, 2))
  // As PostgreSQL does of its own within a minute: until then it plans for the empty tables that it found.
  await database.execute('analyze')
  say(`market: as many purchases as there can be, for ${seconds} s …`)
  const rate = await whileUpkeep(database, () => closedLoop(buy, seconds))
  const paced = Math.min(perSecond, Math.floor(rate))
  say(`market: ${paced} purchases a second …`)
  const requests = paced * seconds
  const times = await whileUpkeep(database, () => atFixedRate({ perSecond: paced, requests }, () => buy()))
  return { rate, paced, times }
}

function figures(
  { id, what, engine }: { id: string; what: string; engine: string },
  { rate, paced, times }: Measured,
): Figure[] {
  const suffix = engine.toLowerCase()
  const at = `one of ${paced} ${what} a second`
  const milliseconds = { unit: 'ms', lower: true }
  return [
    {
      ...{ id: `${id}s_per_second_${suffix}`, what: `${what}, ${engine}` },
      ...{ value: rate, unit: `${id}s/s`, bar: embeddedBar(engine) },
    },
    {
      ...{ id: `${id}_p50_ms_${suffix}`, what: `${at}, median, ${engine}` },
      ...{ value: percentile(times, 0.5), bar: null, ...milliseconds },
    },
    {
      ...{ id: `${id}_p95_ms_${suffix}`, what: `${at}, 95th percentile, ${engine}` },
      ...{ value: percentile(times, 0.95), bar: null, ...milliseconds },
    },
  ]
}

/** Money belongs on PostgreSQL: PGlite is held to nothing. */
const embeddedBar = (engine: string) => (engine === 'PostgreSQL' ? perSecond : null)

type People = { buyers: string[]; sellers: string[]; authors: string[]; fees: string; provider: string }

async function furnish(database: Database): Promise<People> {
  const owners = await insertOwners(database, buyers + sellers + authors)
  const keys = owners.map((owner, index) => ({
    ...{ owner, code: index < buyers ? ('balance' as const) : ('earnings' as const), currency },
  }))
  const platform = [
    { owner: null, code: 'fees' as const, currency },
    { owner: null, code: 'provider' as const, currency },
  ]
  const [fees, provider, ...rest] = await database.transaction((query) => openAccounts(query, [...platform, ...keys]))
  return {
    ...{ fees, provider, buyers: rest.slice(0, buyers) },
    ...{ sellers: rest.slice(buyers, buyers + sellers), authors: rest.slice(buyers + sellers) },
  }
}

/** One purchase, paid by its buyer at this moment. */
async function purchase(database: Database, people: People): Promise<void> {
  const any = (ids: string[]) => ids[randomInt(ids.length)]
  const [buyer, seller, author] = [any(people.buyers), any(people.sellers), any(people.authors)]
  const priceMinor = BigInt(randomInt(100, 10_000))
  const parts = splitSale({ priceMinor, feeBasisPoints: 1_000, royalty: { basisPoints: 500 } })
  const reference = randomUUID()
  const move = (code: string, debitAccountId: string, creditAccountId: string, amountMinor: bigint) => ({
    ...{ id: randomUUID(), kind: 'posted' as const, currency, code, reference },
    ...{ debitAccountId, creditAccountId, amountMinor, linked: code !== 'ledger_royalty' },
  })
  const transfers = [
    move('payment', people.provider, buyer, priceMinor),
    move('ledger_sale', buyer, seller, parts.sellerMinor),
    move('ledger_fee', buyer, people.fees, parts.feeMinor),
    move('ledger_royalty', buyer, author, parts.royaltyMinor),
  ]
  const results = await database.transaction((query) => applyTransfers(query, transfers))
  if (results.some(({ outcome }) => outcome !== 'created')) throw new Error(JSON.stringify(results))
}

/** Purchases a second, the next one of each of `atOnce` begun when the one before is made. */
async function closedLoop(buy: () => Promise<void>, forSeconds: number): Promise<number> {
  let made = 0
  const started = performance.now()
  const end = started + forSeconds * 1_000
  const loop = async () => {
    for (; performance.now() < end; made++) await buy()
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  return (made * 1_000) / (performance.now() - started)
}

/** With hot accounts folded meanwhile, more often than the scheduled task does. */
async function whileUpkeep<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  const done = new AbortController()
  const upkeep = (async () => {
    while (!done.signal.aborted) {
      await foldHotAccounts(database)
      await delay(1_000, undefined, { signal: done.signal }).catch(() => {})
    }
  })()
  try {
    return await work()
  } finally {
    done.abort()
    await upkeep
  }
}

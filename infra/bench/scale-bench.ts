import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditLedger, auditMarket } from '@agentgym/registry/benchmarks'
import { startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'
import type { Figure } from './figure.ts'
import { agent, percentile } from './http-load.ts'
import { type Operation, operations } from './scale/operations.ts'
import { explainSlowest, planSettings } from './scale/plans.ts'
import { seedDatabase } from './scale/seed-database.ts'
import { openSide, type Side } from './scale/side.ts'

const sizes = {
  small: { packages: 1_000, downloads: 10_000, runs: 1_000, orders: 10_000, calls: 100_000 },
  large: { packages: 100_000, downloads: 1_000_000, runs: 100_000, orders: 1_000_000, calls: 10_000_000 },
}
/** How much longer an operation may take on the large database. */
const mostTimes = 2
const durable = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on']
const memory = ['shared_buffers=1GB', 'maintenance_work_mem=512MB', 'max_wal_size=8GB', 'checkpoint_timeout=30min']

type Options = { rounds: number; say: (line: string) => void }

/**
 * What users do, on a database of 100,000 packages, 1 M rows of downloads, 100,000 runs, 1 M orders and 10 M calls beside one of a
 * hundredth of it, on PostgreSQL that waits for the disk: in turn, so that a busy machine slows both. Prints the plan of the slowest
 * statement of each operation that takes more than twice as long. The auditors read everything, so they are measured in rows.
 */
export async function scaleBenchmark({ rounds, say }: Options): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-bench-scale-'))
  const postgresql = join(folder, 'postgresql')
  const sides: Side[] = []
  try {
    const url = await startPostgresql(postgresql, [...durable, ...memory, ...planSettings])
    const addresses: [Side['size'], string][] = []
    for (const size of ['small', 'large'] as const) {
      say(`scale: the ${size} database …`)
      addresses.push([size, await seedDatabase(url, size, sizes[size])])
    }
    for (const [size, address] of addresses) sides.push(await openSide(size, address, join(folder, `data-${size}`)))
    const measured = await measure(sides, rounds, say)
    const figures = measured.map(figureOf)
    for (const { operation, ratio } of measured)
      if (ratio > mostTimes) say(`\n${operation.what}: ${await planOf(operation, sides[1], join(postgresql, 'log'))}`)
    return [...figures, ...(await measureAudits(sides[1], say))]
  } finally {
    agent.destroy()
    for (const side of sides) await side.close()
    await stopPostgresql(postgresql)
    await rm(folder, { recursive: true, force: true })
  }
}

type Measured = { operation: Operation; small: number[]; large: number[]; ratio: number }

const warmUpRounds = 6

async function measure(sides: Side[], rounds: number, say: Options['say']): Promise<Measured[]> {
  const times = new Map(operations.map(({ id }) => [id, { small: [] as number[], large: [] as number[] }]))
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    if (round % 5 === 0) say(`scale: round ${round} of ${warmUpRounds + rounds} …`)
    for (const { id, perform } of operations)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const start = performance.now()
        await perform(side, round)
        if (round >= warmUpRounds) times.get(id)?.[side.size].push(performance.now() - start)
      }
  }
  return operations.map((operation) => {
    const { small = [], large = [] } = times.get(operation.id) ?? {}
    return { operation, small, large, ratio: percentile(large, 0.5) / percentile(small, 0.5) }
  })
}

function figureOf({ operation: { id, what }, small, large, ratio }: Measured): Figure {
  const text = (times: number[]) =>
    `${percentile(times, 0.5).toFixed(1)} ms (p95 ${percentile(times, 0.95).toFixed(1)})`
  return {
    ...{ id: `scale_${id}`, what: `${what}: ${text(small)} on the small, ${text(large)} on the large database` },
    ...{ value: ratio, unit: '×', bar: mostTimes, lower: true },
  }
}

async function planOf({ perform }: Operation, side: Side, log: string): Promise<string> {
  const plan = await explainSlowest(side.database, log, () => perform(side, warmUpRounds))
  return plan ?? 'no statement takes a millisecond'
}

async function measureAudits({ database }: Side, say: Options['say']): Promise<Figure[]> {
  const figures: Figure[] = []
  const audits = {
    ledger: { audit: auditLedger, table: 'ledger_transfers' },
    market: { audit: auditMarket, table: 'usage_events' },
  }
  for (const [name, { audit, table }] of Object.entries(audits)) {
    say(`scale: audit of the ${name} …`)
    const { rows } = await database.execute(`select count(*)::float8 as rows from ${table}`)
    const start = performance.now()
    const findings = await audit(database)
    const seconds = (performance.now() - start) / 1_000
    if (findings.length > 0) throw new Error(`the books are wrong: ${JSON.stringify(findings.slice(0, 5))}`)
    figures.push({
      ...{ id: `scale_audit_${name}`, what: `audit of the ${name}, ${seconds.toFixed(0)} s: rows of ${table}` },
      ...{ value: Number(rows[0].rows) / seconds, unit: 'rows/s', bar: null },
    })
  }
  return figures
}

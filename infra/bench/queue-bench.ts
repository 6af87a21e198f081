import { randomBytes, randomUUID } from 'node:crypto'
import { type Database, JobQueue } from '@agentgym/registry/benchmarks'
import { onBenchDatabase } from './bench-database.ts'
import type { Figure } from './figure.ts'
import { percentile } from './http-load.ts'

const accounts = 300
const jobs = 10_000
/** Workers that ask at once. */
const atOnce = 8
const seconds = 10

type Options = { embedded: boolean; say: (line: string) => void }

/**
 * Leases of jobs as the queue alone sees them, without HTTP: 10,000 checks of 300 accounts wait, and workers ask for the next
 * one as fast as they get it. On PostgreSQL that waits for the disk, or embedded; it shares the machine with this process.
 */
export function queueBenchmark({ embedded, say }: Options): Promise<Figure[]> {
  return onBenchDatabase(embedded, (database, engine) => measure(database, engine, say))
}

async function measure(database: Database, engine: string, say: Options['say']): Promise<Figure[]> {
  say(`queue: ${jobs} jobs of ${accounts} accounts, ${engine} …`)
  const owners = Array.from({ length: accounts }, () => randomUUID())
  const queue = new JobQueue(database, randomBytes(32))
  await database.transaction(async (query) => {
    for (let job = 0; job < jobs; job++)
      await queue.enqueue(query, 'check', randomUUID(), { account: owners[job % accounts] })
  })
  // As PostgreSQL does of its own within a minute: until then it plans for the empty tables that it found.
  await database.execute('analyze')
  say(`queue: ${atOnce} workers lease as fast as they can, for ${seconds} s …`)
  const times: number[] = []
  const start = performance.now()
  const end = start + seconds * 1_000
  const lease = async () => {
    while (performance.now() < end) {
      const asked = performance.now()
      if ((await queue.next('check', null)) === undefined) return
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lease))
  const rate = times.length / ((performance.now() - start) / 1_000)
  const suffix = engine.toLowerCase()
  const what = `leases of ${jobs.toLocaleString('en-US')} jobs of ${accounts} accounts, ${engine}`
  return [
    { id: `leases_per_second_${suffix}`, what, value: rate, unit: 'jobs/s', bar: null },
    {
      ...{ id: `lease_p95_ms_${suffix}`, what: `${what}, ${atOnce} at once, 95th percentile` },
      ...{ value: percentile(times, 0.95), unit: 'ms', bar: null, lower: true },
    },
  ]
}

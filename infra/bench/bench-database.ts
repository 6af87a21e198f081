import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '@agentgym/registry/benchmarks'
import { startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'

/** Measures on a new database that is removed afterwards: PostgreSQL that waits for the disk, or PGlite. */
export async function onBenchDatabase<Result>(
  embedded: boolean,
  measure: (database: Database, engine: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-bench-'))
  const postgresql = join(folder, 'postgresql')
  const durable = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on']
  try {
    const address = embedded ? { folder: join(folder, 'data') } : { url: await startPostgresql(postgresql, durable) }
    const database = await openDatabase(address)
    try {
      return await measure(database, embedded ? 'PGlite' : 'PostgreSQL')
    } finally {
      await database.close()
    }
  } finally {
    if (!embedded) await stopPostgresql(postgresql)
    await rm(folder, { recursive: true, force: true })
  }
}

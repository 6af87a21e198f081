import { createHash, randomFillSync } from 'node:crypto'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  backUp,
  type Database,
  loadPackages,
  openBackupFolder,
  openDatabase,
  openObjectStore,
  restore,
  syntheticPackages,
} from '@agentgym/registry/benchmarks'
import { startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'
import type { Figure } from './figure.ts'

const GIGABYTE = 2 ** 30
/** Of a package or a checkpoint, about. */
const objectBytes = 2 ** 20
/** An installation of 10 GB is to be back within 15 minutes. */
const wantedGigabytes = 10
const wantedMinutes = 15
/** Rows of the audit log are as large as those of the tables that grow most: orders, transfers, curves. */
const rowsAtOnce = 100_000

const packages = [...syntheticPackages(100, 1)]

type Options = { gigabytes: number; say: (line: string) => void }

/**
 * How long `agentgym admin backup` and `restore` take for an installation on PostgreSQL that waits for the disk: half of it rows
 * with their indexes, half objects in a folder. Random contents, which nothing compresses away.
 */
export async function backupBenchmark({ gigabytes, say }: Options): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-bench-backup-'))
  const postgresql = join(folder, 'postgresql')
  const durable = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'max_wal_size=4GB']
  try {
    const url = await startPostgresql(postgresql, [...durable, 'shared_buffers=512MB'])
    const database = await openDatabase({ url })
    const objects = { folder: join(folder, 'objects') }
    try {
      say(`backup: an installation of ${gigabytes} GB …`)
      const bytes = (gigabytes / 2) * GIGABYTE
      const rows = await fillDatabase(database, bytes)
      await fillObjects(database, objects.folder, bytes)
      const backups = await openBackupFolder(join(folder, 'backups'))
      say('backup: the first one, with all objects …')
      const installation = { address: { url }, database, objects: await openObjectStore(objects) }
      const backup = await seconds(() => backUp({ ...installation, atRest: async () => {} }, { to: backups }))
      const dumped = await stat(join(backups.title, backup.result.backup.name, 'database.dump'))
      say(
        `  ${gigabyteText(rows)} of tables and indexes, ${gigabyteText(dumped.size)} as a dump, ${backup.seconds.toFixed(1)} s`,
      )
      await database.execute('create database restored')
      const empty = url.replace('/postgres?', '/restored?')
      say('backup: restored into an empty database and folder …')
      const place = { database: { url: empty }, objects: { folder: join(folder, 'restored') } }
      const back = await seconds(() => restore(place, { from: backups }))
      if (back.result.missing.length > 0) throw new Error('the backup lacks objects')
      return figures((rows + bytes) / GIGABYTE, backup.seconds, back.seconds)
    } finally {
      await database.close()
    }
  } finally {
    await stopPostgresql(postgresql)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Resolves to the bytes that tables and indexes take. */
async function fillDatabase(database: Database, bytes: number): Promise<number> {
  await loadPackages(database, packages)
  for (;;) {
    const { rows } = await database.execute('select pg_database_size(current_database())::float8 as size')
    const size = Number(rows[0].size)
    if (size >= bytes) return size
    await database.execute(
      `insert into audit (actor_id, action, subject, ip, data)
       select gen_random_uuid(), 'session.end', 'account:' || n, '127.0.0.1',
         jsonb_build_object('a', gen_random_uuid(), 'b', gen_random_uuid(), 'c', random(), 'd', gen_random_uuid())
       from generate_series(1, ${rowsAtOnce}) as n`,
    )
  }
}

/** Objects of random bytes, which a row names each: a backup holds no others. */
async function fillObjects(database: Database, folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  const store = await openObjectStore({ folder })
  // Their objects are said to have the hashes of their names.
  for (const { name } of packages) await store.put(Buffer.from(name))
  const { rows } = await database.execute('select id from versions limit 1')
  const content = new Uint8Array(objectBytes)
  for (let made = 0; made < bytes; made += objectBytes) {
    await store.put(randomFillSync(content))
    const hash = createHash('sha256').update(content).digest('hex')
    await database.execute(`insert into readme_pictures (version_id, hash, type) values ($1, $2, 'image/png')`, [
      rows[0].id,
      hash,
    ])
  }
}

async function seconds<Result>(work: () => Promise<Result>): Promise<{ result: Result; seconds: number }> {
  const start = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - start) / 1_000 }
}

const gigabyteText = (bytes: number) => `${(bytes / GIGABYTE).toFixed(2)} GB`

function figures(gigabytes: number, backupSeconds: number, restoreSeconds: number): Figure[] {
  const size = `${gigabytes.toFixed(1)} GB, half of it objects`
  return [
    {
      ...{ id: 'backup_megabytes_per_second', what: `the first backup of ${size}`, unit: 'MB/s', bar: null },
      value: (gigabytes * 1_024) / backupSeconds,
    },
    {
      ...{ id: 'restore_megabytes_per_second', what: `a restore of ${size}`, unit: 'MB/s', bar: null },
      value: (gigabytes * 1_024) / restoreSeconds,
    },
    {
      ...{ id: 'restore_minutes_of_10_gigabytes', what: `a restore of ${wantedGigabytes} GB at that rate` },
      ...{ value: ((restoreSeconds / gigabytes) * wantedGigabytes) / 60, unit: 'min', bar: wantedMinutes, lower: true },
    },
  ]
}

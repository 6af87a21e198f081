import { openDatabase } from '@agentgym/registry/benchmarks'
import { type Scale, seedPackages, seedVersions } from './seed-catalog.ts'
import { seedBalances, seedCalls, seedOrders, seedPeople, seedRuns } from './seed-market.ts'

/** Hours, if it must be. */
const statementMs = 36_000_000
/** References are right by construction, and `seedBalances` adds up what transfers do; the auditors check both. */
const unchecked = ['session_replication_role=replica', 'synchronous_commit=off', 'work_mem=256MB']

/** Makes a database of that size on the server: the same rows each time, as the marketplace writes them. Resolves to its address. */
export async function seedDatabase(server: string, name: string, scale: Scale): Promise<string> {
  const address = server.replace('/postgres?', `/${name}?`)
  const root = await openDatabase({ url: server })
  await root.execute(`create database ${name}`)
  await root.close()
  const database = await openDatabase({ url: address, statementMs })
  await seedPackages(database, scale)
  // What takes hours on a new database, at a fifth of a core, and what reads objects that are not there.
  await database.execute(
    `insert into upkeep (task, next_at) select task, now() + interval '1 day'
      from unnest(array['catalog.refresh-quality', 'catalog.find-similar', 'operating.audit']) as task`,
  )
  await database.close()
  const options = unchecked.map((setting) => `-c ${setting}`).join(' ')
  const seeding = await openDatabase({ url: `${address}&options=${encodeURIComponent(options)}`, statementMs })
  for (const step of [seedVersions, seedPeople, seedRuns, seedOrders, seedCalls, seedBalances])
    await step(seeding, scale)
  await seeding.execute('vacuum analyze')
  await seeding.execute('checkpoint')
  await seeding.close()
  return address
}

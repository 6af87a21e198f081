import { randomBytes, randomUUID } from 'node:crypto'
import type { RunState } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database } from '../../../../core/database/database.ts'

type RunRow = {
  state?: RunState
  startedAt?: Date
  endedAt?: Date
}

/** A run's row, of an account and a scenario of its own, as if everything had been done to it by the rules. Gives its id. */
export async function insertRun(database: Database, { state = 'queued', startedAt, endedAt }: RunRow = {}) {
  const name = `u${randomBytes(6).toString('hex')}`
  const [account, scenario, version, run] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const hash = randomBytes(32).toString('hex')
  const key = `sha256/${hash}`
  await database.transaction(async (query) => {
    await sql`insert into accounts (id, kind, username, username_canonical) values (${account}, 'user', ${name}, ${name})`.execute(
      query,
    )
    await sql`insert into packages (id, name, name_canonical, owner_id, kind)
      values (${scenario}, ${`@${name}/maze`}, ${`@${name}/maze`}, ${account}, 'scenario')`.execute(query)
    await sql`insert into versions (id, package_id, version, state, manifest, readme, integrity, shasum, object_key, size,
        unpacked_size, file_count, bundle_hash, published_by, intended_tag, published_at)
      values (${version}, ${scenario}, '1.0.0', 'published', '{}', '', ${`sha512-${'A'.repeat(86)}==`}, ${'0'.repeat(40)},
        ${key}, 1, 1, 1, ${hash}, ${account}, 'latest', now())`.execute(query)
    await sql`insert into training_runs (id, owner_id, created_by, scenario_version_id, algorithm, settings, seed, request_hash,
        state, started_at, ended_at, agent_object_key)
      values (${run}, ${account}, ${account}, ${version}, 'ppo', '{}', 1, ${hash}, ${state}, ${startedAt ?? null},
        ${endedAt ?? null}, ${state === 'completed' ? key : null})`.execute(query)
  })
  return run
}

import type { runListRequestSchema, runListSchema } from '@agentgym/contract'
import type { z } from 'zod'
import { type Actor, authorise, requireActor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Services } from '../../core/services.ts'
import { findablePackageName } from '../packages/index.ts'
import { findOwner } from './run-access.ts'
import { listRuns, runOf } from './runs.store.ts'

/** One page of the runs of an account, or of all that somebody belongs to. Throws `account_not_found`, `forbidden`. */
export async function listRunsOf(
  { database, config }: Services,
  actor: Actor | null,
  { cursor, limit, ...filter }: z.output<typeof runListRequestSchema>,
): Promise<z.infer<typeof runListSchema>> {
  const known = requireActor(actor, 'training:view')
  const { query } = database
  const owners = await ownersOf(query, known, filter.account)
  const asked = JSON.stringify(['runs', Object.entries(filter).sort()])
  const scenario = filter.scenario === undefined ? undefined : findablePackageName(filter.scenario)
  if (scenario === null) return { runs: [], next_cursor: null }
  const { rows, next_cursor } = await readPage(
    { secret: config.secret, asked, cursor, limit, endOf: endByCreation },
    (range) => listRuns(query, { owners, state: filter.state, scenario, ...range }),
  )
  return {
    runs: rows.map((row) => runOf(row, config)),
    next_cursor,
  }
}

async function ownersOf(query: Queries, actor: Actor, account: string | undefined): Promise<string[]> {
  if (account !== undefined) {
    const { id } = await findOwner(query, actor, account)
    await authorise(query, actor, 'read', id, { scope: 'training:view' })
    return [id]
  }
  const memberships = await query
    .selectFrom('memberships')
    .select('organisation_id')
    .where('user_id', '=', actor.accountId)
    .execute()
  return [actor.accountId, ...memberships.map(({ organisation_id }) => organisation_id)]
}

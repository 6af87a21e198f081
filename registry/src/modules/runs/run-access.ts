import { AgentGymError, type runListRequestSchema, type runListSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor, Scope } from '../../core/access/authorize.ts'
import { authorize, requireActor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Services } from '../../core/services.ts'
import { requestedAccount } from '../accounts/index.ts'
import { findablePackageName } from '../packages/index.ts'
import { findRunFor, listRuns, type RunView, runOf } from './runs.store.ts'

/** A run, for members of its account in any role. Throws the same `run_not_found` for every reason. */
export async function requireRun(
  query: Queries,
  actor: Actor | null,
  id: string,
  scope: Scope = 'training:view',
): Promise<{ run: RunView; actor: Actor }> {
  const known = requireActor(actor, scope)
  const found = await findRunFor(query, known, id)
  if (found === undefined || found.role === null) throw runNotFound(id)
  return { run: found, actor: known }
}

/**
 * The same for callers who may change it: role member or higher. Pass the transaction of the change: a removed
 * membership then takes effect immediately, and a valid one cannot be removed before the change commits. Does not lock
 * the run.
 */
export async function requireOwnRun(
  query: Queries,
  actor: Actor | null,
  id: string,
  scope: Scope,
): Promise<{ run: RunView; actor: Actor }> {
  const found = await requireRun(query, actor, id, scope)
  await authorize(query, found.actor, 'publish', found.run.owner_id, { scope })
  return found
}

/** The account that a run is for: the caller's own, or an organization. Throws `account_not_found`. */
export function findOwner(
  query: Queries,
  actor: Actor,
  account: string | undefined,
): Promise<{ id: string; username: string }> {
  return requestedAccount(query, actor, account, 'Omit the account to run for yourself.')
}

export function runNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'run_not_found',
    message: `Run ${id} does not exist, or you have no access to it.`,
    hint: '`agentgym runs list` shows your runs.',
    data: { id },
  })
}

/** One page of the runs of an account, or of all the user's accounts. Throws `account_not_found`, `forbidden`. */
export async function listRunsOf(
  { database, config }: Services,
  actor: Actor | null,
  { cursor, limit, ...filter }: z.output<typeof runListRequestSchema>,
): Promise<z.infer<typeof runListSchema>> {
  const known = requireActor(actor, 'training:view')
  const { query } = database
  const owners = await ownersOf(query, known, filter.account)
  const listKey = JSON.stringify(['runs', Object.entries(filter).sort()])
  const scenario = filter.scenario === undefined ? undefined : findablePackageName(filter.scenario)
  if (scenario === null) return { runs: [], next_cursor: null }
  const { rows, next_cursor } = await readPage(
    { secret: config.secret, listKey, cursor, limit, endOf: endByCreation },
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
    await authorize(query, actor, 'read', id, { scope: 'training:view' })
    return [id]
  }
  const memberships = await query
    .selectFrom('memberships')
    .select('organisation_id')
    .where('user_id', '=', actor.accountId)
    .execute()
  return [actor.accountId, ...memberships.map(({ organisation_id }) => organisation_id)]
}

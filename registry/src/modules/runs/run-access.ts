import { AgentGymError } from '@agentgym/contract'
import { type Actor, authorise, requireActor, type Scope } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import { accountAskedFor } from '../accounts/index.ts'
import { findRunFor, type RunView } from './runs.store.ts'

/** A run, for those who belong to its account, whatever their role. Throws `run_not_found`, the same whatever the reason. */
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
 * The same for those who may change it: members. Give it the transaction of the change: a membership that was taken away
 * counts, and one that holds cannot go before the change is done. Locks nothing of the run.
 */
export async function requireOwnRun(
  query: Queries,
  actor: Actor | null,
  id: string,
  scope: Scope,
): Promise<{ run: RunView; actor: Actor }> {
  const found = await requireRun(query, actor, id, scope)
  await authorise(query, found.actor, 'publish', found.run.owner_id, { scope })
  return found
}

/** The account that a run is for: whoever asks, or an organisation. Throws `account_not_found`. */
export function findOwner(
  query: Queries,
  actor: Actor,
  asked: string | undefined,
): Promise<{ id: string; username: string }> {
  return accountAskedFor(query, actor, asked, 'Leave the account out to run for yourself.')
}

function runNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'run_not_found',
    message: `There is no run ${id}, or it is not yours.`,
    hint: '`agentgym runs list` shows those that are.',
    data: { id },
  })
}

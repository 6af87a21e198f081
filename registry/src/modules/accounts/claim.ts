import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { hashSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { isFirstAccount } from './accounts.store.ts'

/*
 * How an installation gets its first operator: the first account of a local server, an account with the set-up secret,
 * or `agentgym operator add`. An installation can be claimed only once.
 */

const claimed = 'operator_claimed'

/** Whether the installation has or had an operator. */
export async function isClaimed(query: Queries): Promise<boolean> {
  const row = await query.selectFrom('installation').select('name').where('name', '=', claimed).executeTakeFirst()
  return row !== undefined
}

/** Records that the installation has an operator; false if it already had one. Locks until the transaction ends. */
export async function claim(query: Transaction<Schema>): Promise<boolean> {
  const row = await query
    .insertInto('installation')
    .values({ name: claimed, value: new Date().toISOString() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Whether the new account becomes the operator: the first account of a local server, created from the same machine.
 * `local`: whether the request comes from this machine.
 */
export async function claimByFirstAccount(
  { database, config }: Pick<Services, 'database' | 'config'>,
  query: Transaction<Schema>,
  { local }: { local: boolean },
): Promise<boolean> {
  if (!local || !config.local) return false
  return (await isFirstAccount(database, query)) && (await claim(query))
}

/** The set-up secret of an installation without an operator: the setting, or a value that all replicas derive. */
export function setupSecret({ secret, setupSecret: chosen }: Pick<ServerConfig, 'secret' | 'setupSecret'>): string {
  return chosen ?? `ags_${createHmac('sha256', secret).update('set-up secret').digest('base64url').slice(0, 32)}`
}

/** Makes the caller the operator, with the set-up secret, once. Throws `credentials_invalid`, `forbidden`. */
export async function claimBySecret(
  { database, config }: Services,
  actor: Actor,
  { secret, ip }: { secret: string; ip: string },
): Promise<void> {
  if (await isClaimed(database.query)) throw alreadyClaimed()
  const [given, expected] = [secret, setupSecret(config)].map((text) => Buffer.from(hashSecret(text)))
  if (!timingSafeEqual(given, expected))
    throw new AgentGymError({
      code: 'credentials_invalid',
      message: 'The set-up secret is wrong.',
      hint: 'It is AGENTGYM_SETUP_SECRET, or the secret that the server printed when it started.',
    })
  await database.transaction(async (query) => {
    if (!(await claim(query))) throw alreadyClaimed()
    await query.updateTable('accounts').set({ operator: true }).where('id', '=', actor.accountId).execute()
    await recordAudit(query, { actor, action: 'operator.claim', subject: `account:${actor.username}`, ip })
  })
}

function alreadyClaimed(): AgentGymError {
  return new AgentGymError({
    code: 'forbidden',
    message: 'This server has an operator already.',
    hint: 'Ask an operator to add you, or run `agentgym operator add NAME` on the server.',
  })
}

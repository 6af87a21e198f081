import { AgentGymError, type NewSecurityKey, type SecurityKey } from '@agentgym/contract'
import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server'
import type { Selectable } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireSession } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { SecurityKeyTable } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { hasSecondFactor } from './second-factor.ts'
import { notify, requireEnabled } from './second-factor-setup.ts'
import { algorithms, keyInvalid, makeChallenge, relyingParty, requireRelyingParty, takeChallenge } from './webauthn.ts'

export type StoredKey = Selectable<SecurityKeyTable>

const mostKeys = 20

export function keysOf(query: Queries, accountId: string): Promise<StoredKey[]> {
  return query
    .selectFrom('security_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** The caller's keys. `available`: whether browsers support WebAuthn at this server's address. */
export async function listSecurityKeys(
  { database, config }: Services,
  actor: Actor,
): Promise<{ available: boolean; security_keys: SecurityKey[] }> {
  const keys = await keysOf(database.query, actor.accountId)
  return { available: relyingParty(config) !== null, security_keys: keys.map(shown) }
}

function shown({ id, name, synced, created_at, last_used_at }: StoredKey): SecurityKey {
  const last = last_used_at?.toISOString() ?? null
  return { id, name, synced, created_at: created_at.toISOString(), last_used_at: last }
}

/**
 * Options for the browser to create a credential. Throws `forbidden`, and `second_factor_conflict` without an
 * authenticator app, which is required so that recovery codes and logins without scripts remain possible.
 */
export async function beginSecurityKey(
  { database, config }: Services,
  caller: Actor,
): Promise<Record<string, unknown>> {
  const { accountId, username, sessionId } = requireSession(caller)
  const party = requireRelyingParty(config)
  const { query } = database
  if (!(await hasSecondFactor(query, accountId))) throw appMissing()
  const keys = await keysOf(query, accountId)
  if (keys.length >= mostKeys) throw tooManyKeys()
  const options = await generateRegistrationOptions({
    ...{ rpName: 'AgentGym', rpID: party.id, userName: username, userDisplayName: username },
    userID: new Uint8Array(Buffer.from(accountId.replaceAll('-', ''), 'hex')),
    challenge: await makeChallenge(query, sessionId ?? '', 'add'),
    attestationType: 'none',
    excludeCredentials: keys.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
    timeout: 120_000,
  })
  return { ...options }
}

/**
 * Adds the key that signed the session's challenge. Throws `forbidden`, `second_factor_invalid`,
 * `second_factor_conflict`.
 */
export async function addSecurityKey(
  services: Services,
  caller: Actor,
  { name, credential, ip }: NewSecurityKey & { ip: string },
): Promise<SecurityKey> {
  const { database, config } = services
  const actor = requireSession(caller)
  const { accountId, username } = actor
  const party = requireRelyingParty(config)
  const challenge = await takeChallenge(database.query, actor.sessionId ?? '', 'add')
  if (challenge === undefined) throw keyInvalid()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: credential,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => ({ verified: false as const, registrationInfo: undefined }))
  if (!verified || registrationInfo === undefined) throw keyInvalid()
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential
  const key = await database.transaction(async (query) => {
    // Locks the factor, so that it is not removed meanwhile and keys are added one at a time.
    await requireEnabled(query, accountId)
    if ((await keysOf(query, accountId)).length >= mostKeys) throw tooManyKeys()
    const added = await query
      .insertInto('security_keys')
      .values({
        ...{ account_id: accountId, credential_id: id, public_key: Buffer.from(publicKey).toString('base64url') },
        ...{ signatures: counter, transports: JSON.stringify(transports), name },
        ...{ synced: registrationInfo.credentialBackedUp, last_used_at: null },
      })
      .onConflict((conflict) => conflict.column('credential_id').doNothing())
      .returningAll()
      .executeTakeFirst()
    if (added === undefined)
      throw new AgentGymError({ code: 'second_factor_conflict', message: 'This security key is already registered.' })
    const data = { key: added.id, name }
    await recordAudit(query, { actor, action: 'security-key.add', subject: `account:${username}`, ip, data })
    return added
  })
  notify(services, accountId, 'A security key was added to your AgentGym account', [
    `the key "${name}" can now be used instead of codes from your authenticator app.`,
    'If this was not you, remove it at Settings, Security, and change your password.',
  ])
  return shown(key)
}

/** Removes one of the caller's keys, if it exists. Throws `forbidden`. */
export async function removeSecurityKey(
  services: Services,
  caller: Actor,
  { id, ip }: { id: string; ip: string },
): Promise<void> {
  const actor = requireSession(caller)
  const { accountId, username } = actor
  const removed = await services.database.transaction(async (query) => {
    const row = await query
      .deleteFrom('security_keys')
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .returning('name')
      .executeTakeFirst()
    if (row === undefined) return undefined
    const data = { key: id, name: row.name }
    await recordAudit(query, { actor, action: 'security-key.remove', subject: `account:${username}`, ip, data })
    return row.name
  })
  if (removed === undefined) return
  notify(services, accountId, 'A security key was removed from your AgentGym account', [
    `the key "${removed}" is no longer accepted.`,
    'If this was not you, change your password.',
  ])
}

function appMissing(): AgentGymError {
  return new AgentGymError({
    code: 'second_factor_conflict',
    message: 'Security keys require an authenticator app.',
    hint: 'Set up the app first. This also creates recovery codes.',
  })
}

function tooManyKeys(): AgentGymError {
  const message = `An account can have ${mostKeys} security keys.`
  return new AgentGymError({ code: 'second_factor_conflict', message, hint: 'Remove one first.' })
}

import type { SecurityKeyAnswer } from '@agentgym/contract'
import { AgentGymError } from '@agentgym/contract'
import { generateAuthenticationOptions, verifyAuthenticationResponse } from '@simplewebauthn/server'
import { recordAudit } from '../../core/access/audit.ts'
import { limitRate, refundRate } from '../../core/access/rate-limit.ts'
import type { Services } from '../../core/services.ts'
import { notify } from './second-factor-setup.ts'
import { keysOf, type StoredKey } from './security-keys.ts'
import { luciaSessions } from './sessions.ts'
import { type Confirming, confirmBrowser } from './start-session.ts'
import { keyInvalid, makeChallenge, requireRelyingParty, takeChallenge } from './webauthn.ts'

const attempts = { limit: 30, windowSeconds: 15 * 60 }

/**
 * The methods that can confirm the browser's session, including one that awaits its second factor. Undefined without a
 * session.
 */
export async function factorOfBrowser(
  { database, config }: Services,
  cookieHeader: string,
): Promise<{ awaits_code: boolean; security_key: boolean } | undefined> {
  const found = await luciaSessions(database.query, config).find(cookieHeader)
  if (found === null) return undefined
  const keys = await keysOf(database.query, found.userId)
  return { awaits_code: found.awaitsCode, security_key: keys.length > 0 }
}

/** The challenge for the keys of the session's account. Undefined without a session. Throws `second_factor_conflict`. */
export async function askForKey(
  { database, config }: Services,
  cookieHeader: string,
): Promise<Record<string, unknown> | undefined> {
  const { query } = database
  const found = await luciaSessions(query, config).find(cookieHeader)
  if (found === null) return undefined
  const party = requireRelyingParty(config)
  const keys = await keysOf(query, found.userId)
  if (keys.length === 0)
    throw new AgentGymError({
      code: 'second_factor_conflict',
      message: 'The account has no security key.',
      hint: 'Enter a code from your app.',
    })
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: await makeChallenge(query, found.sessionId, 'confirm'),
    allowCredentials: keys.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    userVerification: 'required',
    timeout: 120_000,
  })
  return { ...options }
}

type Answered = { cookieHeader: string; credential: SecurityKeyAnswer; ip: string }

/**
 * Confirms the browser's session with a key, like `enterCode` with a code. Undefined if there is no session. Throws
 * `second_factor_invalid`, `second_factor_required`, `rate_limited`.
 */
export async function enterKey(
  services: Services,
  { cookieHeader, credential, ip }: Answered,
): Promise<{ username: string; cookie: string } | undefined> {
  const confirming = { cookieHeader, ip, by: 'security_key' as const }
  return confirmBrowser(services, confirming, (session) => useKey(services, session, { credential, ip }))
}

async function useKey(
  services: Services,
  { account, sessionId }: Confirming,
  { credential, ip }: Omit<Answered, 'cookieHeader'>,
): Promise<void> {
  const { database } = services
  const limited = `security-key:${account.id}`
  await limitRate(database, limited, attempts)
  const challenge = await takeChallenge(database.query, sessionId, 'confirm')
  // Only keys of this account: another user's key counts as unknown.
  const key = (await keysOf(database.query, account.id)).find(({ credential_id }) => credential_id === credential.id)
  const counted = challenge && key ? await verifiedCount(services, key, { challenge, credential }) : undefined
  if (key === undefined || counted === undefined) {
    await refuse(services, account.username, ip, { reason: 'invalid' })
    throw keyInvalid()
  }
  if (!(await countUse(services, key, counted))) {
    await refuse(services, account.username, ip, { reason: 'counter', key: key.id, name: key.name })
    warnOfCopy(services, account.id, key, counted)
    throw keyInvalid()
  }
  await refundRate(database, limited, attempts)
}

/** The key's signature counter; undefined if the response is invalid. */
async function verifiedCount(
  { config }: Services,
  { credential_id, public_key }: StoredKey,
  { challenge, credential }: { challenge: string; credential: SecurityKeyAnswer },
): Promise<number | undefined> {
  const party = requireRelyingParty(config)
  const publicKey = new Uint8Array(Buffer.from(public_key, 'base64url'))
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: credential,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      // `countUse` compares the counts, in the database.
      credential: { id: credential_id, publicKey, counter: 0 },
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    // The library throws for every mismatch.
    return undefined
  }
}

/** False if the counter does not increase: another device has the same secret, or the response is an old one. */
async function countUse({ database }: Services, { id }: StoredKey, count: number): Promise<boolean> {
  const row = await database.query
    .updateTable('security_keys')
    .set({ signatures: count, last_used_at: new Date() })
    .where('id', '=', id)
    .where((where) =>
      where.or([where('signatures', '<', count), where.and([where('signatures', '=', 0), where.val(count === 0)])]),
    )
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

async function refuse({ database }: Services, username: string, ip: string, data: Record<string, unknown>) {
  const subject = `account:${username}`
  await recordAudit(database.query, { actor: null, action: 'security-key.refuse', subject, ip, data })
}

function warnOfCopy(services: Services, accountId: string, key: StoredKey, count: number): void {
  services.log.warn('the signature counter of a security key went backwards: it may have been copied', {
    ...{ account_id: accountId, key_id: key.id, signatures: key.signatures, reported: count },
  })
  notify(services, accountId, 'A security key of your AgentGym account may have been copied', [
    `the key "${key.name}" was refused because its signature counter went backwards.`,
    'Remove it at Settings, Security, and change your password if you did not just use it.',
  ])
}

import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { ServerConfig } from '../../core/services.ts'

/** The server as WebAuthn's relying party. */
export type RelyingParty = { id: string; origin: string }

/** EdDSA, ES256 and RS256: every key and browser supports one of them. */
export const algorithms = [-8, -7, -257]

/** Time to find the key and touch it. */
const challengeMs = 5 * 60_000

/** Derived from AGENTGYM_PUBLIC_URL; null for an IP address or without TLS, where browsers do not support WebAuthn. */
export function relyingParty({ publicUrl }: Pick<ServerConfig, 'publicUrl'>): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(publicUrl)
  const secure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return secure && isIP(hostname.replace(/[[\]]/g, '')) === 0 ? { id: hostname, origin } : null
}

/** Like `relyingParty`, but throws `second_factor_conflict` instead of returning null. */
export function requireRelyingParty(config: Pick<ServerConfig, 'publicUrl'>): RelyingParty {
  const party = relyingParty(config)
  if (party !== null) return party
  throw new AgentGymError({
    code: 'second_factor_conflict',
    message: `Browsers do not support security keys at ${config.publicUrl}.`,
    hint: 'Security keys require https and a host name. Ask the operator to set AGENTGYM_PUBLIC_URL.',
  })
}

type Purpose = 'add' | 'confirm'

/** Creates the session's challenge and replaces an earlier one. */
export async function makeChallenge(query: Queries, sessionId: string, purpose: Purpose): Promise<Buffer<ArrayBuffer>> {
  const challenge = Buffer.from(new Uint8Array(randomBytes(32)).buffer)
  const values = { challenge: challenge.toString('base64url'), expires_at: new Date(Date.now() + challengeMs) }
  await query
    .insertInto('key_challenges')
    .values({ session_id: sessionId, purpose, ...values })
    .onConflict((conflict) => conflict.columns(['session_id', 'purpose']).doUpdateSet(values))
    .execute()
  return challenge
}

/**
 * Consumes the session's challenge, whatever the outcome: call it outside the transaction of the rest. Undefined if
 * there is none, or it has expired.
 */
export async function takeChallenge(query: Queries, sessionId: string, purpose: Purpose): Promise<string | undefined> {
  const row = await query
    .deleteFrom('key_challenges')
    .where('session_id', '=', sessionId)
    .where('purpose', '=', purpose)
    .returning(['challenge', sql<boolean>`expires_at > now()`.as('valid')])
    .executeTakeFirst()
  return row?.valid === true ? row.challenge : undefined
}

/** The same error for every reason, which would only help an attacker. */
export function keyInvalid(): AgentGymError {
  return new AgentGymError({
    code: 'second_factor_invalid',
    message: 'The security key was not accepted.',
    hint: 'Try again with a key of this account, or enter a code from your app.',
  })
}

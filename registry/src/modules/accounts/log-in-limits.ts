import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { countRate, limitRate, type RateLimit, refundRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { findableEmail, findableUsername } from './account-name.ts'

/*
 * Limits of failed logins. Failed attempts must not lock out an account's owner: they are refused per network, and
 * attempts for one name from anywhere are only slowed down. A device that has logged in to the account before has its
 * own counter, separate from its network's.
 */

const window = { windowSeconds: 15 * 60 }
const perAccountAndNetwork: RateLimit = { limit: 10, ...window }
const perNetwork: RateLimit = { limit: 60, ...window }
const perDevice: RateLimit = { limit: 10, ...window }

/** Number of failed attempts for one name before slowing down. */
const unhurried = 20
const slowestMs = 5_000

/** Delay of the next attempt for a name after that many in the window: half a second more for every ten. */
export function slowDownMs(attempts: number): number {
  return Math.min(slowestMs, Math.max(0, Math.ceil((attempts - unhurried) / 10)) * 500)
}

type Attempt = { username: string; ip: string; cookieHeader: string; accountId: string | undefined }

/**
 * Counts an attempt, and waits if there were many. Resolves to a function that undoes the count after a success. Throws
 * `rate_limited`, for existing and unknown names alike.
 */
export async function limitLogIn(
  { database, config }: Pick<Services, 'database' | 'config'>,
  { username, ip, cookieHeader, accountId }: Attempt,
): Promise<() => Promise<void>> {
  const device = accountId === undefined ? null : knownDevice(cookieHeader, accountId, config)
  // All impossible names share one counter: they never succeed, and may contain characters that the database can't
  // store. A username and its email address have separate counters: a shared one would reveal that they belong
  // together.
  const name = findableUsername(username) ?? findableEmail(username) ?? '?'
  const network = clientNetwork(ip)
  const limits: [key: string, limit: RateLimit][] =
    device === null
      ? [
          [`log-in:${network}`, perNetwork],
          [`log-in:${name}:${network}`, perAccountAndNetwork],
        ]
      : [[`log-in:device:${device}`, perDevice]]
  for (const [key, limit] of limits) await limitRate(database, key, limit)
  const everywhere = `log-in:${name}`
  if (device === null) {
    const { count } = await countRate(database, everywhere, window)
    const waitMs = slowDownMs(count)
    if (waitMs > 0) await sleep(waitMs)
  }
  return async () => {
    for (const [key, limit] of limits) await refundRate(database, key, limit)
    if (device === null) await refundRate(database, everywhere, window)
  }
}

/**
 * Bound to one account, so that it does not bypass the limits of others. Not readable by scripts or other sites, and
 * not stored in the database.
 */
export function deviceCookie(cookieHeader: string, accountId: string, config: ServerConfig): string {
  const id = knownDevice(cookieHeader, accountId, config) ?? randomBytes(16).toString('base64url')
  const value = `${id}.${proofOf(id, accountId, config)}`
  return `${deviceCookieName(config)}=${value}; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000${config.secure ? '; Secure' : ''}`
}

/** Also used by the site, which forwards the cookie. */
function deviceCookieName({ secure }: Pick<ServerConfig, 'secure'>): string {
  return secure ? '__Host-agentgym_device' : 'agentgym_device'
}

/** The device's ID, if it has logged in to that account before. */
function knownDevice(cookieHeader: string, accountId: string, config: ServerConfig): string | null {
  for (const cookie of cookieHeader.split(';')) {
    const [name, value = ''] = cookie.trim().split('=')
    const match = /^([\w-]{22})\.([\w-]{43})$/.exec(value)
    if (name !== deviceCookieName(config) || match === null) continue
    const [, id, proof] = match
    if (timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(id, accountId, config)))) return id
  }
  return null
}

function proofOf(id: string, accountId: string, { secret }: ServerConfig): string {
  return createHmac('sha256', secret).update(`device of ${accountId}\n${id}`).digest('base64url')
}

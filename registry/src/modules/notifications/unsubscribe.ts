import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import type { Services } from '../../core/services.ts'
import { readSettings, requiredTopics, writeSetting } from './notifications.store.ts'

/** Topics that no longer exist are ignored. */
type Subscription = { accountId: string; topics: string[] }

const payloadSchema = z.tuple([z.uuid(), z.array(z.string()).min(1)])

/**
 * A token that turns off email about these topics, and does nothing else: for links in mail, which work without a
 * login. It does not expire, because mail does not either.
 */
export function unsubscribeToken(secret: Uint8Array, { accountId, topics }: Subscription): string {
  const payload = Buffer.from(JSON.stringify([accountId, topics])).toString('base64url')
  return `${payload}.${sign(secret, payload).toString('base64url')}`
}

/** Throws `link_invalid` for a token that this installation has not made. */
export function readUnsubscribeToken(secret: Uint8Array, token: string): Subscription {
  const [payload, signature, ...rest] = token.split('.')
  const given = Buffer.from(signature ?? '', 'base64url')
  const expected = sign(secret, payload)
  if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) throw linkInvalid()
  const [accountId, topics] = payloadSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  return { accountId, topics }
}

/** Turns off email about the token's topics. Repeating it changes nothing. Throws `link_invalid`. */
export async function unsubscribe(
  { database, config }: Pick<Services, 'database' | 'config'>,
  { token, ip }: { token: string; ip: string },
): Promise<void> {
  const { accountId, topics } = readUnsubscribeToken(config.secret, token)
  await database.transaction(async (query) => {
    const account = await query
      .selectFrom('accounts')
      .select('username')
      .where('id', '=', accountId)
      .forShare()
      .executeTakeFirst()
    if (account === undefined) throw linkInvalid()
    const { settings } = await readSettings(query, accountId)
    for (const { topic, site, email } of settings) {
      if (!email || !topics.includes(topic) || requiredTopics.has(topic)) continue
      await writeSetting(query, { accountId, topic }, { site, email: false })
      await recordAudit(query, {
        ...{ actor: null, ip, action: 'notification.unsubscribe' },
        ...{ subject: `account:${account.username}`, data: { topic } },
      })
    }
  })
}

function sign(secret: Uint8Array, payload: string): Buffer {
  return createHmac('sha256', secret).update(`unsubscribe\n${payload}`).digest()
}

function linkInvalid(): AgentGymError {
  return new AgentGymError({
    code: 'link_invalid',
    message: 'The unsubscribe link is incomplete or was changed.',
    hint: 'Open the link in the email again, or change your settings at /settings/notifications.',
  })
}

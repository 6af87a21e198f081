import type { moderationSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor } from '../../core/access/actor.ts'
import { authorise, requireActor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import { findReadablePackage } from '../packages/packages.store.ts'

type Moderation = z.infer<typeof moderationSchema>

/** What was done to a package; who reported it and why is the operators' to know. */
const shownActions = ['package.take_down', 'package.restore', 'package.appeal', 'package.appeal_dismiss']

/** For members of the account that owns the package, and for operators. Throws `package_not_found`, `forbidden`. */
export async function showModeration(query: Queries, actor: Actor | null, name: string): Promise<Moderation> {
  const scope = 'packages:read'
  const known = requireActor(actor, scope)
  const found = await findReadablePackage(query, known, name)
  if (!known.operator) await authorise(query, known, 'read', found.owner_id, { scope })
  return moderationOf(query, found)
}

export async function moderationOf(query: Queries, { id, name }: { id: string; name: string }): Promise<Moderation> {
  const { taken_down_at: at, taken_down_reason: reason } = await query
    .selectFrom('packages')
    .select(['taken_down_at', 'taken_down_reason'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const entries = await query
    .selectFrom('audit')
    .leftJoin('accounts', 'accounts.id', 'audit.actor_id')
    .select(['audit.at', 'audit.action', 'accounts.username', 'audit.data'])
    .where('audit.subject', '=', name)
    .where('audit.action', 'in', shownActions)
    .orderBy('audit.id')
    .execute()
  return {
    package: name,
    taken_down: at === null ? null : { at: at.toISOString(), reason: reason ?? '' },
    trail: entries.map(({ at: when, action, username, data }) => ({
      at: when.toISOString(),
      action,
      by: username ?? 'agentgym',
      reason: typeof data.reason === 'string' ? data.reason : '',
    })),
  }
}

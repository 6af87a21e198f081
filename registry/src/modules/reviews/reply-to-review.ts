import assert from 'node:assert'
import type { Review } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'
import { recordAudit } from '../../core/access/audit.ts'
import { authorise, requireActor } from '../../core/access/authorise.ts'
import type { Services } from '../../core/services.ts'
import { findReadableReview, findReview, reviewOf } from './reviews.store.ts'

const scope = 'market:sell'

/** Answers a review for the seller, or takes the answer back (null). Throws `review_not_found`, `forbidden`. */
export async function replyToReview(
  { database }: Services,
  { actor, id, text, ip }: { actor: Actor | null; id: string; text: string | null; ip: string },
): Promise<Review> {
  const known = requireActor(actor, scope)
  return database.transaction(async (query) => {
    const { review, found } = await findReadableReview(query, known, id)
    await authorise(query, known, 'manage', found.owner_id, { scope })
    const reply =
      text === null
        ? { reply: null, reply_by: null, replied_at: null }
        : { reply: text, reply_by: known.accountId, replied_at: sql<Date>`now()` }
    await query.updateTable('reviews').set(reply).where('id', '=', id).where('deleted_at', 'is', null).execute()
    await recordAudit(query, {
      ...{ actor: known, ip, action: text === null ? 'review.unreply' : 'review.reply' },
      ...{ subject: `${review.package}@${review.version}`, data: { review: id } },
    })
    const written = await findReview(query, id)
    assert(written !== undefined)
    return reviewOf(written)
  })
}

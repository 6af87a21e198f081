import { randomUUID } from 'node:crypto'
import { AgentGymError, type RentalList, type ReservedRental, type ReserveRentalRequest } from '@agentgym/contract'
import { sql } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Services } from '../../core/services.ts'
import { boundToParent, createToken, requireUncapped, revokeToken } from '../accounts/index.ts'
import { rentalState, workerNameOf } from './rentals.store.ts'

/** Its worker ends at its time and releases its run within a minute. */
const tokenGraceMs = 2 * 60_000

type By = { actor: Actor; ip: string | null }
type RentalServices = Pick<Services, 'database' | 'queue'>

/**
 * Records that a machine will be rented, with a token for its worker, if the queue needs one and the limits allow it. Only the
 * caller that gets it asks a provider for it, so no machine is started twice; and what is recorded counts toward the limits
 * until it has ended, so no two callers exceed them together.
 */
export async function reserveRental(
  { database, queue }: RentalServices,
  { actor, ip }: By,
  request: ReserveRentalRequest,
): Promise<ReservedRental> {
  return database.transaction(async (query) => {
    await database.lock(query, 'rentals')
    const { seconds, refused } = granted(await rentalState(query, queue, request.wait_seconds), request)
    if (refused !== null) return { rental: null, refused }
    const id = randomUUID()
    const worker = workerNameOf(id)
    await requireUncapped(query, actor)
    const token = await createToken(query, {
      ...(await boundToParent(query, actor.tokenId, {
        ...{ accountId: actor.accountId, name: worker, scopes: ['worker'] as const },
        ...{
          expiresAt: new Date(Date.now() + seconds * 1_000 + tokenGraceMs),
          worker: { kinds: ['train'] as const, name: worker },
        },
      })),
      ...{ parentId: actor.tokenId, confirmed: actor.factorConfirmed },
    })
    const { provider, gpu, memory_bytes, cents_per_hour } = request
    // By the clock of `created_at`, so that it costs what was granted.
    const ends_at = sql<Date>`now() + ${seconds}::int * interval '1 second'`
    await query
      .insertInto('rentals')
      .values({ id, token_id: token.id, provider, gpu, memory_bytes, cents_per_hour, ends_at })
      .execute()
    const data = { provider, gpu, cents_per_hour, max_seconds: seconds }
    await recordAudit(query, { actor, action: 'rental.reserve', subject: `rental:${id}`, ip, data })
    return { rental: { id, worker, token: token.token, max_seconds: seconds }, refused: null }
  })
}

type Grant = { seconds: number; refused: null } | { seconds: 0; refused: NonNullable<ReservedRental['refused']> }

/** For how long such a machine may run, or why not at all. */
function granted({ rentals, wanted, spent }: RentalList, request: ReserveRentalRequest): Grant {
  const { memory_bytes: memory, cents_per_hour: cents, limits } = request
  const refuse = (refused: NonNullable<ReservedRental['refused']>): Grant => ({ seconds: 0, refused })
  // Of unknown memory: enough for what asks for none.
  if (!wanted.some(({ memory_bytes: needed }) => needed <= (memory ?? 0))) return refuse('not_needed')
  if (rentals.length >= limits.machines) return refuse('machines')
  if (spent.cents_per_hour + cents > limits.cents_per_hour) return refuse('cents_per_hour')
  const left = limits.cents_per_day - spent.cents_per_day
  const affordable = cents === 0 ? request.max_seconds : Math.floor((left * 3_600) / cents)
  const seconds = Math.min(request.max_seconds, affordable)
  return seconds < Math.min(request.least_seconds, request.max_seconds)
    ? refuse('cents_per_day')
    : { seconds, refused: null }
}

/** `closed`: its worker gets no more runs. `ended`: the provider has it no longer. A repetition changes nothing. */
export async function endRental(
  { database }: RentalServices,
  { actor, ip }: By,
  { id, state, reason }: { id: string; state: 'closed' | 'ended'; reason: string },
): Promise<void> {
  await database.transaction(async (query) => {
    const rental = await query.selectFrom('rentals').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
    if (rental === undefined) throw rentalNotFound(id)
    const closes = rental.closed_at === null
    const ends = state === 'ended' && rental.ended_at === null
    if (!closes && !ends) return
    await query
      .updateTable('rentals')
      .set({
        ...(closes ? { closed_at: sql<Date>`now()`, reason } : {}),
        ...(ends ? { ended_at: sql<Date>`now()` } : {}),
      })
      .where('id', '=', id)
      .execute()
    if (closes) {
      const { account_id: owner } = await query
        .selectFrom('tokens')
        .select('account_id')
        .where('id', '=', rental.token_id)
        .executeTakeFirstOrThrow()
      await revokeToken(query, owner, rental.token_id)
    }
    const audit = { actor, subject: `rental:${id}`, ip, data: { reason } }
    if (closes) await recordAudit(query, { ...audit, action: 'rental.close' })
    if (ends) await recordAudit(query, { ...audit, action: 'rental.end' })
  })
}

export function rentalNotFound(id: string): AgentGymError {
  return new AgentGymError({ code: 'rental_not_found', message: `There is no rental ${id}.`, data: { id } })
}

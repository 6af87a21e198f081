import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Season, SeasonList } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import { seal, unseal } from '../../core/access/sealed.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { SeasonTable } from '../../core/database/training-schema.ts'
import type { Services } from '../../core/services.ts'

/*
 * During a season, all agents of a scenario are evaluated on the same held-out episodes, so that comparisons are paired
 * and resubmitting does not give new episodes. The secret is committed to when the season starts and revealed when it
 * ends.
 */

type SeasonServices = Pick<Services, 'database' | 'config' | 'log'>
type RunningSeason = { id: number; commitment: string; secret: Buffer }

/** The current season. The first one starts on demand. */
export async function currentSeason(query: Transaction<Schema>, services: SeasonServices): Promise<RunningSeason> {
  const running = await readRunning(query, services)
  return running ?? turnOver(query, services, 'lost')
}

/** Ends the season if it is over and starts the next. Resolves to whether it did. */
export async function turnSeason(services: SeasonServices): Promise<boolean> {
  const { database, config } = services
  const { rows } = await sql`
    select from seasons where ended_at is null
      and started_at > now() - ${config.verification.seasonHours} * interval '1 hour'`.execute(database.query)
  if (rows.length > 0) return false
  await database.transaction((query) => turnOver(query, services, 'due'))
  return true
}

/** Replicas coordinate by a lock: one starts the season, the others find it started. */
async function turnOver(
  query: Transaction<Schema>,
  services: SeasonServices,
  why: 'due' | 'lost',
): Promise<RunningSeason> {
  const { database, config, log } = services
  await database.lock(query, 'seasons')
  const ending = await query.selectFrom('seasons').selectAll().where('ended_at', 'is', null).executeTakeFirst()
  const secret = ending && openSecret(ending, config.secret)
  const isDue =
    ending === undefined || Date.now() - ending.started_at.getTime() >= hours(config.verification.seasonHours)
  if (ending !== undefined && secret !== undefined && !(why === 'due' && isDue))
    return { id: ending.id, commitment: ending.commitment, secret }
  if (ending !== undefined) {
    if (secret === undefined)
      log.error('the secret of a season is lost: it can never be revealed', { season: ending.id })
    await query
      .updateTable('seasons')
      .set({ ended_at: sql<Date>`now()`, secret: secret?.toString('hex') ?? null })
      .where('id', '=', ending.id)
      .execute()
  }
  const next = randomBytes(32)
  const commitment = commitmentTo(next)
  const { id } = await query
    .insertInto('seasons')
    .values({ sealed_secret: seal({ secret: config.secret, purpose: 'season', id: commitment }, next), commitment })
    .returning('id')
    .executeTakeFirstOrThrow()
  log.info('a season has started', { season: id, commitment })
  return { id, commitment, secret: next }
}

const hours = (count: number) => count * 3_600_000

async function readRunning(query: Queries, { config }: SeasonServices): Promise<RunningSeason | undefined> {
  const row = await query.selectFrom('seasons').selectAll().where('ended_at', 'is', null).executeTakeFirst()
  const secret = row && openSecret(row, config.secret)
  return row === undefined || secret === undefined ? undefined : { id: row.id, commitment: row.commitment, secret }
}

function openSecret(
  { sealed_secret, commitment }: Pick<Selectable<SeasonTable>, 'sealed_secret' | 'commitment'>,
  secret: Uint8Array,
): Buffer | undefined {
  return unseal({ secret, purpose: 'season', id: commitment }, sealed_secret)
}

function commitmentTo(secret: Uint8Array): string {
  return createHash('sha256').update(secret).digest('hex')
}

/**
 * The seed of a scenario's held-out episodes in a season: the first 53 bits, big-endian, of HMAC-SHA256 with the
 * season's secret over the scenario's hash (lower-case hex, as text). `heldOutSeed` of the client does the same.
 */
export function seedOfSeason(secret: Uint8Array, scenarioHash: string): number {
  return Number(createHmac('sha256', secret).update(scenarioHash).digest().readBigUInt64BE() >> 11n)
}

/** Seasons, newest first, with the secrets of ended ones. */
export async function listSeasons(
  { database, config }: SeasonServices,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<SeasonList> {
  let select = database.query
    .selectFrom('seasons')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (before !== undefined) select = select.where('id', '<', Number(before))
  const rows = await select.execute()
  const shown = rows.slice(0, limit)
  return {
    seasons: shown.map((row) => seasonOf(row, config.verification.seasonHours)),
    next: rows.length > limit ? String(shown[shown.length - 1].id) : null,
  }
}

function seasonOf(row: Selectable<SeasonTable>, seasonHours: number): Season {
  const ends = row.ended_at ?? new Date(row.started_at.getTime() + hours(seasonHours))
  return {
    id: String(row.id),
    commitment: row.commitment,
    started_at: row.started_at.toISOString(),
    ends_at: ends.toISOString(),
    ended: row.ended_at !== null,
    secret: row.secret,
  }
}

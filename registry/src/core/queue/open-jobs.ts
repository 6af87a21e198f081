import { AgentGymError, type JobKind } from '@agentgym/contract'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database, Queries } from '../database/database.ts'

/** How users share the workers, and the limits of their open jobs. */
export type QueueConfig = {
  openChecks: number
  openEvaluations: number
  /** Episodes of all of a user's evaluations and verifications together. */
  openEpisodes: number
  /** Shares of users by username; 1 for all others. */
  weights: Readonly<Record<string, number>>
}

type Limits = { queue: QueueConfig; training: { openRuns: number } }

/** Kept episodes of an account that wait for their score. A replay takes seconds. */
const openReplays = 10

/** How long cached counts are used, with the jobs that this process has added since. */
const freshMs = 1_000

type Open = { jobs: number; episodes: number }

/** `ownerId`: the account that the job is for; default: the submitter's own. */
type Submitter = { accountId: string; ownerId?: string }
type Counted = { by: 'account_id' | 'owner_id'; id: string }

/**
 * How many jobs accounts have waiting and running. Counting them at every submission would make each one slower than
 * the one before, so counts are cached for a second. Concurrent submissions of one account to several replicas may
 * exceed the limit slightly.
 */
export class OpenJobs {
  readonly #query: Queries
  readonly #config: Limits
  readonly #counts = new LRUCache<string, Open>({ max: 10_000, ttl: freshMs })

  constructor({ database, config }: { database: Database; config: Limits }) {
    this.#query = database.query
    this.#config = config
  }

  /**
   * Throws `rate_limited` if another job with that many episodes would exceed the limit of its submitter or of its
   * organization.
   */
  async requireRoom(kind: JobKind, { accountId, ownerId = accountId }: Submitter, episodes = 0): Promise<void> {
    const own = await this.#roomOf(kind, { by: 'account_id', id: accountId }, episodes)
    const owners = ownerId === accountId ? [] : [await this.#roomOf(kind, { by: 'owner_id', id: ownerId }, episodes)]
    // Counted only if both are within their limits.
    for (const open of [own, ...owners]) {
      open.jobs++
      open.episodes += episodes
    }
  }

  async #roomOf(kind: JobKind, of: Counted, episodes: number): Promise<Open> {
    const { most, mostEpisodes } = this.#limitsOf(kind)
    const exceeds = (open: Open) => open.jobs >= most || (open.jobs > 0 && open.episodes + episodes > mostEpisodes)
    const key = `${kind}:${of.by}:${of.id}`
    const cached = this.#counts.get(key)
    if (cached !== undefined && !exceeds(cached)) return cached
    const open = await this.#count(kind, of, most)
    this.#counts.set(key, open)
    if (open.jobs >= most) throw tooMany(kind, of, `${most} ${nouns[kind]}`, { open_jobs: most })
    if (exceeds(open))
      throw tooMany(kind, of, `${open.episodes} of ${mostEpisodes} episodes of evaluations`, {
        open_episodes: mostEpisodes,
      })
    return open
  }

  #limitsOf(kind: JobKind): { most: number; mostEpisodes: number } {
    const { queue, training } = this.#config
    const unlimited = Number.POSITIVE_INFINITY
    if (kind === 'train') return { most: training.openRuns, mostEpisodes: unlimited }
    if (kind === 'replay') return { most: openReplays, mostEpisodes: unlimited }
    if (kind === 'check') return { most: queue.openChecks, mostEpisodes: unlimited }
    return { most: queue.openEvaluations, mostEpisodes: queue.openEpisodes }
  }

  async #count(kind: JobKind, { by, id }: Counted, most: number): Promise<Open> {
    const { rows } = await sql<Open>`
      select count(*)::int as jobs, coalesce(sum(episodes), 0)::int as episodes from (
        select episodes from jobs
        where kind = ${kind} and ${sql.ref(by)} = ${id} and state in ('waiting', 'leased') limit ${most}) as open`.execute(
      this.#query,
    )
    return rows[0]
  }
}

const nouns: Record<JobKind, string> = {
  ...{ replay: 'kept episodes', check: 'checks' },
  ...{ evaluate: 'evaluations', train: 'runs' },
}
const ways: Record<JobKind, string> = {
  replay: 'Wait until some have been replayed.',
  check: 'Wait until some have ended; `agentgym info NAME` shows the state of a version.',
  evaluate: 'Wait until some have ended, or evaluate fewer episodes.',
  train: 'Wait until some have ended, or cancel some with `agentgym runs cancel ID`.',
}

function tooMany(kind: JobKind, { by }: Counted, what: string, data: Record<string, number>): AgentGymError {
  return new AgentGymError({
    code: 'rate_limited',
    message: `${by === 'account_id' ? 'You have' : 'The organization has'} ${what} waiting or running, the most an account can have.`,
    hint: ways[kind],
    data: { kind, ...data, retry_after_seconds: 30 },
  })
}

import type { JobKind } from '@agentgym/contract'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { Schema } from '../database/schema.ts'

/*
 * Which account's job is leased next. Within a kind, accounts share the workers by start-time fair queuing (Goyal, Vin
 * and Cheng, 1996): an account's next job has a start tag, which grows by the job's cost with every lease, and the
 * lowest tag is leased first. An account that begins to submit starts at the tag of the job that was leased last, so it
 * neither waits for everything that others queued before nor accumulates turns while idle. Accounts with running jobs
 * come slightly later.
 */

/** Account of jobs without a user, such as recovered ones. */
export const installationAccount = '00000000-0000-0000-0000-000000000000'

/** Maximum number of running jobs that delay an account's next one, so that the delay is bounded. */
export const countedRunning = 4
/** Number of episodes that costs as much as one check or training job. */
const episodesPerTurn = 200
/** Maximum number of leases of other kinds while jobs of a kind wait. */
export const mostPassed = 8

/** Cost of a job with that many episodes, in turns; 1 for kinds without episodes. */
export function costOf(episodes: number): number {
  return Math.max(1, episodes / episodesPerTurn)
}

/** The start tag of the last leased job of that kind, where accounts without waiting jobs start. */
export function presentTurn(kind: JobKind): RawBuilder<number> {
  return sql<number>`coalesce((select max(started) from queue_turns where kind = ${kind}), 0)`
}

type Choice = {
  kind: JobKind
  /** Which of the kind's jobs may be leased. */
  eligible: RawBuilder<boolean>
  /** Shares of accounts by username; 1 for all others. */
  weights: Readonly<Record<string, number>>
}

/** The next job to lease: its account, its start tag, and the account's tag afterwards. */
export type Turn = { id: string; account: string; start: number; after: number }

/**
 * Chooses the job to lease next, locks its row and charges its account. Call it under the queue's lock for the kind:
 * concurrent choices would all take the same account's turn.
 */
export async function takeTurn(query: Transaction<Schema>, choice: Choice): Promise<Turn | undefined> {
  const { kind, eligible } = choice
  const { rows } = await sql<Turn>`
    with recursive ${waitingAccounts(kind, eligible)},
    running (account_id, jobs) as (
      select account_id, count(*) from jobs where kind = ${kind} and state = 'leased' and leased_until >= now()
      group by account_id)
    select jobs.id, jobs.account_id as account, tags.start, tags.start + jobs.cost / tags.weight as after
    from waiting cross join lateral (
      select id from jobs where kind = ${kind} and account_id = waiting.account_id and ${eligible}
      order by priority desc, created_at, id limit 1) head
    join jobs on jobs.kind = ${kind} and jobs.id = head.id
    left join queue_turns turns on turns.kind = ${kind} and turns.account_id = jobs.account_id
    left join running on running.account_id = jobs.account_id
    cross join lateral (
      select greatest(${arrivedAt(kind)}, coalesce(turns.turn, 0)) as start, ${weightOf(choice.weights)} as weight) tags
    where ${eligible}
    order by tags.start + least(coalesce(running.jobs, 0), ${countedRunning}) / tags.weight, jobs.created_at, jobs.id
    limit 1 for update of jobs skip locked`.execute(query)
  if (rows.length === 0) return undefined
  const [{ account, start, after }] = rows
  await sql`
    insert into queue_turns (kind, account_id, started, turn) values (${kind}, ${account}, ${start}, ${after})
    on conflict (kind, account_id) do update set started = excluded.started, turn = excluded.turn`.execute(query)
  return rows[0]
}

/** Limit for counting jobs ahead. */
const countedAhead = 1_000

/**
 * Approximate number of jobs of that kind before the account's job `id`, submitted at `moment`, if no more are
 * submitted: the account's earlier ones, and as many of each other account, up to 1,000.
 */
export function jobsAhead(
  kind: JobKind,
  { id, account, moment }: Record<'id' | 'account' | 'moment', RawBuilder<unknown>>,
): RawBuilder<number> {
  const eligible = sql<boolean>`state = 'waiting' and priority >= 0`
  const most = sql.lit(countedAhead)
  return sql<number>`(
    with recursive own (jobs) as (
      select count(*)::int from (
        select from jobs where kind = ${sql.lit(kind)} and account_id = ${account} and ${eligible}
          and created_at < ${moment} and id <> ${id} limit ${most}) earlier),
    ${waitingAccounts(kind, eligible)}
    select least(${most}, own.jobs + (
      select count(*) from (
        select from waiting cross join lateral (
          select from jobs where kind = ${sql.lit(kind)} and account_id = waiting.account_id
            and waiting.account_id <> ${account} and ${eligible} limit (select jobs + 1 from own)) taken
        limit ${most}) others))::int from own)`
}

/** A job whose worker stopped responding counts as arriving now: it has had its turn. */
function arrivedAt(kind: JobKind): RawBuilder<number> {
  return sql<number>`case jobs.state when 'leased' then ${presentTurn(kind)} else jobs.arrived end`
}

/** The accounts with eligible jobs, by a skip scan of the index. */
function waitingAccounts(kind: JobKind, eligible: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`waiting (account_id) as (
    (select account_id from jobs where kind = ${kind} and ${eligible} order by account_id limit 1)
    union all
    select following.account_id from waiting cross join lateral (
      select jobs.account_id from jobs
      where kind = ${kind} and ${eligible} and jobs.account_id > waiting.account_id
      order by jobs.account_id limit 1) following)`
}

function weightOf(weights: Choice['weights']): RawBuilder<number> {
  const names = Object.keys(weights)
  if (names.length === 0) return sql<number>`1::float8`
  return sql<number>`coalesce((
    select given.weight from unnest(${sql.val(names)}::text[], ${sql.val(Object.values(weights))}::float8[])
      as given (username, weight)
    join accounts on accounts.username = given.username where accounts.id = jobs.account_id), 1)`
}

/**
 * The order in which to try these waiting kinds: shortest first, except that a kind which has been passed over often
 * enough goes first. `kinds` are in the contract's order, shortest first.
 */
export async function orderKinds(query: Queries, kinds: readonly JobKind[]): Promise<JobKind[]> {
  const { rows } = await sql<{ kind: JobKind }>`
    select kind from queue_passes where passed >= ${mostPassed} and kind = any(${sql.val([...kinds])}::text[])`.execute(
    query,
  )
  const late = new Set(rows.map(({ kind }) => kind))
  return [...kinds.filter((kind) => late.has(kind)).reverse(), ...kinds.filter((kind) => !late.has(kind))]
}

/**
 * Records that a job of kind `leased` was leased while jobs of the kinds `passed`, which the worker also accepts, were
 * waiting.
 */
export async function notePassed(
  query: Transaction<Schema>,
  leased: JobKind,
  passed: readonly JobKind[],
): Promise<void> {
  await sql`
    insert into queue_passes (kind, passed)
    select kind, case kind when ${leased} then 0 else 1 end from unnest(${sql.val([leased, ...passed])}::text[]) as given (kind)
    on conflict (kind) do update set passed = case excluded.passed when 0 then 0 else queue_passes.passed + 1 end`.execute(
    query,
  )
}

/** Deletes the tags of accounts without jobs that no longer affect their order. */
export async function forgetTurns(query: Queries): Promise<void> {
  await sql`
    delete from queue_turns turns
    where turn <= (select max(started) from queue_turns latest where latest.kind = turns.kind)
      and not exists (select from jobs where jobs.kind = turns.kind and jobs.account_id = turns.account_id
        and jobs.state in ('waiting', 'leased'))`.execute(query)
}

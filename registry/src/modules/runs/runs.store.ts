import type { Run, RunState, WorkerUsage } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Role } from '../../core/database/schema.ts'
import { jobsAhead } from '../../core/queue/fair-order.ts'
import { isUnserved } from '../../core/queue/gang-seats.ts'
import type { ServerConfig } from '../../core/services.ts'
import { unservedText } from './gpu-need.ts'
import { spentMinor } from './run-state.ts'

/** Where a page of runs ended. */
type RunsEnd = { key: number; id: string }
type RunFilter = {
  /** Owning accounts. */
  owners: readonly string[]
  state?: RunState
  /** Name of the scenario. */
  scenario?: string
  after: RunsEnd | null
  limit: number
}

/** Selects everything that the API returns of a run, in one statement. */
function selectRuns(query: Queries) {
  return query
    .selectFrom('training_runs as run')
    .innerJoin('accounts as owner', 'owner.id', 'run.owner_id')
    .innerJoin('accounts as creator', 'creator.id', 'run.created_by')
    .innerJoin('versions as scenario', 'scenario.id', 'run.scenario_version_id')
    .innerJoin('packages as scenario_package', 'scenario_package.id', 'scenario.package_id')
    .leftJoin('versions as parent', 'parent.id', 'run.from_version_id')
    .leftJoin('packages as parent_package', 'parent_package.id', 'parent.package_id')
    .leftJoin('agent_versions as parent_agent', 'parent_agent.version_id', 'parent.id')
    .leftJoin('versions as published', 'published.id', 'run.published_version_id')
    .leftJoin('packages as published_package', 'published_package.id', 'published.package_id')
    .leftJoinLateral(
      (from) =>
        from
          .selectFrom('checkpoints')
          .select(['checkpoints.iteration', 'checkpoints.steps', 'checkpoints.created_at'])
          .whereRef('checkpoints.run_id', '=', 'run.id')
          .orderBy('checkpoints.iteration', 'desc')
          .limit(1)
          .as('checkpoint'),
      (join) => join.onTrue(),
    )
    .selectAll('run')
    .select(['owner.username as owner', 'creator.username as creator'])
    .select(['scenario_package.name as scenario_name', 'scenario.version as scenario_version'])
    .select(['scenario.bundle_hash as scenario_hash'])
    .select(['parent_package.name as parent_name', 'parent.version as parent_version'])
    .select(sql<string | null>`parent_agent.manifest ->> 'model_hash'`.as('parent_hash'))
    .select(sql<string | null>`parent.manifest ->> 'license'`.as('parent_license'))
    .select(['published_package.name as published_name', 'published.version as published_version'])
    .select(['checkpoint.iteration as checkpoint_iteration', 'checkpoint.steps as checkpoint_steps'])
    .select('checkpoint.created_at as checkpoint_at')
    .select(sql<number | null>`case when run.state = 'queued' then ${runsAhead('run')} end`.as('ahead'))
    .select(isUnserved('run').as('unserved'))
    .select(workerUsage.as('worker_usage'))
}

/** Utilization of the worker that trains a run on GPUs; null for other runs. */
const workerUsage = sql<WorkerUsage | null>`(
  select workers.usage from workers where run.state = 'running' and run.gpus > 0 and workers.id = run.worker_id)`

/** Approximate number of runs before a queued one. `run`: table alias in the statement. */
export function runsAhead(run: 'run' | 'training_runs'): RawBuilder<number> {
  const [id, account, moment] = ['id', 'created_by', 'created_at'].map((column) => sql.ref(`${run}.${column}`))
  return jobsAhead('train', { id, account, moment })
}

export type RunView = Awaited<ReturnType<ReturnType<typeof selectRuns>['executeTakeFirstOrThrow']>>

/** A run with the caller's role; the role is null if the caller does not belong to its account. */
export async function findRunFor(
  query: Queries,
  actor: Actor,
  id: string,
): Promise<(RunView & { role: Role | null }) | undefined> {
  const row = await selectRuns(query)
    .leftJoin('memberships', (join) =>
      join.onRef('memberships.organisation_id', '=', 'run.owner_id').on('memberships.user_id', '=', actor.accountId),
    )
    .select('memberships.role')
    .where('run.id', '=', id)
    .executeTakeFirst()
  return row && { ...row, role: row.owner_id === actor.accountId ? 'owner' : row.role }
}

/** A run, whoever asks. */
export function findRun(query: Queries, id: string): Promise<RunView | undefined> {
  return selectRuns(query).where('run.id', '=', id).executeTakeFirst()
}

/** Newest first. Uses an index per account, so the number of runs does not matter. */
export async function listRuns(
  query: Queries,
  { owners, state, scenario, after, limit }: RunFilter,
): Promise<RunView[]> {
  const newest = sql<string>`(
    select found.id from unnest(${sql.val(owners)}::uuid[]) as request (owner_id)
    cross join lateral (
      select training_runs.id, training_runs.created_at from training_runs
      where training_runs.owner_id = request.owner_id
        ${after === null ? sql`` : sql`and (training_runs.created_at, training_runs.id) < (${new Date(after.key)}, ${after.id})`}
        ${state === undefined ? sql`` : sql`and training_runs.state = ${state}`}
        ${
          scenario === undefined
            ? sql``
            : sql`and training_runs.scenario_version_id in (
          select versions.id from versions join packages on packages.id = versions.package_id
          where packages.name = ${scenario})`
        }
      order by training_runs.created_at desc, training_runs.id desc limit ${limit}
    ) as found
    order by found.created_at desc, found.id desc limit ${limit})`
  return (
    selectRuns(query)
      // As an array, so that their rows are looked up: of a join the planner may read the whole table.
      .where('run.id', '=', sql<string>`any(array${newest})`)
      .orderBy('run.created_at', 'desc')
      .orderBy('run.id', 'desc')
      .execute()
  )
}

/** A run as the API returns it. */
export function runOf(row: RunView, { publicUrl, training }: Pick<ServerConfig, 'publicUrl' | 'training'>): Run {
  return {
    id: row.id,
    state: row.state,
    owner: row.owner,
    created_by: row.creator,
    scenario: { name: row.scenario_name, version: row.scenario_version, hash: row.scenario_hash ?? '' },
    parent: parentOf(row),
    algorithm: row.algorithm,
    settings: row.settings,
    seed: row.seed,
    note: row.note,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    ahead: row.ahead,
    gpu: row.gpus === 0 ? null : { count: row.gpus, memory_bytes: row.gpu_memory },
    workers: row.workers,
    unserved: row.unserved ? unservedText(row) : null,
    gpu_usage: row.worker_usage && { busy: row.worker_usage.gpu, memory: row.worker_usage.gpu_memory ?? null },
    attempt: row.attempt,
    worker: row.worker_name,
    cancel_requested: row.cancel_requested_at !== null,
    pause_at: row.pause_at,
    progress: progressOf(row.progress),
    checkpoint:
      row.checkpoint_at === null || row.checkpoint_iteration === null || row.checkpoint_steps === null
        ? null
        : {
            iteration: row.checkpoint_iteration,
            steps: row.checkpoint_steps,
            created_at: row.checkpoint_at.toISOString(),
          },
    cost: {
      currency: training.currency,
      spent_minor: spentMinor(row),
      budget_minor: row.budget_minor,
      price_minor_per_hour: row.price_minor_per_hour,
    },
    error: row.error,
    evaluation: row.evaluation,
    agent: agentOf(row, publicUrl),
    last_event: row.last_seq,
  }
}

function parentOf({ parent_name, parent_version, parent_hash, parent_license }: RunView): Run['parent'] {
  if (parent_name === null || parent_version === null || parent_hash === null) return null
  return { name: parent_name, version: parent_version, model_hash: parent_hash, license: parent_license }
}

/** The part of the latest iteration's event that is returned with the run. */
function progressOf(latest: Record<string, unknown> | null): Run['progress'] {
  if (latest === null) return null
  // Validated against its schema on arrival.
  const { iteration, steps, steps_total, steps_per_second, episodes_total, return_mean, seconds } =
    latest as NonNullable<Run['progress']>
  return { iteration, steps, steps_total, steps_per_second, episodes_total, return_mean, seconds }
}

/** The uploaded agent, once the run has completed with it. */
function agentOf(row: RunView, publicUrl: string): Run['agent'] {
  if (row.state !== 'completed' || row.agent_integrity === null || row.agent_size === null) return null
  const { published_name: name, published_version: version } = row
  return {
    integrity: row.agent_integrity,
    size: row.agent_size,
    tarball: `${publicUrl}/v1/runs/${row.id}/agent`,
    package: name === null || version === null ? null : { name, version },
  }
}

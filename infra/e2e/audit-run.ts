import type { Run } from '@agentgym/contract'
import type { Database } from '../../registry/src/core/database/database.ts'

export type RunAudit = {
  state: Run['state']
  /** Iterations of the learning curve, in order. */
  iterations: number[]
  /** Steps and mean returns of the curve: what training gave, without times. */
  curve: { steps: number; return_mean: number | null }[]
  /** Numbers of all events, in order. */
  sequence: number[]
  /** Events that end a run, as they came. */
  ends: string[]
  charges: number[]
  /** Versions of agents that the run has published. */
  published: string[]
  attempts: number
  /** Jobs of the queue that are not over. */
  openJobs: number
}

const endings = ['completed', 'failed', 'cancelled', 'budget_exceeded']

/** What the database says of a run once it is over; read past every room, so that no room can explain it away. */
export async function auditRun(database: Database, runId: string): Promise<RunAudit> {
  const { query } = database
  const run = await query
    .selectFrom('training_runs')
    .select(['state', 'attempt', 'publish_name', 'publish_version'])
    .where('id', '=', runId)
    .executeTakeFirstOrThrow()
  const points = await query
    .selectFrom('training_metrics')
    .select(['iteration', 'seq', 'data'])
    .where('run_id', '=', runId)
    .orderBy('iteration')
    .execute()
  const events = await query
    .selectFrom('run_events')
    .select(['seq', 'type'])
    .where('run_id', '=', runId)
    .orderBy('seq')
    .execute()
  const charges = await query
    .selectFrom('training_charges')
    .select('amount_minor')
    .where('run_id', '=', runId)
    .execute()
  const versions = await query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select('versions.version')
    .where('packages.name', '=', run.publish_name ?? '')
    .execute()
  const jobs = await database.execute(
    `select id from jobs where kind = 'train' and id = $1 and state in ('waiting', 'leased')`,
    [runId],
  )
  return {
    state: run.state,
    iterations: points.map(({ iteration }) => iteration),
    curve: points.map(({ data }) => ({ steps: Number(data.steps), return_mean: data.return_mean as number | null })),
    sequence: [...points, ...events].map(({ seq }) => seq).sort((a, b) => a - b),
    ends: events.map(({ type }) => type).filter((type) => endings.includes(type)),
    charges: charges.map(({ amount_minor }) => amount_minor),
    published: versions.map(({ version }) => version),
    attempts: run.attempt,
    openJobs: jobs.rows.length,
  }
}

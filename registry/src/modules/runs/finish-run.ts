import { AgentGymError, type ErrorReport, type Outcome, type RunState } from '@agentgym/contract'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { leaseLost } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { publishRunAgent, type VettedAgent, vetRunAgent } from './publish-run.ts'
import type { RunServices } from './run-services.ts'
import { changeRun, type End, endRun, type RunRow } from './run-state.ts'
import { takeMeter, type Write, writeRun } from './worker-reports.ts'

/** Longer than our own errors; longer text of third-party code is truncated. */
const errorDataCharacters = 8_000

/**
 * Accepts a run's outcome from its worker: state, event, charge, the end of its job and, if requested, the agent's
 * published version, in one transaction. A worker that lost the response may retry: repeating the outcome returns the
 * same response without effect. Returns the run's state.
 *
 * Throws `lease_lost`, and `request_invalid` for an impossible outcome.
 */
export async function finishRun(
  services: RunServices,
  attempt: Attempt,
  { outcome, meteredMs }: { outcome: Outcome; meteredMs: number },
): Promise<RunState> {
  const before = await findRun(services, attempt)
  if (isEndedBy(attempt, before, outcome)) return before.state
  try {
    return await end(services, attempt, before, { outcome, meteredMs })
  } catch (error) {
    // The same outcome may have been sent twice concurrently.
    const lost = error instanceof AgentGymError && error.code === 'lease_lost'
    if (lost && isEndedBy(attempt, await findRun(services, attempt), outcome)) return outcome.state
    throw error
  }
}

function isEndedBy({ attempt }: Attempt, run: RunRow, outcome: Outcome): boolean {
  return run.attempt === attempt + 1 && run.state === outcome.state
}

async function end(
  services: RunServices,
  attempt: Attempt,
  before: RunRow,
  { outcome, meteredMs }: { outcome: Outcome; meteredMs: number },
): Promise<RunState> {
  const agent = outcome.state === 'completed' ? await vetRunAgent(services, before) : null
  const ended = await writeRun(services, attempt, async (write) => {
    const { query, run, context, leasedMs } = write
    requirePossible(run, outcome)
    const { patch, events } = takeMeter(run, { meteredMs, leasedMs })
    const metered = await changeRun(query, run, patch, events)
    return endRun(query, context, metered, await endOf(services, { ...write, run: metered }, outcome, agent))
  })
  if (agent !== null) services.documents.wake(services)
  if (ended.state === 'completed') await countTraining(services, ended)
  const code = outcome.state === 'failed' ? outcome.error.code : undefined
  services.log.info('run ended', { run_id: ended.id, state: ended.state, code, worker: ended.worker_name })
  return ended.state
}

async function countTraining(services: RunServices, run: RunRow): Promise<void> {
  const scenario = await services.database.query
    .selectFrom('versions')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .select(['packages.name', 'versions.version'])
    .where('versions.id', '=', run.scenario_version_id)
    .executeTakeFirst()
  if (scenario === undefined) return
  // Where it was started from is not on record.
  services.usage.record({ kind: 'training', ...scenario, source: 'other', client: null, accountId: run.created_by })
}

async function findRun({ database }: Services, { id }: Attempt): Promise<RunRow> {
  const run = await database.query.selectFrom('training_runs').selectAll().where('id', '=', id).executeTakeFirst()
  if (run === undefined) throw leaseLost()
  return run
}

function requirePossible(run: RunRow, outcome: Outcome): void {
  if (outcome.state === 'cancelled' && run.cancel_requested_at === null)
    throw impossible('state', 'The run was not canceled.')
  if (outcome.state === 'budget_exceeded' && run.budget_minor === null)
    throw impossible('state', 'The run has no budget.')
  if (outcome.state === 'paused' && run.pause_at === null && run.pause_requested_at === null)
    throw impossible('state', 'The run was not to pause.')
  if (outcome.state === 'completed' && outcome.agent.integrity !== run.agent_integrity)
    throw impossible('agent.integrity', 'The agent in the outcome is not the one that was uploaded.')
}

async function endOf(
  services: RunServices,
  { query, run, context }: Write,
  outcome: Outcome,
  agent: VettedAgent,
): Promise<End> {
  if (outcome.state === 'failed') return { state: 'failed', error: capped(outcome.error) }
  if (outcome.state !== 'completed') return { state: outcome.state }
  const { agent_object_key: objectKey, agent_integrity: integrity, agent_size: size } = run
  const looked = run.publish_name === null || agent?.objectKey === objectKey
  if (objectKey === null || integrity === null || size === null || !looked)
    throw impossible('agent', 'The agent was uploaded again in the meantime.')
  const published = agent === null ? null : await publishRunAgent(query, services, context, run, agent)
  const { steps, seconds, evaluation } = outcome
  const stored = { object_key: objectKey, integrity, size }
  return { state: 'completed', steps, seconds, evaluation, agent: stored, published }
}

function capped({ data, ...error }: ErrorReport): ErrorReport {
  return data === undefined || JSON.stringify(data).length > errorDataCharacters ? error : { ...error, data }
}

function impossible(field: string, message: string): AgentGymError {
  return new AgentGymError({ code: 'request_invalid', message, data: { field: `outcome.${field}` } })
}

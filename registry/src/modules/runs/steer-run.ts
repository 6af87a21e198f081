import type { Run } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig } from '../../core/services.ts'
import { holdAgain, requireRunnable } from '../orders/index.ts'
import { findReadablePackage } from '../packages/index.ts'
import { coverRun, trainingPrice } from './pay-run.ts'
import { requireOwnRun } from './run-access.ts'
import type { RunServices } from './run-services.ts'
import { type Resumption, requestCancel, requestPause, resumeRun } from './run-state.ts'
import { requireStartable } from './run-subjects.ts'
import { type RunView, runOf } from './runs.store.ts'

type Change = { actor: Actor | null; runId: string; ip: string | null }

/** Cancels a run. Throws `run_not_found`, `forbidden`, and `run_state_conflict` if it has ended. */
export function cancelRun(services: RunServices, change: Change): Promise<Run> {
  return stopRun(services, change, { request: requestCancel, action: 'run.cancel' })
}

/** Pauses a run, which can be resumed. Throws as `cancelRun`. */
export function pauseRun(services: RunServices, change: Change): Promise<Run> {
  return stopRun(services, change, { request: requestPause, action: 'run.pause' })
}

async function stopRun(
  services: RunServices,
  { actor, runId, ip }: Change,
  { request, action }: { request: typeof requestCancel; action: 'run.cancel' | 'run.pause' },
): Promise<Run> {
  const { database, config } = services
  const scope = 'training:cancel'
  // Checked before its rows are locked, so that unauthorized callers cannot block it.
  await requireOwnRun(database.query, actor, runId, scope)
  const { queue } = services
  const run = await database.transaction(async (query) => {
    await request(query, { queue, currency: config.training.currency }, runId)
    const changed = await requireOwnRun(query, actor, runId, scope)
    await recordAudit(query, { actor: changed.actor, action, subject: `run:${runId}`, ip })
    return changed.run
  })
  services.runFeeds.changed(runId)
  return runOf(run, config)
}

/**
 * Continues a run that is paused or used up its budget. Throws `run_not_found`, `forbidden`, `run_state_conflict`, `rate_limited`,
 * `request_invalid` if the new budget is used up as well, and the errors of `holdForRun`.
 */
export async function continueRun(
  services: RunServices,
  { actor, runId, ip, ...resumption }: Change & Resumption,
): Promise<Run> {
  const { database, config } = services
  const scope = 'training:start'
  const { accountId, tokenId } = requireActor(actor, scope)
  await limitRate(database, `start-run:${accountId}`, { limit: config.training.startsPerMinute, windowSeconds: 60 })
  const { owner_id: ownerId } = (await requireOwnRun(database.query, actor, runId, scope)).run
  await services.openJobs.requireRoom('train', { accountId, ownerId })
  const { queue } = services
  const run = await database.transaction(async (query) => {
    await resumeRun(query, { queue }, runId, { ...resumption, tokenId })
    const changed = await requireOwnRun(query, actor, runId, scope)
    const price = await trainingPrice(query, changed.run)
    if (price > 0) await coverRun(services, query, changed.run, price)
    await requireScenario(query, config, changed, ip)
    await requireParent(query, config, changed)
    // The payment held for the run's scenario was released if the run ended before it trained.
    if (changed.run.iteration === 0)
      await holdAgain(query, config, { ...runPurchase(changed.run), actor: changed.actor, ip })
    const data = { budget_minor: changed.run.budget_minor }
    await recordAudit(query, { actor: changed.actor, action: 'run.resume', subject: `run:${runId}`, ip, data })
    return changed.run
  })
  services.runFeeds.changed(runId)
  return runOf(run, config)
}

function runPurchase({ id, owner_id, owner, scenario_name: name, scenario_version: version }: RunView) {
  return { buyer: { id: owner_id, username: owner }, runId: id, name, version }
}

/**
 * Checks that the user may still train on the scenario: the license may have been refunded since, or the scenario taken
 * down.
 */
async function requireScenario(
  query: Transaction<Schema>,
  config: ServerConfig,
  { run, actor }: { run: RunView; actor: Actor },
  ip: string | null,
): Promise<void> {
  const { id, member } = await findReadablePackage(query, actor, run.scenario_name)
  const scenario = { packageId: id, name: run.scenario_name, version: run.scenario_version, member }
  const owner = { id: run.owner_id, username: run.owner }
  await requireRunnable(query, config, {
    actor,
    runId: run.id,
    owner,
    scenario,
    expectedPrice: undefined,
    paid: true,
    ip,
  })
}

/** The same for the agent that it starts from, which a run that has a checkpoint no longer needs. */
async function requireParent(
  query: Transaction<Schema>,
  config: ServerConfig,
  { run, actor }: { run: RunView; actor: Actor },
): Promise<void> {
  const { parent_name: name, parent_version: version } = run
  if (name === null || version === null || run.checkpoint_iteration !== null) return
  const { id: packageId, member } = await findReadablePackage(query, actor, name)
  await requireStartable(query, config, actor, { packageId, member, parent: { name, version } })
}

import type { ErrorReport, Evaluation } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { Schema, VersionCheck } from '../../core/database/schema.ts'
import type { EvaluationTable } from '../../core/database/training-schema.ts'
import { barredBy } from '../../core/queue/worker-place.ts'
import type { Services } from '../../core/services.ts'
import { recordEvent } from '../events/index.ts'
import { oweRefundsOfMismatch } from '../moderation/index.ts'
import { decideVersion, lockPackage } from '../packages/index.ts'
import { refreshSolved } from '../search/index.ts'
import { decideEvaluation, type RecordedRun } from './decide-evaluation.ts'
import { type EvaluationRun, hasAnotherWorker, referencesOf, runsOf } from './evaluation-runs.ts'
import { markNondeterministic } from './nondeterministic-scenarios.ts'
import { signStatement } from './sign-statement.ts'
import { refreshStandings } from './standings.store.ts'
import type { EvaluatedAgent, Subject } from './verification-subject.ts'
import { holdBack } from './worker-holds.ts'
import { criteriaMismatch, evaluationOf } from './worker-outcome.ts'

export type EvaluationRow = Selectable<EvaluationTable>

/** The consequences of a verification. */
type Verdict = {
  state: 'verified' | 'mismatch' | 'failed' | 'unavailable' | 'inconclusive'
  /** The reason; empty if verified. */
  message: string
  agreed: readonly EvaluationRun[]
  /** Whether buyers are refunded. */
  refund: boolean
}

type Conclusion = {
  /** Decide by the existing runs, without another worker. */
  final?: boolean
  /** The failure of an attempt without a result. */
  lost?: string
}

/**
 * Decides a verification by its recorded runs, in the transaction that ended its job: requeues it for another worker,
 * or records the verdict with its consequences. The caller has locked the job.
 */
export async function concludeVerification(
  services: Services,
  query: Transaction<Schema>,
  evaluation: EvaluationRow,
  subject: Subject,
  { final = false, lost }: Conclusion = {},
): Promise<void> {
  const { agent, scenario } = subject
  if (agent.manifest === null || agent.version_id === null)
    throw new Error(`${agent.name} is verified without a manifest`)
  const runs = await runsOf(query, evaluation.id)
  // No worker finished a run of this version, so only the failure is known.
  const isUnrun = lost !== undefined && agent.state !== 'published'
  const known = isUnrun ? undefined : knownVerdict(subject, runs)
  if (known !== undefined) return recordVerdict(services, query, evaluation, subject, known)
  const all: RecordedRun[] = lost === undefined ? runs : [...runs, lostRun(lost, isUnrun ? 'refused' : 'broken')]
  const decision = decideEvaluation(all, {
    workers: services.config.verification.workers,
    another: !final && (await hasAnotherWorker(query, runs)),
    published: agent.state === 'published',
    references: await referencesOf(query, agent.version_id, agent.manifest),
  })
  if (decision.kind === 'run_again') {
    await services.queue.repeat(query, 'evaluate', evaluation.id, runs.flatMap(barredBy))
    await query.updateTable('evaluations').set({ state: 'queued' }).where('id', '=', evaluation.id).execute()
    return
  }
  const { state, message, outvoted } = decision
  for (const run of recorded(outvoted, runs)) await holdBack(services, query, run)
  if (decision.nondeterministic && scenario !== null)
    await markNondeterministic(services, query, { evaluationId: evaluation.id, versionId: scenario.versionId, message })
  if (state === 'inconclusive')
    services.log.warn('a verification is inconclusive', { evaluation_id: evaluation.id, agent: agent.name, message })
  const agreed = recorded(decision.agreed, runs)
  await recordVerdict(services, query, evaluation, subject, { state, message, agreed, refund: state === 'mismatch' })
}

/** Verdict without runs, from the registry's own data. Undefined if the runs decide. */
function knownVerdict({ agent, scenario }: Subject, runs: readonly EvaluationRun[]): Verdict | undefined {
  const { manifest, state } = agent
  if (manifest === null) return undefined
  const refused = runs.some(({ outcome }) => outcome.kind === 'refused')
  if (refused && state !== 'published') return undefined
  const of = (verdict: Pick<Verdict, 'state' | 'message'>): Verdict => ({ ...verdict, agreed: [], refund: false })
  if (scenario === null) {
    const { name, version, environment } = manifest.scenario
    if (environment !== undefined) {
      const message = `Environment not in the registry: not verifiable. The agent was trained on ${name} ${version}, which only its publisher can play.`
      return of({ state: 'unavailable', message })
    }
    const message = `This registry does not have the exact ${name}@${version} that the agent was trained on, so the agent was not verified.`
    return of({ state: 'unavailable', message })
  }
  const message = criteriaMismatch(manifest, scenario)
  if (message !== null) return of({ state: 'mismatch', message })
  if (scenario.nondeterministic !== null) return of({ state: 'inconclusive', message: scenario.nondeterministic })
  return undefined
}

function lostRun(message: string, kind: 'refused' | 'broken'): RecordedRun {
  return { worker: 'unknown', owner: '', machine: null, runtime: {}, outcome: { kind, message } }
}

function recorded(runs: readonly RecordedRun[], known: readonly EvaluationRun[]): EvaluationRun[] {
  return known.filter((run) => (runs as readonly RecordedRun[]).includes(run))
}

async function recordVerdict(
  services: Services,
  query: Transaction<Schema>,
  evaluation: EvaluationRow,
  subject: Subject,
  { state, message, agreed, refund }: Verdict,
): Promise<void> {
  const { agent, scenario } = subject
  const { version_id: versionId, packageId } = agent
  if (versionId === null || packageId === null) throw new Error(`${agent.name} is verified without a version`)
  if (state === 'failed') {
    const checks = agreed[0]?.report.checks ?? [{ id: 'checker_failed', ok: false, message }]
    await decide(services, query, agent, false, checks)
  }
  const signed =
    state === 'verified' && scenario !== null
      ? await signStatement(services, query, { agent, scenario }, agreed, evaluation.season_id)
      : undefined
  const found = agreed[0] === undefined ? null : evaluationOf(agreed[0].report.results, 'held_out')
  const isError = state === 'failed' || state === 'inconclusive'
  await endEvaluation(query, evaluation.id, isError ? null : found, isError ? failure(message) : null)
  await query
    .insertInto('verifications')
    .values({
      evaluation_id: evaluation.id,
      version_id: versionId,
      scenario_version_id: scenario?.versionId ?? null,
      state,
      message: state === 'verified' ? null : message.slice(0, 4_000),
      return_mean: signed?.heldOut.return_mean ?? null,
      statement: signed?.statement ?? null,
      signature: signed?.signature ?? null,
      key_id: signed?.keyId ?? null,
      season_id: evaluation.season_id,
      episode_returns: signed === undefined ? null : returnsOf(agreed[0]),
    })
    .execute()
  if (scenario !== null && (state === 'verified' || state === 'mismatch'))
    await refreshStandings(services.database, query, { scenarioVersionId: scenario.versionId, ownerId: agent.ownerId })
  await refreshSolved(query, packageId)
  const { name, version } = agent
  await recordEvent(query, {
    ...{ type: 'verification.ended', accountId: agent.ownerId },
    data: { package: name, version, state, message: state === 'verified' ? null : message.slice(0, 2_000) },
  })
  if (!refund) return
  await oweRefundsOfMismatch(query, { evaluationId: evaluation.id, versionId, packageId, name, version, message })
}

/** Returns of the held-out episodes; null from a worker of an older version. */
function returnsOf({ report }: EvaluationRun): number[] | null {
  return report.results.find(({ id }) => id === 'held_out')?.episode_returns ?? null
}

/** Publishes or rejects the version, if that is still undecided. */
export async function decide(
  { database }: Services,
  query: Transaction<Schema>,
  agent: EvaluatedAgent,
  published: boolean,
  checks: VersionCheck[],
): Promise<void> {
  const { version_id: id, packageId, name, version, intendedTag } = agent
  if (id === null || packageId === null) return
  await lockPackage(database, query, name)
  const { state } = await query.selectFrom('versions').select('state').where('id', '=', id).executeTakeFirstOrThrow()
  if (state !== 'checking') return
  await decideVersion(query, { id, package_id: packageId, version, intended_tag: intendedTag, name }, published, checks)
}

export async function endEvaluation(
  query: Transaction<Schema>,
  id: string,
  evaluation: Evaluation | null,
  error: ErrorReport | null,
): Promise<void> {
  await query
    .updateTable('evaluations')
    .set({
      state: error === null ? 'completed' : 'failed',
      evaluation: evaluation === null ? null : JSON.stringify(evaluation),
      error: error === null ? null : JSON.stringify(error),
      ended_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

export function failure(message: string): ErrorReport {
  return { code: 'worker_failed', message: message.slice(0, 4_000) }
}

import type { Readable } from 'node:stream'
import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { JobBody, JobHandler, LeasedAttempt } from '../../core/queue/job-handler.ts'
import { leaseLost } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { failExhausted } from './finish-evaluation.ts'
import { findEvaluation, type PublishedTarball, subjectOf, tasksOf } from './verification-subject.ts'

/** The jobs that run an agent: to verify its version, or because somebody asked. */
export function evaluateJobs(services: Services): JobHandler {
  return {
    kind: 'evaluate',
    describe: (query, attempt) => describe(services, query, attempt),
    exhausted: (query, id) => failExhausted(services, query, id),
  }
}

async function describe(
  { config }: Services,
  query: Transaction<Schema>,
  { id, lease }: LeasedAttempt,
): Promise<JobBody | undefined> {
  const evaluation = await findEvaluation(query, id)
  if (evaluation === undefined || evaluation.ended_at !== null) return undefined
  const subject = await subjectOf(query, evaluation)
  if (subject === undefined) return undefined
  await query.updateTable('evaluations').set({ state: 'running' }).where('id', '=', id).execute()
  const { agent, scenario } = subject
  const tarball = (what: 'agent' | 'scenario', { name, version, integrity }: PublishedTarball) => ({
    ...{ name, version, integrity },
    tarball_url: `${config.publicUrl}/v1/jobs/${id}/evaluation/${what}?${new URLSearchParams({ lease })}`,
  })
  return {
    kind: 'evaluate',
    traceparent: evaluation.traceparent,
    evaluation: {
      purpose: evaluation.purpose,
      agent: tarball('agent', agent),
      scenario: scenario === null ? null : { ...tarball('scenario', scenario), hash: scenario.hash },
      tasks: tasksOf(evaluation, subject),
    },
  }
}

/** The tarball of a leased evaluation's agent or scenario. Throws `lease_lost`. */
export async function openEvaluationTarball(
  services: Services,
  id: string,
  lease: string,
  what: 'agent' | 'scenario',
): Promise<{ body: Readable; size: number }> {
  const { queue } = services
  await queue.requireActive(queue.attemptOf('evaluate', id, lease))
  const { query } = services.database
  const evaluation = await findEvaluation(query, id)
  const tarball = evaluation && (await subjectOf(query, evaluation))?.[what]
  if (!tarball) throw leaseLost()
  const object = await services.objects.stream(tarball.objectKey)
  if (object === undefined) throw new Error(`${tarball.objectKey} of ${tarball.name} is missing from the store`)
  return object
}

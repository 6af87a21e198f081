import { createHash, randomUUID } from 'node:crypto'
import type { Evaluation, EvaluationResultRequest, LeasedEvaluation, WorkerDescription } from '@agentgym/contract'
import { testServices } from '@agentgym/testkit/services'
import { agentTarball, goodAgent } from '../../../../../testdata/tarballs/good-agent.ts'
import { goodEntries } from '../../../../../testdata/tarballs/good-package.ts'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import { installationOwner } from '../../../core/queue/worker-place.ts'
import type { Services } from '../../../core/services.ts'
import { leaseJob } from '../../jobs/lease-jobs.ts'
import { noteWorker } from '../../jobs/workers.store.ts'
import type { PackageServices } from '../../packages/package-services.ts'
import { publishVersion } from '../../packages/publish-version.ts'
import { createActor, publish } from '../../packages/testing/publishing.ts'
import { evaluateJobs, finishEvaluation } from '../evaluate-jobs.ts'
import { requestVerification } from '../request-verification.ts'

/** Hash of the bundle in every good scenario. */
export const bundleHash = createHash('sha256')
  .update(Buffer.from(goodEntries().find(({ path }) => path === 'package/dist/scenario.js')?.body ?? ''))
  .digest('hex')

/** A database with one published scenario, `maze` 1.0.0 of ada, for agents to be verified on. */
export async function openVerification(open: () => Promise<Database>) {
  const database = await open()
  const services = await testServices(database)
  const ada = await createActor(database)
  await publish(services, ada, '1.0.0')
  const close = async () => {
    await database.close()
    await services.remove()
  }
  return { database, services, ada, close }
}

export type AgentOptions = {
  base?: string
  version?: string
  /** Default: `@…/maze` 1.0.0 of the actor. */
  scenario?: { name?: string; version?: string; hash?: string; success?: Record<string, number> }
  claim?: Partial<Evaluation>
  visibility?: 'public' | 'private'
}

/** What a good agent claims about a scenario; no actual run is needed. */
export function claimOf(scenario: { name: string; version: string }, change: Partial<Evaluation> = {}): Evaluation {
  return {
    ...goodAgent.evaluation,
    scenario: `${scenario.name}@${scenario.version}`,
    ...change,
  }
}

/** Uploads an agent of `actor`; returns its name and its claim. */
export async function uploadAgent(services: PackageServices, actor: Actor, options: AgentOptions = {}) {
  const { base = 'maze-ppo', version = '0.1.0', claim, visibility } = options
  const name = `@${actor.username}/${base}`
  const scenario = {
    ...goodAgent.scenario,
    name: `@${actor.username}/maze`,
    version: '1.0.0',
    hash: bundleHash,
    ...options.scenario,
  }
  const evaluation = claimOf(scenario, claim)
  const tarball = agentTarball(
    { name, version, agentgym: { kind: 'agent', title: 'Maze solver' } },
    { scenario, evaluation },
  )
  const published = await publishVersion(services, { actor, name, version, tarball, ip: null, visibility })
  return { name, version, evaluation, published }
}

/** A worker of the server itself, on a machine of that name. */
export function workerOn(machine: string): WorkerDescription {
  return {
    ...{ id: randomUUID(), name: `worker-${machine}`, cores: 1, memory_bytes: 2 ** 30, gpus: [], slots: 1 },
    ...{ price_minor_per_hour: 0, usage: { cpu: null, memory: null, gpu: null } },
    machine: createHash('sha256').update(machine).digest('hex'),
  }
}

/** Workers that the server has heard of just now; those of before are forgotten. */
export async function connectWorkers(services: Services, ...workers: WorkerDescription[]): Promise<void> {
  const { query } = services.database
  await query.deleteFrom('workers').execute()
  for (const worker of workers) await noteWorker(query, worker, { owner: installationOwner, kinds: ['evaluate'] })
}

/** The next waiting evaluation, as a worker gets it. Default: one that does not identify itself. */
export async function leaseEvaluation(
  services: Services,
  worker?: WorkerDescription,
): Promise<LeasedEvaluation | undefined> {
  const job = await leaseJob(services, [evaluateJobs(services)], { kinds: ['evaluate'], worker })
  return job?.kind === 'evaluate' ? job : undefined
}

export async function mustLease(services: Services, worker?: WorkerDescription): Promise<LeasedEvaluation> {
  const job = await leaseEvaluation(services, worker)
  if (job === undefined) throw new Error('there is no evaluation to lease')
  return job
}

/** The signature of the workers in tests. */
export const testRuntime = { node: '24.21.0', onnxruntime: '1.30.0', arch: 'x64', instructions: 'avx2' }

/** What a worker would send if it finds the claim true, with `heldOut` for the episodes with secret seeds. */
export function resultOf(
  job: LeasedEvaluation,
  claim: Evaluation,
  heldOut: Partial<Evaluation> = {},
): Omit<EvaluationResultRequest, 'lease'> {
  return {
    checks: [{ id: 'golden_batch', ok: true, message: 'finite outputs' }],
    output_hash: 'd'.repeat(64),
    results: job.evaluation.tasks.map(({ id, episodes, seed }) => ({
      id,
      evaluation: id === 'claim' ? claim : { ...claim, ...heldOut, episodes, seed },
      error: null,
    })),
    runtime: testRuntime,
  }
}

export async function finish(
  services: Services,
  job: LeasedEvaluation,
  result: Omit<EvaluationResultRequest, 'lease'>,
): Promise<void> {
  const { queue } = services
  await finishEvaluation(services, queue.attemptOf('evaluate', job.id, job.lease), result)
}

/** Uploads an agent and has it verified. */
export async function verifyAgent(
  services: PackageServices,
  actor: Actor,
  options: AgentOptions & { heldOut?: Partial<Evaluation> } = {},
) {
  const agent = await uploadAgent(services, actor, options)
  const job = await mustLease(services)
  await finish(services, job, resultOf(job, agent.evaluation, options.heldOut))
  return agent
}

/** Has the waiting evaluation run by two workers on different machines, which both find that. Resolves to its job. */
export async function runTwice(
  services: Services,
  resultFor: (job: LeasedEvaluation) => Omit<EvaluationResultRequest, 'lease'>,
): Promise<LeasedEvaluation> {
  const workers = [workerOn('one'), workerOn('two')]
  await connectWorkers(services, ...workers)
  const first = await mustLease(services, workers[0])
  await finish(services, first, resultFor(first))
  const second = await mustLease(services, workers[1])
  if (second.id !== first.id) throw new Error('another evaluation was waiting')
  await finish(services, second, resultFor(second))
  await connectWorkers(services)
  return first
}

/** The marketplace runs a published agent again, and both workers reproduce its claim, or neither does. */
export async function runAgain(
  services: Services,
  actor: Actor,
  { name, version, evaluation }: { name: string; version: string; evaluation: Evaluation },
  reproduces: boolean,
): Promise<void> {
  await requestVerification(services, { actor, name, version, traceparent: null, ip: null })
  const claim = reproduces ? evaluation : { ...evaluation, trajectory_hash: 'e'.repeat(64) }
  await runTwice(services, (job) => resultOf(job, claim))
}

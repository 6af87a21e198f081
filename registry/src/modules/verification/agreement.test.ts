import type { Evaluation, LeasedEvaluation, WorkerDescription } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { publish } from '../packages/testing/publishing.ts'
import { serverStatus } from '../runs/server-status.ts'
import { failExhausted } from './evaluate-jobs.ts'
import { clearNondeterministic } from './nondeterministic-scenarios.ts'
import { requestVerification } from './request-verification.ts'
import {
  connectWorkers,
  finish,
  leaseEvaluation,
  mustLease,
  openVerification,
  resultOf,
  runTwice,
  testRuntime,
  uploadAgent,
  verifyAgent,
  workerOn,
} from './testing/verifying.ts'
import { concludeUnanswered, retryInconclusive } from './verification.tasks.ts'
import { releaseHold } from './worker-holds.ts'

describeOnEngines('verification by agreement on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let close: () => Promise<void>
  let agents = 0

  beforeAll(async () => {
    ;({ database, services, ada, close } = await openVerification(open))
  })
  beforeEach(async () => {
    await connectWorkers(services)
    await database.query.deleteFrom('rate_limits').execute()
  })
  afterAll(() => close())

  type Uploaded = Awaited<ReturnType<typeof uploadAgent>>
  const upload = () => uploadAgent(services, ada, { base: `agent-${++agents}` })
  const shown = async ({ name }: Uploaded) => {
    const { state, verification } = await describeVersion(services, ada, name, '0.1.0')
    return { state, verified: verification?.state, message: verification?.message ?? null }
  }
  const again = ({ name, version }: Uploaded) =>
    requestVerification(services, { actor: ada, name, version, traceparent: null, ip: null })
  const lie = (evaluation: Evaluation): Evaluation => ({ ...evaluation, trajectory_hash: 'e'.repeat(64) })
  const run = async (worker: WorkerDescription | undefined, claim: Evaluation, runtime = testRuntime) => {
    const job = await mustLease(services, worker)
    await finish(services, job, { ...resultOf(job, claim), runtime })
    return job
  }
  const owed = async () =>
    Number(
      (await sql<{ count: number }>`select count(*) as count from owed_refunds`.execute(database.query)).rows[0].count,
    )

  it('names two agreeing workers, and does not lease the second run to the first machine', async () => {
    const [one, two, neighbour] = [workerOn('one'), workerOn('two'), workerOn('one')]
    await connectWorkers(services, one, two)
    const agent = await upload()
    const first = await run(one, agent.evaluation)
    expect(await shown(agent), 'it can be used; its verification goes on').toMatchObject({
      state: 'published',
      verified: 'pending',
    })
    for (const same of [one, neighbour]) expect(await leaseEvaluation(services, same)).toBeUndefined()
    const second = await run(two, agent.evaluation)
    expect(second.id).toBe(first.id)
    const { verification } = await describeVersion(services, ada, agent.name, '0.1.0')
    expect(JSON.parse(verification?.signed?.statement ?? '')).toMatchObject({
      workers: [
        { id: one.id, owner: null, runtime: testRuntime },
        { id: two.id, owner: null, runtime: testRuntime },
      ],
    })
  })

  it('an unconfirmed mismatch is inconclusive, and moves no money', async () => {
    const agent = await upload()
    await run(workerOn('one'), lie(agent.evaluation))
    expect(await shown(agent)).toEqual({
      state: 'published',
      verified: 'inconclusive',
      message: expect.stringMatching(/trajectory_hash is e+, not b+.*No second worker/),
    })
  })

  it.each<[string, (job: LeasedEvaluation, agent: Uploaded) => ReturnType<typeof resultOf>]>([
    [
      'an error',
      (job, agent) => {
        const result = resultOf(job, agent.evaluation)
        const error = { code: 'scenario_timeout' as const, message: 'step did not return.' }
        return { ...result, results: [{ ...result.results[0], evaluation: null, error }, result.results[1]] }
      },
    ],
    [
      'a model check that fails',
      (job) => ({
        ...resultOf(job, {} as Evaluation),
        checks: [{ id: 'golden_batch', ok: false, message: 'model_timeout: no answer.' }],
        output_hash: null,
        results: [],
      }),
    ],
  ])('failures of machines take nothing from a verified agent, however often: %s', async (_, resultFor) => {
    const agent = await verifyAgent(services, ada, { base: `agent-${++agents}` })
    const before = await owed()
    for (let round = 0; round < 2; round++) {
      await again(agent)
      await runTwice(services, (job) => resultFor(job, agent))
    }
    await again(agent)
    const job = await mustLease(services)
    await database.transaction(async (query) => {
      await services.queue.end(query, 'evaluate', job.id)
      await failExhausted(services, query, job.id)
    })
    expect(await shown(agent)).toMatchObject({ state: 'published', verified: 'verified' })
    expect(await owed()).toBe(before)
    const states = await database.query
      .selectFrom('verifications')
      .innerJoin('evaluations', 'evaluations.id', 'verifications.evaluation_id')
      .innerJoin('versions', 'versions.id', 'verifications.version_id')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select('verifications.state')
      .where('packages.name', '=', agent.name)
      .orderBy('verifications.created_at')
      .execute()
    expect(states.map(({ state }) => state)).toEqual(['verified', 'inconclusive', 'inconclusive', 'inconclusive'])
  })

  it('disagreeing workers with different processors decide nothing', async () => {
    const [one, two] = [workerOn('one'), workerOn('two')]
    await connectWorkers(services, one, two)
    const agent = await upload()
    await run(one, agent.evaluation)
    await run(two, lie(agent.evaluation), { ...testRuntime, instructions: 'avx512' })
    expect(await shown(agent)).toMatchObject({ verified: 'inconclusive' })
    expect((await serverStatus(services as never, ada)).held_back).toEqual([])
  })

  it('a worker contradicted by two others is held back until an operator releases it', async () => {
    const [good, bad, fair] = [workerOn('good'), workerOn('bad'), workerOn('fair')]
    await connectWorkers(services, good, bad, fair)
    const agent = await upload()
    await run(bad, lie(agent.evaluation))
    await run(good, agent.evaluation)
    await run(fair, agent.evaluation)
    expect(await shown(agent)).toMatchObject({ verified: 'verified' })
    const status = await serverStatus(services as never, ada)
    expect(status.held_back).toMatchObject([{ worker: 'worker-bad', reason: expect.stringContaining('worker-bad') }])
    expect(services.logged).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('held back') }),
    )
    const next = await upload()
    expect(await leaseEvaluation(services, workerOn('bad')), 'under another ID neither').toBeUndefined()
    await run(good, next.evaluation)
    expect(await shown(next), 'a third is waited for, not the one held back').toMatchObject({ verified: 'pending' })
    expect(await leaseEvaluation(services, bad)).toBeUndefined()
    const id = status.held_back?.[0].id ?? ''
    await expect(releaseHold(services, { actor: ada, id, ip: null })).rejects.toMatchObject({ code: 'forbidden' })
    const operator = { ...ada, operator: true }
    await releaseHold(services, { actor: operator, id, ip: null })
    await expect(releaseHold(services, { actor: operator, id, ip: null })).rejects.toMatchObject({
      code: 'worker_hold_not_found',
    })
    await run(bad, next.evaluation)
    expect(await shown(next)).toMatchObject({ verified: 'verified' })
  })

  it('the recorded runs decide if no other worker is left', async () => {
    const [one, two] = [workerOn('one'), workerOn('two')]
    await connectWorkers(services, one, two)
    const agent = await upload()
    await run(one, agent.evaluation)
    await concludeUnanswered(services)
    expect(await shown(agent), 'it may still come').toMatchObject({ verified: 'pending' })
    await connectWorkers(services, one)
    await concludeUnanswered(services)
    expect(await shown(agent)).toMatchObject({ verified: 'verified' })
    expect(await leaseEvaluation(services, two)).toBeUndefined()
  })

  it('inconclusive verifications are retried in idle time, a limited number of times', async () => {
    const agent = await upload()
    await run(undefined, lie(agent.evaluation))
    await retryInconclusive(services)
    expect(await leaseEvaluation(services), 'not at once').toBeUndefined()
    await sql`alter table verifications disable trigger verifications_fixed`.execute(database.query)
    let retries = 0
    for (let round = 0; round < 8; round++) {
      await sql`update verifications set created_at = created_at - interval '100 days'`.execute(database.query)
      await retryInconclusive(services)
      await retryInconclusive(services)
      const names: string[] = []
      // Those of other tests are among them.
      for (let job = await leaseEvaluation(services); job !== undefined; job = await leaseEvaluation(services)) {
        names.push(job.evaluation.agent.name)
        await finish(services, job, resultOf(job, lie(agent.evaluation)))
      }
      expect(new Set(names).size).toBe(names.length)
      if (names.includes(agent.name)) retries++
    }
    await sql`alter table verifications enable trigger verifications_fixed`.execute(database.query)
    expect(retries).toBe(5)
  })

  it('a nondeterministic scenario is marked, and no agent is judged by it', async () => {
    await publish(services, ada, '1.0.0', { base: 'dice' })
    const scenario = { name: `@${ada.username}/dice` }
    const agent = await uploadAgent(services, ada, { base: 'gambler', scenario })
    const repeat = { same: false, message: 'Step 3 differs.' }
    await runTwice(services, (job) => {
      const result = resultOf(job, lie(agent.evaluation))
      return { ...result, results: result.results.map((task) => ({ ...task, repeat })) }
    })
    expect(await shown(agent)).toMatchObject({
      verified: 'inconclusive',
      message: 'The claimed evaluation is not deterministic: Step 3 differs.',
    })
    const other = await uploadAgent(services, ada, { base: 'gambler-2', scenario })
    await runTwiceOrOnce(lie(other.evaluation))
    expect(await shown(other)).toMatchObject({ verified: 'inconclusive', message: expect.stringContaining('Step 3') })

    const marked = { name: scenario.name, version: '1.0.0', ip: null }
    await expect(clearNondeterministic(services, { ...marked, actor: ada })).rejects.toMatchObject({
      code: 'forbidden',
    })
    const operator = { ...ada, operator: true }
    await expect(
      clearNondeterministic(services, { ...marked, version: '9.9.9', actor: operator }),
    ).rejects.toMatchObject({ code: 'version_not_found' })
    expect(await clearNondeterministic(services, { ...marked, actor: operator })).toBe(true)
    expect(await clearNondeterministic(services, { ...marked, actor: operator })).toBe(false)
    const audit = await database.query
      .selectFrom('audit')
      .select(['subject', 'data'])
      .where('action', '=', 'scenario.clear_nondeterministic')
      .execute()
    expect(audit).toMatchObject([
      { subject: `${scenario.name}@1.0.0`, data: { message: expect.stringContaining('Step 3 differs') } },
    ])
    const third = await uploadAgent(services, ada, { base: 'gambler-3', scenario })
    await runTwiceOrOnce(third.evaluation)
    expect(await shown(third)).toMatchObject({ verified: 'verified' })
  })

  /** The first run may decide. */
  async function runTwiceOrOnce(claim: Evaluation) {
    const workers = [workerOn('one'), workerOn('two')]
    await connectWorkers(services, ...workers)
    for (const worker of workers) {
      const job = await leaseEvaluation(services, worker)
      if (job !== undefined) await finish(services, job, resultOf(job, claim))
    }
  }
})

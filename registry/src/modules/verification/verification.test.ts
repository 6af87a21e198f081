import {
  type Calibration,
  type Evaluation,
  reliabilityOf,
  type VersionDetails,
  verificationStatementSchema,
} from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import type { TestServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { yankVersion } from '../packages/change-versions.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { readSampleEpisode } from '../packages/packages.store.ts'
import { enqueueLostChecks } from '../packages/packages.tasks.ts'
import { checkAll, createActor, publish } from '../packages/testing/publishing.ts'
import { failExhausted, openEvaluationTarball } from './evaluate-jobs.ts'
import { leaderboard } from './leaderboard.ts'
import {
  bundleHash,
  finish,
  leaseEvaluation,
  mustLease,
  openVerification,
  resultOf,
  runTwice,
  testRuntime,
  uploadAgent,
  verifyAgent,
} from './testing/verifying.ts'
import { enqueueLostEvaluations } from './verification.tasks.ts'

describeOnEngines('verification on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ database, services, ada, close } = await openVerification(open))
  })
  afterAll(() => close())

  const details = (name: string, version = '0.1.0', actor: Actor | null = ada): Promise<VersionDetails> =>
    describeVersion(services, actor, name, version)

  it('re-runs an agent before publishing: the claimed and secret held-out episodes', async () => {
    const { name, evaluation, published } = await uploadAgent(services, ada)
    expect(published.state).toBe('checking')
    expect(await details(name)).toMatchObject({ state: 'checking', verification: { state: 'pending', signed: null } })
    await expect(details(name, '0.1.0', null)).rejects.toMatchObject({ code: 'package_not_found' })

    const job = await mustLease(services)
    expect(job.evaluation).toMatchObject({
      purpose: 'verification',
      agent: { name, version: '0.1.0', integrity: published.integrity },
      scenario: { name: `@${ada.username}/maze`, version: '1.0.0', hash: bundleHash },
      tasks: [
        { id: 'claim', episodes: evaluation.episodes, seed: evaluation.seed },
        { id: 'held_out', episodes: 100 },
      ],
    })
    expect(job.evaluation.tasks[1].seed).not.toBe(evaluation.seed)
    expect(await leaseEvaluation(services), 'one job only').toBeUndefined()
    for (const what of ['agent', 'scenario'] as const) {
      const { body, size } = await openEvaluationTarball(services, job.id, job.lease, what)
      expect((await body.toArray()).reduce((sum, bytes) => sum + bytes.length, 0)).toBe(size)
      await expect(openEvaluationTarball(services, job.id, '0.stolen', what)).rejects.toMatchObject({
        code: 'lease_lost',
      })
    }
    await finish(services, job, resultOf(job, evaluation, { return_mean: 0.5 }))
    const { state, checks, verification, agent } = await details(name, '0.1.0', null)
    expect(agent).toMatchObject({ scenario: { name: `@${ada.username}/maze`, version: '1.0.0' }, evaluation })
    expect(agent).not.toHaveProperty('settings')
    expect({ state, checks }).toEqual({
      state: 'published',
      checks: [{ id: 'golden_batch', ok: true, message: 'finite outputs' }],
    })
    expect(verification).toMatchObject({ state: 'verified', message: null })
    expect(JSON.parse(verification?.signed?.statement ?? '')).toMatchObject({
      type: 'agentgym-verification-2',
      server: 'http://localhost:4477',
      key_id: verification?.signed?.key_id,
      agent: { name, version: '0.1.0', integrity: published.integrity },
      claim: evaluation,
      held_out: { return_mean: 0.5, episodes: 100, seed: null },
      season: { id: expect.any(String), commitment: expect.stringMatching(/^[0-9a-f]{64}$/) },
      workers: [{ id: 'unknown', owner: null, runtime: testRuntime }],
      task_set: null,
      output_hash: 'd'.repeat(64),
      runtime: { node: '24.21.0' },
    })
    await expect(finish(services, job, resultOf(job, evaluation))).rejects.toMatchObject({ code: 'lease_lost' })
  })

  it('the same model on the same scenario gets the same held-out seed, whatever its name', async () => {
    const seeds: number[] = []
    for (const base of ['again', 'and-again']) {
      const { evaluation } = await uploadAgent(services, ada, { base })
      const job = await mustLease(services)
      seeds.push(job.evaluation.tasks[1].seed)
      await finish(services, job, resultOf(job, evaluation))
    }
    expect(seeds[0]).toBe(seeds[1])
  })

  it.each<[string, Partial<Evaluation>, RegExp]>([
    ['the return, in its last bit', { return_mean: 0.1 + 0.2 }, /return_mean is 0\.30000000000000004, not 0\.95/],
    ['an action', { trajectory_hash: 'e'.repeat(64) }, /trajectory_hash is e+, not b+/],
    ['a metric that is not there', { metrics: { solved: 1 } }, /metrics\.solved is 1, not nothing/],
    ['the criteria', { success: { ok: false, criteria: [] } }, /success is false, not true/],
  ])('a claim that did not come out is recorded as such: %s', async (what, change, message) => {
    const { name, evaluation } = await uploadAgent(services, ada, { base: `lie-${what.length}` })
    await runTwice(services, (job) => resultOf(job, { ...evaluation, ...change }))
    const { state, verification } = await details(name, '0.1.0', null)
    expect(state, 'it can be used, but is not verified').toBe('published')
    expect(verification).toMatchObject({ state: 'mismatch', signed: null, message: expect.stringMatching(message) })
  })

  describe('calibration', () => {
    const calibrationOf = (succeeded: number): Calibration => {
      const made = Array.from({ length: 10 }, (_, i) => ({ predicted: 0.75, succeeded: i < succeeded }))
      return { choices: 10, succeeded, probability: reliabilityOf(made), confidence: reliabilityOf(made) }
    }
    const signedOf = async (name: string) =>
      verificationStatementSchema.parse(
        JSON.parse((await details(name, '0.1.0', null)).verification?.signed?.statement ?? ''),
      )

    it('is reproduced and signed, in a statement of its own type', async () => {
      const claim = { calibration: calibrationOf(8) }
      const { name, evaluation } = await uploadAgent(services, ada, { base: 'calibrated', claim })
      await runTwice(services, (job) => resultOf(job, evaluation, { calibration: calibrationOf(7) }))
      const statement = await signedOf(name)
      expect(statement.type).toBe('agentgym-verification-3')
      expect(statement.claim.calibration).toEqual(calibrationOf(8))
      expect(statement.held_out.calibration).toEqual(calibrationOf(7))
    })

    it('is measured for an agent that claims none, in statements that older clients read without it', async () => {
      const { name, evaluation } = await uploadAgent(services, ada, { base: 'older' })
      await runTwice(services, (job) => resultOf(job, evaluation))
      expect((await signedOf(name)).type).toBe('agentgym-verification-2')
      const other = await uploadAgent(services, ada, { base: 'older-still' })
      await runTwice(services, (job) =>
        resultOf(job, { ...other.evaluation, calibration: calibrationOf(8) }, { calibration: calibrationOf(7) }),
      )
      expect(await signedOf(other.name)).toMatchObject({
        type: 'agentgym-verification-3',
        held_out: { calibration: calibrationOf(7) },
      })
    })

    it.each<[string, Calibration | undefined, RegExp]>([
      ['another one', calibrationOf(7), /calibration\.succeeded is 7, not 8/],
      ['none', undefined, /calibration\.choices is nothing, not 10/],
    ])('is part of the claim: workers that find %s contradict it', async (what, found, message) => {
      const claim = { calibration: calibrationOf(8) }
      const { name, evaluation } = await uploadAgent(services, ada, { base: `boast-${what.length}`, claim })
      await runTwice(services, (job) => resultOf(job, { ...evaluation, calibration: found }))
      expect((await details(name, '0.1.0', null)).verification).toMatchObject({
        state: 'mismatch',
        message: expect.stringMatching(message),
      })
    })

    it('comes with baselines, which are reproduced and signed likewise', async () => {
      const baselineOf = (solved: number) => [
        { player: 'rules' as const, return_mean: 1, length_mean: 2, metrics: { solved }, success: null },
      ]
      const claim = { baselines: baselineOf(0.5) }
      const { name, evaluation } = await uploadAgent(services, ada, { base: 'compared', claim })
      await runTwice(services, (job) => resultOf(job, evaluation, { baselines: baselineOf(0.4) }))
      expect(await signedOf(name)).toMatchObject({
        ...{ type: 'agentgym-verification-3', claim, held_out: { baselines: baselineOf(0.4) } },
      })
      const other = await uploadAgent(services, ada, { base: 'strawman', claim })
      await runTwice(services, (job) => resultOf(job, { ...other.evaluation, baselines: baselineOf(0.6) }))
      expect((await details(other.name, '0.1.0', null)).verification).toMatchObject({
        ...{ state: 'mismatch', message: expect.stringContaining('baselines.0.metrics.solved is 0.6, not 0.5') },
      })
    })

    it('is not signed where workers differ in it alone, and decides nothing', async () => {
      const { name, evaluation } = await uploadAgent(services, ada, { base: 'rounded' })
      let runs = 0
      await runTwice(services, (job) => {
        runs += 1
        return resultOf(job, evaluation, { calibration: calibrationOf(6 + runs) })
      })
      const statement = await signedOf(name)
      expect(statement).toMatchObject({ type: 'agentgym-verification-2', workers: [{}, {}] })
      expect(statement.held_out).not.toHaveProperty('calibration')
    })
  })

  it('reports a mismatch if the success criteria differ from the scenario’s', async () => {
    const { name } = await verifyAgent(services, ada, { base: 'easy', scenario: { success: { return_mean: -1e9 } } })
    expect((await details(name)).verification).toMatchObject({
      state: 'mismatch',
      message: expect.stringContaining('criteria'),
    })
  })

  it('rejects a model that fails its checks, and its version number cannot be reused', async () => {
    const { name } = await uploadAgent(services, ada, { base: 'broken' })
    const job = await mustLease(services)
    const checks = [{ id: 'golden_batch', ok: false, message: 'model_timeout: it did not answer.' }]
    await finish(services, job, { checks, output_hash: null, results: [], runtime: {} })
    expect(await details(name)).toMatchObject({
      state: 'rejected',
      checks,
      verification: { state: 'failed', message: 'model_timeout: it did not answer.' },
    })
    await expect(uploadAgent(services, ada, { base: 'broken', claim: { return_mean: 0 } })).rejects.toMatchObject({
      code: 'version_exists',
    })
  })

  it('publishes an agent that cannot be run to the end, with an inconclusive verification', async () => {
    const { name, evaluation } = await uploadAgent(services, ada, { base: 'fails' })
    const job = await mustLease(services)
    const result = resultOf(job, evaluation)
    const error = { code: 'scenario_timeout' as const, message: 'step did not return.' }
    result.results[1] = { id: 'held_out', evaluation: null, error }
    await finish(services, job, result)
    expect(await details(name)).toMatchObject({
      state: 'published',
      verification: { state: 'inconclusive', message: 'The held-out evaluation failed: step did not return.' },
    })
  })

  it('cannot run a missing, different or inaccessible scenario', async () => {
    const bob = await createActor(database)
    await publish(services, bob, '1.0.0', { base: 'secret', visibility: 'private' })
    const named = `@${bob.username}/secret`
    for (const [base, scenario] of [
      ['nowhere', { name: '@nobody/maze' }],
      ['other-version', { version: '2.0.0' }],
      ['other-bytes', { hash: 'a'.repeat(64) }],
      ['not-mine', { name: named }],
    ] as const) {
      const { name } = await uploadAgent(services, ada, { base, scenario })
      const job = await mustLease(services)
      expect(job.evaluation, base).toMatchObject({ scenario: null, tasks: [] })
      await expect(openEvaluationTarball(services, job.id, job.lease, 'scenario')).rejects.toMatchObject({
        code: 'lease_lost',
      })
      const checks = [{ id: 'golden_batch', ok: true, message: 'finite outputs' }]
      await finish(services, job, { checks, output_hash: 'd'.repeat(64), results: [], runtime: {} })
      expect(await details(name), base).toMatchObject({
        state: 'published',
        verification: { state: 'unavailable', signed: null },
      })
    }
    const environment = { kind: 'gymnasium', id: 'LunarLander-v3', versions: { gymnasium: '1.4.0' } } as const
    const trained = { name: 'gymnasium:LunarLander-v3', version: '1.4.0', environment }
    const lander = await uploadAgent(services, ada, { base: 'lander', scenario: trained })
    const job = await mustLease(services)
    const checks = [{ id: 'golden_batch', ok: true, message: 'finite outputs' }]
    await finish(services, job, { checks, output_hash: 'd'.repeat(64), results: [], runtime: {} })
    expect(await details(lander.name)).toMatchObject({
      state: 'published',
      verification: {
        state: 'unavailable',
        message: expect.stringContaining('Environment not in the registry: not verifiable.'),
      },
    })
    const { name } = await verifyAgent(services, bob, { base: 'own', scenario: { name: named } })
    expect((await details(name, '0.1.0', bob)).verification).toMatchObject({ state: 'verified' })
  })

  it('keeps an agent’s first episode for pictures, except for private scenarios', async () => {
    await publish(services, ada, '1.0.0', { base: 'hidden', visibility: 'private' })
    const episode = sampleEpisode({ policy: 'agent' })
    const verified = async (base: string, scenario = {}) => {
      const { name, evaluation } = await uploadAgent(services, ada, { base, scenario })
      const job = await mustLease(services)
      expect(job.evaluation.tasks).toHaveLength(2)
      await finish(services, job, { ...resultOf(job, evaluation), sample_episode: episode })
      expect((await details(name)).verification).toMatchObject({ state: 'verified' })
      return name
    }
    const open = await verified('drawn')
    expect(await readSampleEpisode(database.query, null, open, '0.1.0')).toEqual(episode)
    const hidden = await verified('undrawn', { name: `@${ada.username}/hidden` })
    await expect(readSampleEpisode(database.query, ada, hidden, '0.1.0')).rejects.toMatchObject({
      code: 'sample_episode_not_found',
    })
  })

  it('rejects a result for other tasks than the job’s', async () => {
    const { name, evaluation } = await uploadAgent(services, ada, { base: 'swapped' })
    const job = await mustLease(services)
    const good = resultOf(job, evaluation)
    for (const results of [
      [],
      good.results.slice(0, 1),
      [...good.results].reverse(),
      [good.results[0], { ...good.results[1], evaluation }],
      [good.results[0], { ...good.results[1], evaluation: null }],
    ])
      await expect(finish(services, job, { ...good, results })).rejects.toMatchObject({ code: 'request_invalid' })
    expect((await details(name)).state).toBe('checking')
    await finish(services, job, good)
    expect((await details(name)).verification).toMatchObject({ state: 'verified' })
  })

  it('rejects the version once after exhausted attempts', async () => {
    const { name } = await uploadAgent(services, ada, { base: 'exhausts' })
    const job = await mustLease(services)
    await database.transaction((query) => failExhausted(services, query, job.id))
    await database.transaction((query) => failExhausted(services, query, job.id))
    expect(await details(name)).toMatchObject({
      state: 'rejected',
      checks: [{ id: 'checker_failed', ok: false }],
      verification: { state: 'failed', signed: null },
    })
    const { queue } = services
    await database.transaction((query) => queue.end(query, 'evaluate', job.id))
  })

  it('recreates the lost job of an evaluation, not a check', async () => {
    const { name, evaluation } = await uploadAgent(services, ada, { base: 'lost' })
    await database.execute("delete from jobs where kind = 'evaluate'", [])
    expect(await leaseEvaluation(services)).toBeUndefined()
    await enqueueLostChecks(services)
    expect(await checkAll(services), 'an agent has no check').toEqual([])
    await enqueueLostEvaluations(services)
    await enqueueLostEvaluations(services)
    const job = await mustLease(services)
    await finish(services, job, resultOf(job, evaluation))
    expect((await details(name)).verification).toMatchObject({ state: 'verified' })
    expect(await leaseEvaluation(services)).toBeUndefined()
  })

  it('ranks verified agents by held-out return: the latest version per package, none yanked or private', async () => {
    const eve = await createActor(database)
    await publish(services, eve, '1.0.0')
    const scenario = { name: `@${eve.username}/maze` }
    const add = (
      base: string,
      version: string,
      returnMean: number,
      more: Partial<Parameters<typeof verifyAgent>[2]> = {},
    ) => verifyAgent(services, eve, { base, version, scenario, heldOut: { return_mean: returnMean }, ...more })
    await add('good', '0.1.0', 0.5)
    await add('good', '0.2.0', 0.9)
    await add('good', '0.3.0', 0.7)
    await add('best', '0.1.0', 0.95)
    await add('hidden', '0.1.0', 2, { visibility: 'private' })
    await add('yanked', '0.1.0', 3)
    await yankVersion(services, { actor: eve, name: `@${eve.username}/yanked`, ip: null }, '0.1.0')
    const liar = await uploadAgent(services, eve, { base: 'liar', scenario })
    await runTwice(services, (job) => resultOf(job, { ...liar.evaluation, return_mean: 4 }))

    const request = { actor: null, name: scenario.name, version: '1.0.0', limit: 25 }
    const { entries, next } = await leaderboard(database.query, request)
    expect(entries.map(({ rank, agent, return_mean }) => [rank, agent.name, agent.version, return_mean])).toEqual([
      [1, `@${eve.username}/best`, '0.1.0', 0.95],
      [2, `@${eve.username}/good`, '0.3.0', 0.7],
    ])
    expect(entries[0]).toMatchObject({
      attempts: 7,
      publisher: eve.username,
      episodes: 100,
      steps: 1_000,
      agent: { algorithm: 'ppo', title: 'Maze solver' },
    })
    expect(next).toBeNull()
    const first = await leaderboard(database.query, { ...request, limit: 1 })
    expect(first).toMatchObject({ entries: [{ rank: 1 }], next: '1' })
    expect(await leaderboard(database.query, { ...request, limit: 1, cursor: '1' })).toMatchObject({
      entries: [{ rank: 2 }],
      next: null,
    })
    for (const cursor of ['-1', 'x', '99999999', '1e3'])
      await expect(leaderboard(database.query, { ...request, cursor })).rejects.toMatchObject({
        code: 'request_invalid',
      })
    await expect(leaderboard(database.query, { ...request, version: '9.0.0' })).rejects.toMatchObject({
      code: 'version_not_found',
    })
  })
})

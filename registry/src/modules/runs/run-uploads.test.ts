import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import { goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import type { Database } from '../../core/database/database.ts'
import { sweepObjects } from '../packages/packages.tasks.ts'
import { listEpisodes, readEpisode } from './run-episodes.ts'
import { expireRunData } from './runs.tasks.ts'
import {
  chargesOf,
  completed,
  eventsOf,
  expectGapless,
  mustTakeTurn,
  openTraining,
  runOf,
  silence,
  startRun,
  type Training,
  typesOf,
} from './testing/train.ts'

describeOnEngines('what a run leaves on $kind', ({ open }) => {
  let database: Database
  let training: Training

  beforeAll(async () => {
    database = await open()
    training = await openTraining(database)
  })
  afterAll(async () => {
    await database.close()
    await training.services.remove()
  })

  it('refuses gaps and damaged checkpoints without any change', async () => {
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    await turn.train(2)
    const before = await runOf(training.services, id)
    const invalid = { code: 'request_invalid' }
    turn.iteration = 3
    await expect(turn.train()).rejects.toMatchObject({ ...invalid, data: { field: 'points', expected: 3 } })
    await expect(turn.save()).rejects.toMatchObject({ ...invalid, data: { field: 'iteration' } })
    turn.iteration = 2
    await expect(turn.save(0, Buffer.alloc(1_000_001))).rejects.toMatchObject({ code: 'request_too_large' })
    await expect(turn.upload(Buffer.from('no tarball'))).rejects.toMatchObject({ code: 'tarball_not_gzip' })
    await expect(turn.end(completed('sha512-none'))).rejects.toMatchObject(invalid)
    await expect(turn.end({ state: 'budget_exceeded' })).rejects.toMatchObject(invalid)
    expect({ ...(await runOf(training.services, id)) }).toEqual(before)
    await turn.end({
      state: 'failed',
      error: { code: 'scenario_threw', message: 'x', data: { trace: 'y'.repeat(9_000) } },
    })
    expect((await runOf(training.services, id)).error).toEqual({ code: 'scenario_threw', message: 'x' })
  })

  it('keeps the last checkpoints, and each once', async () => {
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    for (let iteration = 0; iteration < 5; iteration++) {
      await turn.train()
      await turn.save()
      await turn.save()
    }
    const checkpoints = database.query.selectFrom('checkpoints').select('iteration').where('run_id', '=', id)
    expect((await checkpoints.orderBy('iteration').execute()).map(({ iteration }) => iteration)).toEqual([3, 4, 5])
    expect((await typesOf(training.services, id)).filter((type) => type === 'checkpoint')).toHaveLength(5)
    await turn.complete()
  })

  it('keeps an evaluation once, also for repeated iterations', async () => {
    const id = await startRun(training)
    const { evaluation } = goodAgent
    const evaluationsOf = (...iterations: number[]) => ({
      evaluations: iterations.map((iteration) => ({ iteration, steps: iteration * 2048, evaluation })),
    })
    const first = await mustTakeTurn(training)
    await first.train(3, 0, evaluationsOf(2, 1))
    await silence(training, id)
    const second = await mustTakeTurn(training)
    await second.train(4, 0, evaluationsOf(1, 2, 3, 3))
    await second.train(1, 0, evaluationsOf(4))
    await second.complete()
    const events = await eventsOf(training.services, id)
    const placed = events.flatMap(({ type, data }) =>
      type === 'progress' || type === 'evaluation' ? [`${type} ${(data as { iteration: number }).iteration}`] : [],
    )
    expect(placed).toEqual([
      'progress 1',
      'evaluation 1',
      'progress 2',
      'evaluation 2',
      'progress 3',
      'evaluation 3',
      'progress 4',
      'evaluation 4',
      'progress 5',
    ])
    await expectGapless(training.services, id)
  })

  it('stores sampled trajectories as an object, rows and previews, each once', async () => {
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    await turn.train()
    await turn.sample(0, 250)
    await turn.sample(0, 250)
    await turn.sample(1, 2)
    const rows = await database.query.selectFrom('trajectories').selectAll().where('run_id', '=', id).execute()
    expect(rows.map(({ environment, length, line }) => [environment, length, line]).sort()).toEqual([
      [0, 250, 0],
      [1, 2, 0],
    ])
    const long = rows.find(({ length }) => length === 250)
    const steps = await database.query
      .selectFrom('trajectory_steps')
      .selectAll()
      .where('trajectory_id', '=', long?.id ?? '')
      .execute()
    expect(steps).toHaveLength(200)
    expect(steps[0]).toMatchObject({ observation: [0.5, 1], action: [1], reward: 1, terminated: false })
    const [line] = Buffer.from((await training.services.objects.get(long?.object_key ?? '')) ?? [])
      .toString()
      .split('\n')
    expect(JSON.parse(line)).toMatchObject({ environment: 0, length: 250, steps: { length: 250 } })
    await turn.complete()
  })

  it('keeps twelve sampled episodes, each once, and none of a worker that has lost its lease', async () => {
    const id = await startRun(training)
    const kept = async () => (await listEpisodes(database.query, id)).map(({ iteration }) => iteration)
    const first = await mustTakeTurn(training)
    for (let i = 0; i < 6; i++) {
      await first.train()
      await first.sampleEpisode()
    }
    await silence(training, id)
    const second = await mustTakeTurn(training)
    await expect(first.sampleEpisode(sampleEpisode({ end: 'cut' }))).rejects.toMatchObject({ code: 'lease_lost' })
    // It goes on from no checkpoint, and repeats what is known.
    for (let i = 0; i < 24; i++) {
      await second.train()
      await second.sampleEpisode()
      const episodes = await kept()
      expect(episodes.length).toBe(Math.min(12, Math.max(6, second.iteration)))
      expect([episodes[0], episodes.at(-1)]).toEqual([1, Math.max(6, second.iteration)])
    }
    expect(await kept()).toEqual((await kept()).toSorted((a, b) => a - b))
    expect((await listEpisodes(database.query, id))[0]).toEqual({ iteration: 1, steps: 2048, return: 0.5, length: 2 })
    expect(await readEpisode(database.query, id, 24)).toEqual(sampleEpisode({ policy: 'agent' }))
    await expect(readEpisode(database.query, id, 25)).rejects.toMatchObject({ code: 'run_episode_not_found' })
    await second.complete()
    await expect(second.sampleEpisode()).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await kept()).toHaveLength(12)
  })

  it('deletes data of runs after the retention, rows first, and no referenced object', async () => {
    const { services } = training
    const id = await startRun(training)
    const turn = await mustTakeTurn(training)
    for (let iteration = 0; iteration < 3; iteration++) {
      await turn.train()
      await turn.save()
    }
    await turn.sample()
    await turn.sampleEpisode()
    const left = async () => {
      const count = (table: 'checkpoints' | 'trajectories' | 'training_metrics') =>
        database.query.selectFrom(table).select('run_id').where('run_id', '=', id).execute()
      const rows = [await count('checkpoints'), await count('trajectories'), await count('training_metrics')]
      expect(await listEpisodes(database.query, id)).toHaveLength(rows[2].length === 0 ? 0 : 1)
      return rows.map(({ length }) => length)
    }
    const keysOf = async () => {
      const { rows } = await sql<{ key: string }>`
        select object_key as key from checkpoints where run_id = ${id} union
        select object_key from trajectories where run_id = ${id} union
        select agent_object_key from training_runs where id = ${id} and agent_object_key is not null`.execute(
        database.query,
      )
      return rows.map(({ key }) => key)
    }
    const has = (keys: string[]) => Promise.all(keys.map((key) => services.objects.has(key)))
    const inTwoHours = new Date(Date.now() + 7_200_000)
    await expireRunData(services)
    expect(await left()).toEqual([3, 1, 3])
    await turn.complete()
    const allKeys = await keysOf()
    expect(allKeys).toHaveLength(5)
    await sweepObjects(services, inTwoHours)
    expect(await has(allKeys)).toEqual([true, true, true, true, true])

    await expireRunData(services)
    expect(await left()).toEqual([1, 1, 3])
    await sql`update training_runs set ended_at = now() - interval '31 days' where id = ${id}`.execute(database.query)
    await expireRunData(services)
    expect(await left()).toEqual([0, 0, 3])
    await sweepObjects(services, inTwoHours)
    const kept = await keysOf()
    expect(kept).toEqual([(await runOf(services, id)).agent_object_key])
    expect((await has(allKeys)).filter(Boolean)).toHaveLength(1)
    await sql`update training_runs set ended_at = now() - interval '366 days' where id = ${id}`.execute(database.query)
    await expireRunData(services)
    expect(await left()).toEqual([0, 0, 0])
    expect(await chargesOf(services, id)).toHaveLength(1)
  })
})

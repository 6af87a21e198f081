import { type SampleEpisode, sampleEpisodeSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { finishCheck } from './check-jobs.ts'
import { keepSampleEpisode, readSampleEpisode } from './packages.store.ts'
import { createActor, leaseCheck, upload } from './testing/publishing.ts'

describeOnEngines('sample episodes on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let name: string

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  beforeEach(async () => {
    ada = await createActor(database)
    name = `@${ada.username}/maze`
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const check = async (version: string, sample: SampleEpisode | null, { ok = true, ...more } = {}) => {
    await upload(services, ada, version, more)
    const job = await leaseCheck(services)
    if (job === undefined) throw new Error('no job')
    const { queue } = services
    const report = { ok, name, version, checks: [{ id: 'loads', ok, message: 'It loads.' }] }
    await finishCheck(services, queue.attemptOf('check', job.id, job.lease), report, sample)
    return job.id
  }
  const read = (version: string, actor: Actor | null = null) => readSampleEpisode(database.query, actor, name, version)
  const missing = { code: 'sample_episode_not_found' }

  it('is the recorded episode, for everyone who may read the version', async () => {
    const episode = sampleEpisode({ view: { kind: 'lines', labels: ['x'] } })
    await check('1.0.0', episode)
    await check('1.1.0', null)
    expect(await read('1.0.0')).toEqual(episode)
    expect(await readSampleEpisode(database.query, null, name.toUpperCase(), '1.0.0')).toEqual(episode)
    await expect(read('1.1.0')).rejects.toMatchObject(missing)
    await expect(read('9.0.0')).rejects.toMatchObject({ code: 'version_not_found' })
  })

  it('of a private package is visible to members; a rejected version has none', async () => {
    await check('1.0.0', sampleEpisode(), { visibility: 'private' } as object)
    const stranger = await createActor(database)
    expect(await read('1.0.0', ada)).toEqual(sampleEpisode())
    for (const actor of [null, stranger, { ...ada, scopes: new Set(['packages:publish'] as const) }])
      await expect(read('1.0.0', actor)).rejects.toMatchObject({ code: 'package_not_found' })
    await check('1.1.0', sampleEpisode(), { ok: false })
    await expect(read('1.1.0', ada)).rejects.toMatchObject(missing)
  })

  it('keeps the first one', async () => {
    const id = await check('1.0.0', sampleEpisode())
    await keepSampleEpisode(database.query, id, sampleEpisode({ end: 'cut' }))
    expect((await read('1.0.0')).end).toBe('terminated')
  })

  it('keeps any untrusted text unchanged', async () => {
    const id = await check('1.0.0', null)
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    const seen = fc.record({
      observation: fc.array(number, { maxLength: 5 }),
      texts: fc.array(text, { maxLength: 4 }),
    })
    const step = fc.record({ seen, action: fc.array(number, { maxLength: 3 }), reward: number })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), seen, async (steps, last) => {
        const given = sampleEpisode({ steps: steps.map(({ seen, ...rest }) => ({ ...seen, ...rest })), last })
        const parsed = sampleEpisodeSchema.safeParse(given)
        // What the schema takes, the database must take.
        if (!parsed.success) return
        await database.query.deleteFrom('sample_episodes').where('version_id', '=', id).execute()
        await keepSampleEpisode(database.query, id, parsed.data)
        expect(await read('1.0.0')).toEqual(JSON.parse(JSON.stringify(given)))
      }),
      { numRuns: 60 },
    )
  })
})

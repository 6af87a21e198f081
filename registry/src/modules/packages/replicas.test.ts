import { postgresql } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { JobQueue } from '../../core/queue/job-queue.ts'
import { setTag, yankVersion } from './change-versions.ts'
import { describeVersions } from './describe-versions.ts'
import { sweepObjects } from './packages.tasks.ts'
import { packumentOf } from './packument.ts'
import { checkAll, createActor, leaseCheck, upload } from './testing/publishing.ts'

/** Two replicas as two processes have them: a pool, a queue and a sweeper each, one PostgreSQL and one store. */
let databases: Database[]
let replicas: TestServices[]
let ada: Actor

beforeAll(async () => {
  const address = await postgresql.create()
  databases = [await openDatabase(address), await openDatabase(address)]
  const first = await testServices(databases[0])
  replicas = [first, { ...first, database: databases[1], queue: new JobQueue(databases[1], first.config.secret) }]
  ada = await createActor(databases[0])
})
afterAll(async () => {
  for (const database of databases) {
    await database.close()
  }
  await replicas[0].remove()
})

const of = (index: number) => replicas[index % replicas.length]
const isFulfilled = ({ status }: PromiseSettledResult<unknown>) => status === 'fulfilled'

it('ten versions published through two replicas: all ten with their own bytes, and one latest', async () => {
  const versions = Array.from({ length: 10 }, (_, index) => `1.0.${index}`)
  const answers = await Promise.all(versions.map((version, index) => upload(of(index), ada, version)))
  const decided = (await Promise.all(replicas.map((replica) => checkAll(replica)))).flat()
  expect(new Set(decided).size).toBe(10)
  const packument = await packumentOf(of(0), null, `@${ada.username}/maze`)
  expect(packument['dist-tags'].latest).toBe('1.0.9')
  for (const { version, integrity } of answers)
    expect(packument.versions[version]).toMatchObject({ version, dist: { integrity } })
})

it('one version published through two replicas: one wins', async () => {
  const attempts = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) =>
      upload(of(index), ada, '2.0.0', { base: 'one', manifest: { author: String(index) } }),
    ),
  )
  expect(attempts.filter(isFulfilled)).toHaveLength(1)
  expect((await Promise.all(replicas.map((replica) => checkAll(replica)))).flat()).toHaveLength(1)
})

it('the same bytes through two replicas: one version, one job, the same response', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => upload(of(index), ada, '1.0.0', { base: 'same' })),
  )
  expect(new Set(answers.map(({ integrity }) => integrity)).size).toBe(1)
  expect((await Promise.all(replicas.map((replica) => checkAll(replica)))).flat()).toHaveLength(1)
})

it('no job goes to two workers across replicas', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, index) => upload(of(index), ada, `1.0.${index}`, { base: 'jobs' })))
  const jobs = await Promise.all(Array.from({ length: 16 }, (_, index) => leaseCheck(of(index))))
  const ids = jobs.flatMap((job) => (job === undefined ? [] : [job.id]))
  expect(new Set(ids).size).toBe(8)
  expect(ids).toHaveLength(8)
  const queue = of(1).queue
  for (const job of jobs) {
    if (job === undefined) continue
    const attempt = queue.attemptOf('check', job.id, job.lease)
    await of(1).database.transaction((query) => queue.hold(query, attempt))
  }
})

it('concurrent tagging and yanking never leaves a tag on a yanked version', async () => {
  const name = `@${ada.username}/race`
  const versions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0']
  for (const version of versions) await upload(of(0), ada, version, { base: 'race' })
  await checkAll(of(0))
  const change = { actor: ada, name, ip: null }
  await Promise.allSettled([
    ...versions.map((version, index) => setTag(of(index), change, 'stable', version)),
    ...versions.slice(1).map((version, index) => yankVersion(of(index), change, version)),
    ...versions.map((version, index) => setTag(of(index + 1), change, 'latest', version)),
    ...Array.from({ length: 4 }, (_, index) => sweepObjects(of(index), new Date(Date.now() + 7_200_000))),
  ])
  const list = await describeVersions(of(1).database.query, null, name)
  const open = list.versions.filter(({ yanked }) => !yanked).map(({ version }) => version)
  expect(open).toEqual(['1.0.0'])
  for (const version of Object.values(list.tags)) expect(open).toContain(version)
})

import { randomInt } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { openPatiently } from '@agentgym/testkit/databases'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAppServices } from '../../app/app-services.ts'
import type { Database } from '../../core/database/database.ts'
import { isOver } from './run-state.ts'
import { settleLostLeases } from './runs.tasks.ts'
import {
  cancel,
  chargesOf,
  expectGapless,
  openTraining,
  runOf,
  silence,
  startRun,
  type Training,
  type Turn,
  takeTurn,
  typesOf,
} from './testing/train.ts'
import { trainJobs } from './train-jobs.ts'

/** Two replicas as two processes have them: a pool and a queue each, one PostgreSQL and one store. */
let databases: Database[]
let replicas: Training[]

beforeAll(async () => {
  const url = await createPostgresqlDatabase()
  databases = [await openPatiently({ url }), await openPatiently({ url })]
  const first = await openTraining(databases[0])
  const services = openAppServices({ ...first.services, database: databases[1] })
  const second = { ...first, services, queue: services.queue, handlers: [trainJobs(services)] }
  replicas = [first, second]
})
afterAll(async () => {
  for (const database of databases) {
    await database.close()
  }
  await replicas[0].services.remove()
})

const any = () => replicas[randomInt(replicas.length)]
const chance = (percent: number) => randomInt(100) < percent

/** Losing the lease or coming too late to cancel is what may happen; anything else is a fault. */
async function mayFail(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    const expected = error instanceof AgentGymError && ['lease_lost', 'run_state_conflict'].includes(error.code)
    if (!expected) throw error
    return false
  }
}

it('200 runs and eight workers on two replicas: each is run once', async () => {
  const ids = new Set<string>()
  for (let index = 0; index < 200; index++) ids.add(await startRun(replicas[index % 2]))
  const done: string[] = []
  const work = async (training: Training) => {
    for (let turn = await takeTurn(training); turn !== undefined; turn = await takeTurn(training)) {
      await turn.train()
      done.push(turn.id)
      expect(await turn.complete(1)).toBe('completed')
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, index) => work(replicas[index % 2])))
  expect(done).toHaveLength(200)
  expect(new Set(done)).toEqual(ids)
  const charges = await databases[0].query.selectFrom('training_charges').select('amount_minor').execute()
  expect(charges.map(({ amount_minor: amount }) => amount)).toEqual(Array.from({ length: 200 }, () => 1))
}, 600_000)

it('vanishing workers, expired leases and cancellations: one end and one charge each, no gaps or duplicates', async () => {
  const ids: string[] = []
  for (let index = 0; index < 16; index++) {
    const name = `${replicas[0].scenario}-${index}`
    ids.push(await startRun(any(), index % 2 === 0 ? { publish: { name, summary: 'Finds the way out.' } } : {}))
  }
  const unfinished = async () => {
    const runs = await Promise.all(ids.map((id) => runOf(replicas[0].services, id)))
    return runs.filter(({ state }) => !isOver(state)).map(({ id }) => id)
  }
  let open = ids
  const zombies: Turn[] = []
  const worker = async () => {
    while (open.length > 0) {
      const turn = await takeTurn(any())
      if (turn === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
      else await mayFail(() => liveThrough(turn, zombies))
    }
  }
  const chaos = async () => {
    while (open.length > 0) {
      open = await unfinished()
      const id = open[randomInt(Math.max(1, open.length))]
      if (id !== undefined && chance(70)) await silence(any(), id)
      if (id !== undefined && chance(3)) await mayFail(() => cancel(any(), id))
      await settleLostLeases(any().services)
      const zombie = zombies.splice(randomInt(Math.max(1, zombies.length)), 1).at(0)
      if (zombie !== undefined) await mayFail(() => (chance(50) ? zombie.train(1, 500) : zombie.complete(500)))
    }
  }
  await Promise.all([worker(), worker(), worker(), worker(), chaos(), chaos()])
  for (const zombie of zombies) await mayFail(() => zombie.complete())
  for (const id of ids) {
    await expectGapless(replicas[0].services, id)
    expect(await chargesOf(replicas[0].services, id)).toHaveLength(1)
    const types = await typesOf(replicas[0].services, id)
    expect(types.filter((type) => ['completed', 'failed', 'cancelled'].includes(type))).toHaveLength(1)
  }
  const { rows } = await sql<{ wrong: number }>`
    select count(*)::int as wrong from training_runs where id = any(${sql.val(ids)}::uuid[]) and publish_name is not null
      and (state = 'completed') <> (published_version_id is not null)`.execute(databases[0].query)
  expect(rows).toEqual([{ wrong: 0 }])
}, 600_000)

/** Some iterations and checkpoints, then an end, or silence: the turn is left to write later, when it may be too late. */
async function liveThrough(turn: Turn, zombies: Turn[]): Promise<void> {
  for (let metered = 1; ; metered++) {
    await turn.train(1 + randomInt(3), metered)
    if (chance(30)) await turn.save(metered)
    if (chance(10)) return void zombies.push(turn)
    if (chance(10)) return turn.release(metered)
    if (chance(25)) return void (await turn.complete(metered))
    if (chance(3)) return void (await turn.end({ state: 'failed', error: { code: 'scenario_threw', message: 'No.' } }))
  }
}

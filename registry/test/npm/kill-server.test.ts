// @module-tag full

import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPgliteFolder } from '@agentgym/testkit/databases'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { randomOf } from '@agentgym/testkit/random'
import { testServices } from '@agentgym/testkit/services'
import { isLong } from '@agentgym/testkit/tier'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { startRegistry } from './start-registry.ts'
import { signUp, versionsOf, versionsWithoutJob } from './test-registry.ts'
import { packument, put, servedIntegrity, type Upload, upload } from './uploads.ts'

const lanes = [0, 1, 2]

const engines = [
  { kind: 'PostgreSQL', kills: isLong ? 50 : 2, create: async () => ({ url: await createPostgresqlDatabase() }) },
  { kind: 'the embedded database', kills: isLong ? 20 : 2, create: createPgliteFolder },
]

/** One round: a user's uploads, some of them acknowledged. */
type Round = { name: string; token: string; sent: Map<string, Upload>; acknowledged: Set<string> }

it.each(engines)(
  'SIGKILL at $kills moments of publishing on $kind leaves every acknowledged version complete, and no partial ones',
  async ({ kills, create }) => {
    const address = await create()
    const { folder, rounds, remove } = await prepare(address, kills)
    const options = { database: address, folder, secret: randomBytes(32).toString('hex') }
    const random = seeded(Date.now() % 1_000_000)
    let server = await startRegistry(options)
    for (const round of rounds) {
      const publishing = lanes.map((lane) => publishUntilKilled(server.url, lane, round))
      await sleep(20 + random() * 500)
      await server.stop('SIGKILL')
      await Promise.all(publishing)
      server = await startRegistry(options)
      await assertWhole(server.url, round)
      // Requests without a response are retried: the version exists, or is published now.
      for (const one of round.sent.values()) expect(await put(server.url, round.token, one)).toBe(201)
      for (const version of round.sent.keys()) round.acknowledged.add(version)
      await assertWhole(server.url, round)
    }
    await server.stop('SIGKILL')
    await assertRecorded(address, rounds)
    await remove()
  },
  900_000,
)

/** A user for each round, because publishing is rate-limited. */
async function prepare(address: Parameters<typeof openDatabase>[0], kills: number) {
  const database = await openDatabase(address)
  const services = await testServices(database)
  const rounds: Round[] = []
  for (let index = 0; index < kills; index++) {
    const username = `user${index}`
    const { token } = await signUp(services, username, ['packages:publish'])
    rounds.push({ name: `@${username}/maze`, token, sent: new Map(), acknowledged: new Set() })
  }
  await database.close()
  const remove = async () => {
    await services.remove()
    if ('folder' in address) await rm(address.folder, { recursive: true, force: true })
  }
  return { folder: services.folder, rounds, remove }
}

async function publishUntilKilled(
  url: string,
  lane: number,
  { name, token, sent, acknowledged }: Round,
): Promise<void> {
  // Few enough that all can be sent twice within the limit of one minute.
  for (let index = 0; index < 15; index++) {
    const one = await upload(name, `${lane}.0.${index}`)
    sent.set(one.version, one)
    const status = await put(url, token, one)
    if (status === 0) return
    expect(status).toBe(201)
    acknowledged.add(one.version)
  }
}

/** To its owner: what was acknowledged is there, and whatever is there is as it was sent, byte for byte. */
async function assertWhole(url: string, { name, token, sent, acknowledged }: Round): Promise<void> {
  const { versions } = await packument(url, token, name)
  expect(Object.keys(versions)).toEqual(expect.arrayContaining([...acknowledged]))
  for (const [version, { dist }] of Object.entries(versions)) {
    expect(dist.integrity).toBe(sent.get(version)?.integrity)
    expect(await servedIntegrity(url, token, name, version)).toBe(dist.integrity)
  }
}

/** The database has each version once, and a check waits for each. */
async function assertRecorded(address: Parameters<typeof openDatabase>[0], rounds: Round[]): Promise<void> {
  const database = await openDatabase(address)
  for (const { name, sent } of rounds) {
    const rows = await versionsOf(database, name)
    expect(rows.map(({ version }) => version).sort()).toEqual([...sent.keys()].sort())
    for (const { version, integrity } of rows) expect(integrity).toBe(sent.get(version)?.integrity)
    expect(await versionsWithoutJob(database, name)).toEqual([])
  }
  await database.close()
}

/** The moments of a run that failed can be had again by its seed. */
function seeded(seed: number): () => number {
  console.log(`seed ${seed}`)
  return randomOf(seed)
}

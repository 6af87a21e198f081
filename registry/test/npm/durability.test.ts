import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { integrityOf, packScenario, publishDocument } from './scenario-package.ts'
import { type RegistryProcess, startRegistry } from './start-registry.ts'
import { openTestRegistry, type TestRegistry } from './test-registry.ts'

const kills = process.env.AGENTGYM_TEST_LONG === '1' ? 50 : 8
let registry: TestRegistry

beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(async () => {
  await registry.close()
})

type Upload = { name: string; version: string; document: string; integrity: string }

async function upload(name: string, version: string, readme?: string): Promise<Upload> {
  const tarball = await packScenario({ name, version, readme })
  return {
    name,
    version,
    document: publishDocument({ name, version, readme }, tarball),
    integrity: integrityOf(tarball),
  }
}

/** The status of the answer, or 0 where none came. */
async function put(url: string, token: string, { name, document }: Upload): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/npm/${name}`, { method: 'PUT', headers, body: document })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}

type Served = {
  versions: Record<string, { dist: { tarball: string; integrity: string } }>
  'dist-tags': Record<string, string>
}

async function packument(url: string, token: string, name: string): Promise<Served> {
  const response = await fetch(`${url}/npm/${name}`, { headers: { authorization: `Bearer ${token}` } })
  if (response.status === 404) return { versions: {}, 'dist-tags': {} }
  expect(response.status).toBe(200)
  return (await response.json()) as Served
}

/** The integrity of what is served at a version's address. */
async function servedIntegrity(url: string, token: string, name: string, version: string): Promise<string> {
  const address = `${url}/npm/${name}/-/${name.split('/')[1]}-${version}.tgz`
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status, address).toBe(200)
  return integrityOf(new Uint8Array(await response.arrayBuffer()))
}

it('ten versions published at once through two servers are ten versions, each whole', async () => {
  const { token } = await registry.signUp('ten')
  const second = await startRegistry(registry.options)
  const servers = [registry.url, second.url]
  try {
    const uploads = await Promise.all([...Array(10).keys()].map((index) => upload('@ten/maze', `1.0.${index}`)))
    const statuses = await Promise.all(uploads.map((one, index) => put(servers[index % 2], token, one)))
    expect(statuses, second.errors()).toEqual(Array(10).fill(201))
    const rows = await registry.versions('@ten/maze')
    expect(rows.map(({ version }) => version)).toEqual(uploads.map(({ version }) => version))
    for (const url of servers) {
      const served = await packument(url, token, '@ten/maze')
      expect(Object.keys(served.versions).sort()).toEqual(uploads.map(({ version }) => version))
      for (const { version, integrity } of uploads) {
        expect(served.versions[version].dist.integrity).toBe(integrity)
        expect(rows.find((row) => row.version === version)?.integrity).toBe(integrity)
        expect(await servedIntegrity(url, token, '@ten/maze', version)).toBe(integrity)
      }
    }
    for (const { version } of uploads) await registry.pass('@ten/maze', version)
    expect((await packument(second.url, token, '@ten/maze'))['dist-tags']).toEqual({ latest: '1.0.9' })
  } finally {
    await second.stop()
  }
})

it('one version published ten times at once is published once, and is what its publisher sent', async () => {
  const { token } = await registry.signUp('one')
  const second = await startRegistry(registry.options)
  try {
    const uploads = await Promise.all(
      [...Array(10).keys()].map((index) => upload('@one/maze', '1.0.0', `# Try ${index}`)),
    )
    const statuses = await Promise.all(
      uploads.map((one, index) => put(index % 2 === 0 ? registry.url : second.url, token, one)),
    )
    expect(statuses.toSorted()).toEqual([201, ...Array(9).fill(409)])
    const { integrity } = uploads[statuses.indexOf(201)]
    const served = await packument(registry.url, token, '@one/maze')
    expect(served.versions['1.0.0'].dist.integrity).toBe(integrity)
    expect(await servedIntegrity(second.url, token, '@one/maze', '1.0.0')).toBe(integrity)
  } finally {
    await second.stop()
  }
})

it(`SIGKILL at ${kills} moments of publishing leaves every acknowledged version whole and no other half there`, async () => {
  const { token } = await registry.signUp('kill')
  const random = seeded(Date.now() % 1_000_000)
  const name = '@kill/maze'
  const sent = new Map<string, Upload>()
  const acknowledged = new Set<string>()
  let server: RegistryProcess = await startRegistry(registry.options)
  for (let round = 0; round < kills; round++) {
    const publishing = [0, 1, 2].map(async (lane) => {
      for (let index = 0; ; index++) {
        const one = await upload(name, `${round}.${lane}.${index}`)
        sent.set(one.version, one)
        const status = await put(server.url, token, one)
        if (status === 0) return
        expect(status).toBe(201)
        acknowledged.add(one.version)
      }
    })
    await sleep(20 + random() * 400)
    await server.stop('SIGKILL')
    await Promise.all(publishing)
    server = await startRegistry(registry.options)
    // The bytes of this round's versions only: all of them, every time, would be a long loop.
    await assertWhole(server.url, token, name, { sent, acknowledged, prefix: `${round}.` })
  }
  // Whoever got no answer tries again: it is there from the first time, or it is published now.
  for (const one of sent.values())
    if (!acknowledged.has(one.version)) expect([201, 409]).toContain(await put(server.url, token, one))
  await assertWhole(server.url, token, name, { sent, acknowledged: new Set(sent.keys()), prefix: '' })
  await server.stop()
}, 600_000)

async function assertWhole(
  url: string,
  token: string,
  name: string,
  { sent, acknowledged, prefix }: { sent: Map<string, Upload>; acknowledged: Set<string>; prefix: string },
): Promise<void> {
  const served = await packument(url, token, name)
  const rows = await registry.versions(name)
  expect(rows.map(({ version }) => version).sort()).toEqual(Object.keys(served.versions).sort())
  expect(Object.keys(served.versions)).toEqual(expect.arrayContaining([...acknowledged]))
  const unchecked = await registry.versionsWithoutJob(name)
  expect(unchecked).toEqual([])
  for (const { version, integrity } of rows) {
    expect(integrity).toBe(sent.get(version)?.integrity)
    expect(served.versions[version].dist.integrity).toBe(integrity)
    if (version.startsWith(prefix)) expect(await servedIntegrity(url, token, name, version)).toBe(integrity)
  }
}

/** mulberry32: the moments of a run that failed can be had again by its seed. */
function seeded(seed: number): () => number {
  console.log(`seed ${seed}`)
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

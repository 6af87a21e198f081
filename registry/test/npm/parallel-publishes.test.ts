// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRegistry } from './start-registry.ts'
import { openTestRegistry, type TestRegistry } from './test-registry.ts'
import { packument, put, servedIntegrity, upload } from './uploads.ts'

let registry: TestRegistry

beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(async () => {
  await registry.close()
})

it('ten versions published concurrently through two servers are all complete', async () => {
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

it('one version published ten times concurrently is published once, unchanged', async () => {
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

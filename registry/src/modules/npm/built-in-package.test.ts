import { createHash } from 'node:crypto'
import { pglite } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { npmRoutes } from './npm.routes.ts'

const name = '@agentgym/scenario'
const tarball = Buffer.from('a tarball')
const manifest = { name, version: '1.2.3', types: './dist/index.d.ts', exports: { '.': './dist/index.js' } }
let database: Database
let app: ServedApp
let made = 0
const library = async () => {
  made += 1
  // A failure is not kept.
  if (made === 1) throw new Error('planted')
  return { manifest, tarball }
}

beforeAll(async () => {
  database = await pglite.open()
  app = await serveApp(database, (services) => [npmRoutes(services, library)])
})
afterAll(async () => {
  await app.close()
  await database.close()
})

it('is served read-only from the installation, made once', async () => {
  expect(await app.call('GET', `/npm/${name}`)).toMatchObject({ status: 500 })
  const packument = await app.call('GET', `/npm/${name.replace('/', '%2f')}`)
  const dist = {
    tarball: `${app.url}/npm/${name}/-/scenario-1.2.3.tgz`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
  }
  expect(packument).toMatchObject({
    status: 200,
    body: { name, 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': { ...manifest, dist } } },
  })
  expect((await app.call('GET', dist.tarball.slice(app.url.length))).bytes).toEqual(tarball)
  for (const version of ['1.2.3', 'latest']) {
    expect(await app.call('GET', `/npm/${name}/${version}`)).toMatchObject({ status: 200, body: { dist } })
  }
  for (const path of [`${name}/1.2.4`, `${name}/-/scenario-1.2.4.tgz`, '@agentgym/scenarios']) {
    expect(await app.call('GET', `/npm/${path}`)).toMatchObject({ status: 404 })
  }
  expect(made).toBe(2)
})

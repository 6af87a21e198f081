// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startServerProcess as startServer, type ServerProcess as TestServer } from '@agentgym/testkit/command-line'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-site-'))
let server: TestServer
beforeAll(async () => {
  execFileSync(process.execPath, [path.join(repositoryRoot, 'web/build.ts')])
  server = await startServer(path.join(folder, 'data'), folder, ['--no-worker'])
}, 120_000)
afterAll(async () => {
  expect(await server.stop()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

it('agentgym serve serves the built site at / with all its assets', async () => {
  const response = await fetch(server.url)
  const page = await response.text()
  expect(page).toContain('Decision models you can prove')
  const loaded = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, address]) => address)
  expect(loaded.length).toBeGreaterThan(4)
  for (const address of loaded) {
    const asset = await fetch(server.url + address)
    expect([address, asset.status]).toEqual([address, 200])
    await asset.arrayBuffer()
  }
  expect(await (await fetch(`${server.url}/docs/api`)).text()).toContain('API reference')
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

it('the first user to sign up becomes the operator of a new server, also in the API', async () => {
  const page = await fetch(`${server.url}/signup`)
  const seed = page.headers.getSetCookie()[0].split(';')[0]
  const [, token] = /name="form_token" value="([^"]+)"/.exec(await page.text()) ?? []
  const form = { form_token: token, username: 'ada', email: 'ada@example.com', password: 'correct horse battery' }
  const signedUp = await fetch(`${server.url}/signup`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: seed },
    body: new URLSearchParams(form),
  })
  expect(signedUp.status).toBe(303)
  const cookie = signedUp.headers.getSetCookie()[0].split(';')[0]
  const account = await fetch(`${server.url}/v1/account`, { headers: { cookie } })
  expect(await account.json()).toMatchObject({ username: 'ada', operator: true })
})

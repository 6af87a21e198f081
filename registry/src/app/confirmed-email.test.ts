import { randomUUID } from 'node:crypto'
import { dataFolder } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goodTarball } from '../../../testdata/tarballs/good-package.ts'
import { type RunningServer, serve } from './serve.ts'

const password = 'correct horse battery'
const scopes = ['packages:manage', 'training:start', 'training:evaluate', 'agents:call', 'training:cancel']
const refused = { status: 403, code: 'email_unconfirmed' }

/** What `npm publish` sends. */
const npmDocument = (tarball: Uint8Array) => ({
  _id: '@acme/maze',
  name: '@acme/maze',
  'dist-tags': { latest: '1.0.0' },
  versions: { '1.0.0': { name: '@acme/maze', version: '1.0.0', dist: {} } },
  _attachments: {
    '@acme/maze-1.0.0.tgz': { data: Buffer.from(tarball).toString('base64'), length: tarball.byteLength },
  },
})

/** A server that requires confirmed addresses, and one that sends no mail. */
async function start(environment: NodeJS.ProcessEnv) {
  const server = await serve({
    data: await dataFolder(),
    port: 0,
    environment: { AGENTGYM_LOG_LEVEL: 'error', ...environment },
  })
  const request = async (method: string, path: string, { token, body, headers = {} }: Given = {}) => {
    const json = body !== undefined && !(body instanceof Uint8Array)
    const answer = await fetch(server.url + path, {
      method,
      headers: {
        ...(json ? { 'content-type': 'application/json' } : {}),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: json ? JSON.stringify(body) : (body as Uint8Array<ArrayBuffer> | undefined),
    })
    const text = await answer.text()
    const found = /"code":\s*"([a-z_]+)"/.exec(text)
    return { status: answer.status, code: found?.[1], text, headers: answer.headers }
  }
  const signUp = async (username: string) => {
    const email = `${username}@example.com`
    expect((await request('POST', '/v1/accounts', { body: { username, email, password } })).status).toBe(201)
    const session = await request('POST', '/v1/sessions', { body: { username, password } })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const made = await request('POST', '/v1/tokens', {
      body: { name: 'all', scopes },
      headers: { cookie, origin: server.url },
    })
    return { token: JSON.parse(made.text).token as string, cookie }
  }
  return { server, request, signUp }
}

type Given = { token?: string; body?: unknown; headers?: Record<string, string> }
type Started = Awaited<ReturnType<typeof start>>

/** Every route that uses workers, publishes or calls agents. */
const ways: { way: string; method: string; path: string; body?: unknown }[] = [
  { way: 'starts a run', method: 'POST', path: '/v1/runs', body: { scenario: '@acme/maze' } },
  { way: 'resumes a run', method: 'POST', path: `/v1/runs/${randomUUID()}/resume`, body: { budget_minor: 5 } },
  { way: 'evaluates a run', method: 'POST', path: `/v1/runs/${randomUUID()}/evaluations`, body: {} },
  { way: 'publishes a run', method: 'POST', path: `/v1/runs/${randomUUID()}/publish`, body: { name: '@acme/agent' } },
  {
    way: 'verifies an agent',
    method: 'POST',
    path: '/v1/packages/@acme/agent/versions/1.0.0/verification',
    body: undefined,
  },
  { way: 'calls an agent', method: 'POST', path: '/v1/packages/@acme/agent/calls', body: { observation: [0] } },
]

describe('with required email confirmation', () => {
  let started: Started
  let server: RunningServer
  let acme: { token: string; cookie: string }
  beforeAll(async () => {
    started = await start({ AGENTGYM_CONFIRMED_EMAIL: 'required' })
    server = started.server
    await started.signUp('first')
    acme = await started.signUp('acme')
  })
  afterAll(() => server.close())

  it('an unconfirmed account cannot publish, by this API or by npm', async () => {
    const bytes = goodTarball({ name: '@acme/maze' })
    const put = await started.request('PUT', '/v1/packages/@acme/maze/versions/1.0.0', {
      token: acme.token,
      body: bytes,
    })
    expect(put).toMatchObject(refused)
    expect(put.text).toContain('/settings/account')
    const npm = await started.request('PUT', '/npm/@acme%2fmaze', { token: acme.token, body: npmDocument(bytes) })
    expect(npm.status).toBe(403)
  })

  it.each(ways)('refuses an unconfirmed account that $way', async ({ method, path, body }) => {
    expect(await started.request(method, path, { token: acme.token, body })).toMatchObject(refused)
  })

  it('an unconfirmed account is refused over JSON-RPC and as a chat model', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'training.start', params: { scenario: '@acme/maze' } }
    expect((await started.request('POST', '/rpc', { token: acme.token, body })).code).toBe('email_unconfirmed')
    const chat = { model: '@acme/agent', messages: [{ role: 'user', content: '[0]' }] }
    expect(await started.request('POST', '/v1/chat/completions', { token: acme.token, body: chat })).toMatchObject({
      status: 403,
    })
  })

  it('lets an unconfirmed account read, and the operator work', async () => {
    expect((await started.request('GET', '/v1/runs', { token: acme.token })).status).toBe(200)
    expect((await started.request('GET', '/v1/packages', { token: acme.token })).status).toBe(200)
  })

  it('is documented at every such route', async () => {
    const document = JSON.parse((await started.request('GET', '/v1/openapi.json')).text)
    for (const { method, path } of ways) {
      const pattern = Object.keys(document.paths).find((pattern) =>
        new RegExp(`^${pattern.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
      )
      expect(JSON.stringify(document.paths[pattern ?? '']?.[method.toLowerCase()]?.responses['403'])).toContain(
        'email_unconfirmed',
      )
    }
  })
})

describe('with mail in a folder', () => {
  it('does not require confirmation', async () => {
    const started = await start({})
    await started.signUp('first')
    const { token } = await started.signUp('acme')
    const { status } = await started.request('PUT', '/v1/packages/@acme/maze/versions/1.0.0', {
      token,
      body: goodTarball({ name: '@acme/maze' }),
    })
    expect(status).not.toBe(403)
    await started.server.close()
  })
})

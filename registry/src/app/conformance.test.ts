import { verifyStatement } from '@agentgym/client'
import {
  type LeasedEvaluation,
  type SigningKeys,
  type Verification,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'
import { dataFolder } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../../testdata/episodes/sample-episode.ts'
import { endlessLoop } from '../../../testdata/models/hostile-models.ts'
import { agentTarball, goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { goodTarball } from '../../../testdata/tarballs/good-package.ts'
import { bundleHash, claimOf } from '../modules/verification/testing/verifying.ts'
import type { OpenApiDocument } from './documentation.ts'
import { type RunningServer, serve } from './serve.ts'
import { type Call, conformingCalls } from './testing/conforming-calls.ts'

let server: RunningServer
let calls: ReturnType<typeof conformingCalls>
beforeAll(async () => {
  server = await serve({ data: await dataFolder(), port: 0, environment: { AGENTGYM_LOG_LEVEL: 'error' } })
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as OpenApiDocument
  calls = conformingCalls(server.url, document)
})
afterAll(() => server.close())

const password = 'correct horse battery'
const asWorker = { [workerProtocolHeader]: workerProtocol }
type Body = Record<string, unknown>
const call = async (address: string, given: Call = {}) => {
  const { status, headers, body } = await calls.call(address, given)
  return { status, headers, body: body as Body }
}
const post = (address: string, body: unknown, more: Call = {}) => call(address, { method: 'POST', body, ...more })

async function signUp(username: string, scopes: string[]) {
  expect((await post('/v1/accounts', { username, email: `${username}@example.com`, password })).status).toBe(201)
  const session = await post('/v1/sessions', { username, password })
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const made = await post('/v1/tokens', { name: 'all', scopes }, { headers: { cookie } })
  expect(made.status).toBe(201)
  return { cookie, token: made.body.token as string, tokenId: made.body.id as string }
}

/** The calls check every response against the document; the assertions here cover the flow. */
describe('responses match the OpenAPI document', () => {
  let operator: { token: string }
  let author: Awaited<ReturnType<typeof signUp>>
  const versions = '/v1/packages/@acme/maze/versions'

  it('accounts, sessions, tokens', async () => {
    operator = await signUp('operator', ['worker', 'packages:manage'])
    author = await signUp('acme', ['packages:read', 'packages:publish', 'packages:manage', 'account:manage'])
    const { token, cookie } = author
    expect((await call('/v1/account', { token })).body).toMatchObject({ username: 'acme', operator: false })
    expect((await call('/v1/account')).status).toBe(401)
    expect((await call('/v1/tokens', { token })).status).toBe(200)
    const spare = await post('/v1/tokens', { name: 'spare', scopes: ['packages:read'] }, { headers: { cookie } })
    expect(
      (await call(`/v1/tokens/${spare.body.id}`, { method: 'DELETE', headers: { cookie, origin: server.url } })).status,
    ).toBe(204)
    expect((await post('/v1/accounts', { username: 'acme', email: 'b@example.com', password })).status).toBe(409)
    expect((await post('/v1/accounts', { username: 'x' })).status).toBe(422)
    expect((await post('/v1/sessions', { username: 'acme', password: 'wrong' })).status).toBe(401)
    expect((await post('/v1/password-resets', { email: 'acme@example.com' })).status).toBe(202)
    expect((await post('/v1/email-verifications', { token: 'unknown' })).status).toBe(400)
  })

  it('organisations', async () => {
    const { cookie } = author
    const headers = { cookie, origin: server.url }
    expect((await post('/v1/organisations', { username: 'acme-lab' }, { headers })).status).toBe(201)
    expect((await call('/v1/organisations/acme-lab', { headers })).status).toBe(200)
    const member = '/v1/organisations/acme-lab/members/operator'
    await call(member, { method: 'PUT', body: { role: 'member' }, headers })
    expect((await call('/v1/organisations/acme-lab', { headers })).body.invitations).toHaveLength(1)
    await call(member, { method: 'DELETE', headers })
    expect((await call('/v1/invitations', { headers })).status).toBe(200)
    const accepting = { method: 'PUT', body: { role: 'member' }, headers }
    expect((await call('/v1/invitations/acme-lab', accepting)).status).toBe(404)
    expect((await call('/v1/organisations/nobody', { headers })).status).toBe(404)
  })

  it('device login', async () => {
    const { body } = await post('/v1/device-codes', { name: 'laptop', scopes: ['packages:read'] })
    const polled = await post('/v1/device-codes/token', { device_code: body.device_code })
    expect(polled).toMatchObject({ status: 400, body: { error: { code: 'authorization_pending' } } })
  })

  it('publishing and checking', async () => {
    const { token } = author
    const body = new Uint8Array(goodTarball({ name: '@acme/maze' }))
    const published = await call(`${versions}/1.0.0?tag=latest`, { method: 'PUT', body, token })
    expect(published).toMatchObject({ status: 202, body: { state: 'checking' } })
    expect((await call(`${versions}/1.0.0`, { method: 'PUT', body })).status).toBe(401)
    expect((await call(`${versions}/1.0.0`)).status).toBe(404)

    const worker = { token: operator.token, headers: asWorker }
    const { body: job } = await post('/v1/jobs/lease', { kinds: ['check'] }, worker)
    const { lease } = job
    const ofJob = `/v1/jobs/${job.id}`
    expect((await post('/v1/jobs/lease', { kinds: ['check'] }, worker)).status).toBe(204)
    expect((await post('/v1/jobs/lease', { kinds: ['check'] }, { token, headers: asWorker })).status).toBe(403)
    expect((await post(`${ofJob}/heartbeat`, { lease }, worker)).status).toBe(200)
    expect((await post(`${ofJob}/heartbeat`, { lease: '0.stolen' }, worker)).status).toBe(409)
    expect((await call(`${ofJob}/tarball`, { headers: { 'agentgym-lease': lease as string } })).status).toBe(200)
    const checks = [{ id: 'loads', ok: true, message: 'loads in 3 ms' }]
    const report = { ok: true, name: '@acme/maze', version: '1.0.0', checks }
    const result = { lease, report, sample_episode: sampleEpisode() }
    const torn = sampleEpisode({ last: { observation: [], texts: ['\ud800'] } })
    expect((await post(`${ofJob}/result`, { ...result, sample_episode: torn }, worker)).status).toBe(422)
    expect(await post(`${ofJob}/result`, result, worker)).toMatchObject({ body: { state: 'published' } })
    expect((await post(`${ofJob}/result`, { lease, report }, worker)).status).toBe(409)
  })

  it('packages, versions, tags', async () => {
    const { token } = author
    expect((await call('/v1/packages?q=maze&sort=newest&limit=5')).body.packages).toHaveLength(1)
    expect((await call('/v1/packages?sort=colour')).status).toBe(422)
    expect((await call('/v1/packages/@acme/maze')).status).toBe(200)
    expect((await call('/v1/packages/@acme/nothing')).status).toBe(404)
    expect((await call(versions)).status).toBe(200)
    expect((await call(`${versions}/1.0.0`)).body).toMatchObject({ state: 'published' })
    expect((await call(`${versions}/9.0.0`)).status).toBe(404)
    expect((await call(`${versions}/1.0.0/readme`)).status).toBe(200)
    expect((await call(`${versions}/1.0.0/sample-episode`)).body).toEqual(sampleEpisode())
    expect((await call(`${versions}/9.0.0/sample-episode`)).status).toBe(404)
    expect((await call('/v1/packages/@acme/maze/resolve?range=^1')).body).toMatchObject({ version: '1.0.0' })
    expect((await call('/v1/packages/@acme/maze/resolve?range=^2')).status).toBe(404)
    expect((await call('/v1/packages/@acme/maze/tags')).status).toBe(200)
    const tag = '/v1/packages/@acme/maze/tags/stable'
    expect((await call(tag, { method: 'PUT', body: { version: '1.0.0' }, token })).status).toBe(204)
    expect((await call(tag, { method: 'DELETE', token })).status).toBe(204)
    const version = `${versions}/1.0.0`
    const message = 'Use 2.0.0.'
    expect((await call(`${version}/deprecation`, { method: 'PUT', body: { message }, token })).status).toBe(204)
    expect((await call(`${version}/yank`, { method: 'PUT', token })).status).toBe(204)
    expect((await call(`${version}/yank`, { method: 'DELETE', token })).status).toBe(204)
    expect((await call(`${version}/yank`, { method: 'DELETE' })).status).toBe(401)
  })

  it('runs, their events, and JSON-RPC', async () => {
    const scopes = ['packages:read', 'training:start', 'training:cancel', 'training:evaluate', 'data:export']
    const runner = await signUp('runner', scopes)
    const token = { token: runner.token }
    const started = await post('/v1/runs', { scenario: '@acme/maze' }, token)
    expect(started.status).toBe(201)
    const run = `/v1/runs/${started.body.id}`
    expect((await post('/v1/runs', { scenario: '@acme/nothing' }, token)).status).toBe(404)
    expect((await post('/v1/runs', { scenario: '@acme/maze', settings: { gama: 1 } }, token)).status).toBe(400)
    expect((await post('/v1/runs', { scenario: '@acme/maze' })).status).toBe(401)
    expect((await post('/v1/runs', { scenario: '@acme/maze' }, { token: author.token })).status).toBe(403)
    for (const path of ['/v1/runs', '/v1/status', run, `${run}/metrics`, `${run}/checkpoints`])
      expect((await call(path, token)).status, path).toBe(200)
    for (const path of [`${run}/metrics.csv`, `${run}/metrics.tfevents`, `${run}/metrics.jsonl`, `${run}/trajectories`])
      expect((await call(path, token)).status, path).toBe(200)
    expect((await call(`${run}/checkpoints/3`, token)).status).toBe(404)
    expect((await call(`${run}/agent`, token)).status).toBe(409)
    expect((await post(`${run}/evaluations`, {}, token)).status).toBe(409)
    expect((await post(`${run}/resume`, { budget_minor: 5 }, token)).status).toBe(409)
    expect((await call('/v1/evaluations/00000000-0000-4000-8000-000000000000', token)).status).toBe(404)
    expect((await post(`${run}/cancel`, undefined, token)).body).toMatchObject({ state: 'cancelled' })
    expect((await call(`${run}/events`, token)).status).toBe(200)
    expect((await call(`${run}/events?after=3`, token)).status).toBe(204)
    const request = { jsonrpc: '2.0', method: 'training.get_status', params: { run_id: started.body.id } }
    expect((await post('/rpc', { ...request, id: 1 }, token)).status).toBe(200)
    expect((await post('/rpc', [{ ...request, id: 1 }, 1], token)).status).toBe(200)
    expect((await post('/rpc', request, token)).status).toBe(204)
    expect((await post('/rpc', request, { ...token, headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  })

  it('detects a response that differs from the document', async () => {
    const document = await (await fetch(`${server.url}/v1/openapi.json`)).text()
    const wrong = (from: string, to: string) => {
      expect(document).toContain(from)
      return conformingCalls(server.url, JSON.parse(document.replaceAll(from, to))).call('/v1/account', author)
    }
    await expect(wrong('"username":{"type":"string"}', '"username":{"type":"integer"}')).rejects.toThrow(
      /not as described/,
    )
    await expect(wrong('"/v1/account"', '"/v1/acount"')).rejects.toThrow(/not described/)
  })

  it('an agent is re-run, and the result is signed', async () => {
    const scenario = { ...goodAgent.scenario, name: '@acme/maze', version: '1.0.0', hash: bundleHash }
    const claim = claimOf(scenario)
    const agent = new Uint8Array(agentTarball({ name: '@acme/maze-ppo' }, { scenario, evaluation: claim }))
    const version = '/v1/packages/@acme/maze-ppo/versions/0.1.0'
    expect(await call(version, { method: 'PUT', body: agent, token: author.token })).toMatchObject({ status: 202 })
    const hostile = new Uint8Array(agentTarball({ name: '@acme/hostile' }, {}, endlessLoop))
    const refused = { method: 'PUT', body: hostile, token: author.token }
    expect(await call('/v1/packages/@acme/hostile/versions/0.1.0', refused)).toMatchObject({
      status: 422,
      body: { error: { code: 'model_subgraph_forbidden' } },
    })

    const worker = { token: operator.token, headers: asWorker }
    const { body: job } = await post('/v1/jobs/lease', { kinds: ['evaluate'] }, worker)
    const { lease, evaluation } = job as LeasedEvaluation
    const ofJob = `/v1/jobs/${job.id}/evaluation`
    for (const what of ['agent', 'scenario']) {
      expect((await call(`${ofJob}/${what}`, { headers: { 'agentgym-lease': lease } })).status).toBe(200)
      expect((await call(`${ofJob}/${what}`, { headers: { 'agentgym-lease': '0.stolen' } })).status).toBe(409)
    }
    const results = evaluation.tasks.map(({ id, episodes, seed }) => {
      return { id, evaluation: { ...claim, episodes, seed }, error: null }
    })
    const checks = [{ id: 'golden_batch', ok: true, message: 'finite outputs' }]
    const result = { lease, checks, output_hash: 'd'.repeat(64), results, runtime: { node: '24.21.0' } }
    expect((await post(ofJob, result, { token: author.token })).status).toBe(403)
    expect((await post(ofJob, { ...result, results: [] }, worker)).status).toBe(422)
    expect((await post(ofJob, result, worker)).status).toBe(204)
    expect((await post(ofJob, result, worker)).status).toBe(409)

    const { signed } = (await call(version)).body.verification as Verification
    const keys = (await call('/v1/keys')).body as SigningKeys
    expect(signed && (await verifyStatement(signed, keys))).toMatchObject({ server: server.url, claim })
    const board = '/v1/packages/@acme/maze/versions/1.0.0/leaderboard'
    expect((await call(`${board}?limit=5`)).body).toMatchObject({
      entries: [{ rank: 1, agent: { name: '@acme/maze-ppo' } }],
    })
    expect((await call(`${board}?limit=0`)).status).toBe(422)
    expect((await call(board.replace('1.0.0', '9.0.0'))).status).toBe(404)
  })

  it('prices, offers, and refusals before a purchase', async () => {
    const page = '/v1/packages/@acme/maze'
    const set = (body: unknown, more: Call = {}) => call(`${page}/price`, { method: 'PUT', body, ...more })
    const seller = { headers: { cookie: author.cookie } }
    expect((await set({ kind: 'free' })).status).toBe(401)
    expect((await set({ kind: 'free' }, { token: author.token })).status).toBe(403)
    expect((await set({ kind: 'one_time' }, seller)).status).toBe(422)
    const priced = { kind: 'one_time', amount_minor: 900, royalty_basis_points: 500, terms: 'No resale.' }
    const { body } = await set(priced, seller)
    expect((await call(`${page}/price`)).body).toEqual(body)
    expect((await call(`${page}/offer`)).body).toMatchObject({ package: '@acme/maze', balance_minor: null })
    expect((await call(`${page}/offer?range=^9`)).status).toBe(404)
    expect((await call(`${page}/offer?account=acme`)).status).toBe(401)
    expect((await call('/v1/packages/@acme/nothing/price')).status).toBe(404)
    // Withdraws the announced price: the following needs a free package.
    expect((await set({ kind: 'free' }, seller)).body).toMatchObject({ current: { kind: 'free' }, upcoming: null })
  })

  it('reviews, moderation, metered calls', async () => {
    const { token } = await signUp('reader', ['packages:read', 'market:buy'])
    const page = '/v1/packages/@acme/maze'
    const review = { version: '1.0.0', stars: 4, text: 'It is a maze.' }
    const put = (as?: string) => call(`${page}/reviews`, { method: 'PUT', body: review, token: as })
    expect((await put()).status).toBe(401)
    expect((await put(token)).status).toBe(403)
    const authorization = `Bearer ${token}`
    const tarball = await fetch(`${server.url}/npm/@acme/maze/-/maze-1.0.0.tgz`, { headers: { authorization } })
    expect((await tarball.arrayBuffer()).byteLength).toBeGreaterThan(0)
    const written = await put(token)
    expect(written).toMatchObject({ status: 200, body: { author: 'reader' } })
    expect((await call(`${page}/reviews?limit=1`)).body).toMatchObject({ rating: { votes: 1 } })
    const of = `/v1/reviews/${written.body.id}`
    const answer = { method: 'PUT', body: { text: 'So it is.' } }
    expect((await call(`${of}/reply`, { ...answer, token })).status).toBe(403)
    const seller = { token: (await signUp('other', ['market:sell'])).token }
    expect((await call(`${of}/reply`, { ...answer, ...seller })).status).toBe(403)
    const report = { package: '@acme/maze', review: written.body.id, reason: 'spam', text: 'A maze it is not.' }
    const made = await post('/v1/reports', report, { token })
    expect(made.status).toBe(201)
    expect((await post('/v1/reports', report, { token })).status).toBe(200)
    expect((await call('/v1/reports', operator)).status).toBe(200)
    expect((await call('/v1/reports', { token })).status).toBe(403)
    const decision = { decision: 'dismissed', reason: 'A maze it is.' }
    expect((await post(`/v1/reports/${made.body.id}/decision`, decision, operator)).status).toBe(200)
    expect(
      (await post(`/v1/reports/${made.body.id}/decision`, { ...decision, decision: 'upheld' }, operator)).status,
    ).toBe(409)
    expect((await call(of, { method: 'DELETE', token })).status).toBe(204)
    expect((await call(of, { method: 'DELETE', token })).status).toBe(404)
    expect((await post(`${page}/take-down`, { reason: 'Copied.' }, operator)).status).toBe(200)
    expect((await post(`${page}/appeals`, { text: 'It is ours.' }, { token: author.token })).status).toBe(200)
    expect((await call(`${page}/moderation`, { token: author.token })).status).toBe(200)
    expect((await post(`${page}/restore`, { reason: 'So it is.' }, operator)).status).toBe(200)
    const called = { package: '@acme/maze-ppo', version: '0.1.0', account: 'reader' }
    expect((await post('/v1/call-allowance', called, operator)).body).toMatchObject({ allowed: true, because: 'free' })
    const events = [{ ...called, id: crypto.randomUUID(), calls: 3, at: new Date().toISOString() }]
    expect((await post('/v1/usage-events', { events }, operator)).body).toEqual({ counted: 1, repeated: 0 })
    expect((await post('/v1/usage-events', { events: [{ ...events[0], calls: 4 }] }, operator)).status).toBe(409)
    const again = '/v1/packages/@acme/maze-ppo/versions/0.1.0/verification'
    expect((await post(again, undefined, { token: author.token })).status).toBe(403)
  })

  it('covers most operations', () => {
    const requested = new Set([...calls.seen].map((seen) => seen.replace(/ \d+$/, '')))
    expect(requested.size).toBeGreaterThanOrEqual(32)
  })
})

// The last: it stops the server.
it('an event stream ends cleanly when the server stops', async () => {
  const { token } = await signUp('watcher', ['training:start'])
  const { body } = await post('/v1/runs', { scenario: '@acme/maze' }, { token })
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${server.url}/v1/runs/${body.id}/events`, { headers })
  const [text] = await Promise.all([response.text(), server.close()])
  expect(text).toMatch(/^retry: 1000\n\nid: 1\nevent: queued\ndata: \{.*\}\n\n$/)
})

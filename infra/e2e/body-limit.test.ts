// @module-tag full
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, publishPackage, versionPath } from '@agentgym/client'
import type { Run } from '@agentgym/contract'
import { runWorker, type WorkerEvent } from '@agentgym/runtime'
import { packScenario } from '@agentgym/testkit/packages'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const MEBIBYTE = 2 ** 20

/** A proxy that refuses bodies of more than a mebibyte, as nginx does by default. */
async function startProxy(target: string) {
  const refused: string[] = []
  const server: Server = createServer(async (incoming, outgoing) => {
    const { method, url, headers } = incoming
    const body = await buffer(incoming)
    if (body.length > MEBIBYTE) {
      refused.push(`${method} ${url?.split('?')[0].replace(/[0-9a-f-]{36}/, 'ID')}`)
      outgoing.writeHead(413, { 'content-type': 'text/html' }).end('<html><h1>413 Request Entity Too Large</h1></html>')
      return
    }
    const forward = request(new URL(url ?? '/', target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forward.on('error', () => outgoing.destroy()).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, refused, close: () => server.close() }
}

describe('a proxy with a body limit', { timeout: 240_000 }, () => {
  let server: TestServer
  let proxy: Awaited<ReturnType<typeof startProxy>>
  let operator: Awaited<ReturnType<TestServer['signUp']>>
  let author: Awaited<ReturnType<TestServer['signUp']>>
  const stop = new AbortController()
  const events: WorkerEvent[] = []
  let working: Promise<void>
  beforeAll(async () => {
    server = await startServer()
    proxy = await startProxy(server.url)
    operator = await server.signUp('operator', ['worker'])
    author = await server.signUp('acme', ['packages:manage', 'training:start', 'training:view'])
    working = runWorker({
      ...{ server: proxy.url, token: operator.token, slots: 1, pollMs: 100, stop: stop.signal },
      onEvent: (event) => events.push(event),
    })
  }, 240_000)
  afterAll(async () => {
    stop.abort()
    await working
    proxy.close()
    await server.remove()
  })

  it('does not fail a run: checkpoints and the agent are uploaded in parts', async () => {
    const { client } = author
    await publishPackage(client, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
    const state = async () => {
      const response = await client.send(versionPath('@acme/cart-pole', '1.0.0'))
      return ((await response.json()) as { state: string }).state
    }
    while ((await state()) !== 'published') await delay(100)
    const settings = {
      ...{ environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 },
      ...{ hidden: [640, 640], checkpoint_every: 256 },
    }
    const body = JSON.stringify({ scenario: '@acme/cart-pole', steps: 512, settings, trajectories_every: 1 })
    const headers = { 'content-type': 'application/json' }
    const { id } = (await (await client.send('/v1/runs', { method: 'POST', headers, body })).json()) as Run
    const look = async () => (await (await client.send(`/v1/runs/${id}`)).json()) as Run
    let run = await look()
    for (; ['queued', 'running'].includes(run.state); run = await look()) await delay(100)
    expect(run).toMatchObject({ state: 'completed', error: null })
    const checkpoints = events.flatMap((event) => (event.event === 'checkpoint' ? [event.bytes] : []))
    expect(Math.max(...checkpoints)).toBeGreaterThan(2 * MEBIBYTE)
    expect(proxy.refused).toContain('PUT /v1/jobs/ID/checkpoint')
    expect(events.filter(({ event }) => event === 'failed' || event === 'lost')).toEqual([])
  })

  it('is named when it refuses a publish, with the setting to change', async () => {
    const { tarball, ...named } = await packScenario('cart-pole', { name: '@acme/large' })
    const large = Buffer.concat([tarball, Buffer.alloc(MEBIBYTE)])
    const client = createClient({ server: proxy.url, token: author.token })
    for (const onProgress of [undefined, () => {}])
      await expect(publishPackage(client, { ...named, tarball: large, onProgress })).rejects.toMatchObject({
        code: 'request_too_large',
        message: expect.stringContaining(`The proxy in front of ${proxy.url} refused a request body`),
        hint: expect.stringContaining('client_max_body_size'),
      })
  })
})

import { createClient, watchRun } from '@agentgym/client'
import type { RunEvent } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { cancelWaiting, type RunServer, startRunServer } from './test/run-server.ts'
import { mustTakeTurn, startRun, type Turn } from './testing/train.ts'

describeOnEngines('events of a run on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const begin = async (): Promise<Turn> => {
    await cancelWaiting(server.training)
    await startRun(server.training)
    return mustTakeTurn(server.training)
  }
  const fail = (turn: Turn) =>
    turn.end({ state: 'failed', error: { code: 'training_diverged', message: 'The loss is NaN.' } })
  const ask = (id: string, more = '', headers: Record<string, string> = {}) =>
    server.call('GET', `/v1/runs/${id}/events${more}`, { token: server.token, headers })
  const connect = (id: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/v1/runs/${id}/events`, { headers: { authorization: `Bearer ${server.token}`, ...headers } })
  const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const watchers = (count: number) =>
    vi.waitFor(() => expect(server.training.services.runFeeds.watchers).toBe(count), { timeout: 60_000 })

  it('are frames with ID, type and the whole event, and end with the run', async () => {
    const turn = await begin()
    await turn.train(2)
    await fail(turn)
    const { headers, text, status } = await ask(turn.id)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store, no-transform')
    const [first, ...frames] = text.trimEnd().split('\n\n')
    expect(first).toBe('retry: 1000')
    const events = frames.map((frame) => {
      const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      const event = JSON.parse(data) as RunEvent
      expect([String(event.seq), event.type]).toEqual([id, type])
      return event
    })
    expect(events.map(({ type }) => type)).toEqual(['queued', 'running', 'progress', 'progress', 'failed'])
    await watchers(0)
  })

  it('continue after the last known event; there are none after the end', async () => {
    const turn = await begin()
    await turn.train(5)
    await fail(turn)
    expect(idsIn((await ask(turn.id, '?after=3')).text)).toEqual(upTo(8, 4))
    expect(idsIn((await ask(turn.id, '', { 'last-event-id': '6' })).text)).toEqual([7, 8])
    // What a browser sends as it connects again counts, not the address it was made with.
    expect(idsIn((await ask(turn.id, '?after=1', { 'last-event-id': '7' })).text)).toEqual([8])
    expect(await ask(turn.id, '?after=8')).toMatchObject({ status: 204, text: '' })
    expect((await ask(turn.id, '', { 'last-event-id': '99' })).status).toBe(204)
    for (const id of ['-1', 'x', '1e3', '9'.repeat(30)])
      expect((await ask(turn.id, '', { 'last-event-id': id })).code, id).toBe('request_invalid')
    expect((await ask(turn.id, '?after=-1')).code).toBe('request_invalid')
  })

  it('cannot be resumed from a future event', async () => {
    const turn = await begin()
    expect((await ask(turn.id, '?after=3')).code).toBe('request_invalid')
    await fail(turn)
  })

  it('are sent as they happen', async () => {
    const turn = await begin()
    const client = createClient({ server: server.url, token: server.token })
    const events = watchRun(client, turn.id)
    const next = async () => (await events.next()).value?.type
    expect(await next()).toBe('queued')
    expect(await next()).toBe('running')
    await turn.train(1)
    expect(await next()).toBe('progress')
    await turn.save()
    expect(await next()).toBe('checkpoint')
    await turn.complete()
    expect(await next()).toBe('completed')
    expect((await events.next()).done).toBe(true)
    await watchers(0)
  })

  it('continue when a run out of budget is resumed', async () => {
    await cancelWaiting(server.training)
    await startRun(server.training, { budget_minor: 5 })
    const turn = await mustTakeTurn(server.training)
    await turn.train(1, 10)
    await turn.end({ state: 'budget_exceeded' }, 10)
    const first = await ask(turn.id)
    expect(first.text).toContain('event: budget_exceeded')
    const last = idsIn(first.text).at(-1) ?? 0
    expect((await ask(turn.id, `?after=${last}`)).status).toBe(204)
    await server.call('POST', `/v1/runs/${turn.id}/resume`, { json: { budget_minor: 1_000_000 }, token: server.token })
    await fail(await mustTakeTurn(server.training))
    expect(idsIn((await ask(turn.id, `?after=${last}`)).text)).toEqual(upTo(last + 3, last + 1))
  })

  it('wait for a slow reader, without a loss', async () => {
    const turn = await begin()
    const response = await connect(turn.id)
    for (let batch = 0; batch < 6; batch++) await turn.train(500)
    await fail(turn)
    expect(idsIn(await response.text())).toEqual(upTo(3_003))
    await watchers(0)
  })

  it('are the same for many who watch', async () => {
    const turn = await begin()
    const watching = upTo(100).map(async (number) => {
      const response = await connect(turn.id, number % 2 === 0 ? { 'last-event-id': '1' } : {})
      // Who had to wait long for the others has heard that the server is still there.
      return (await response.text()).replaceAll(': still here\n\n', '')
    })
    await watchers(100)
    for (let batch = 0; batch < 5; batch++) await turn.train(20)
    await fail(turn)
    const texts = await Promise.all(watching)
    expect(new Set(texts).size).toBe(2)
    expect(idsIn(texts[0])).toEqual(upTo(103))
    expect(idsIn(texts[1])).toEqual(upTo(103, 2))
    await watchers(0)
  })

  it('leave nothing behind after a disconnect or a HEAD request', async () => {
    const turn = await begin()
    const head = await fetch(`${server.url}/v1/runs/${turn.id}/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${server.token}` },
    })
    expect(head.status).toBe(200)
    const controller = new AbortController()
    const response = await fetch(`${server.url}/v1/runs/${turn.id}/events`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: controller.signal,
    })
    await response.body?.getReader().read()
    await watchers(1)
    controller.abort()
    await watchers(0)
    await fail(turn)
  })

  it('reach a client with a broken connection without gaps or duplicates', async () => {
    const action = fc.oneof(fc.record({ train: fc.integer({ min: 1, max: 40 }) }), fc.constant('save' as const))
    const property = fc.asyncProperty(
      fc.array(action, { maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 5 }),
      fc.boolean(),
      async (actions, cuts, early) => {
        const turn = await begin()
        const client = createClient({ server: server.url, token: server.token, fetch: cutting(cuts) })
        const work = async () => {
          for (const what of actions) await (what === 'save' ? turn.save() : turn.train(what.train))
          await fail(turn)
        }
        if (!early) await work()
        const working = early ? work() : undefined
        const seen: number[] = []
        for await (const { seq } of watchRun(client, turn.id)) seen.push(seq)
        await working
        const { last_seq: last } = await database.query
          .selectFrom('training_runs')
          .select('last_seq')
          .where('id', '=', turn.id)
          .executeTakeFirstOrThrow()
        expect(seen).toEqual(upTo(last))
      },
    )
    await fc.assert(property, { numRuns: 10 })
  })
})

/** A fetch whose first answers break off after so many bytes. */
function cutting(cuts: number[]): typeof fetch {
  const left = [...cuts]
  return async (input, init) => {
    const response = await fetch(input, init)
    const bytes = left.shift()
    if (bytes === undefined || response.body === null) return response
    let sent = 0
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const rest = bytes - sent
        sent += chunk.length
        if (chunk.length <= rest) return controller.enqueue(chunk)
        controller.enqueue(chunk.subarray(0, rest))
        controller.error(new TypeError('terminated'))
      },
    })
    const { status, headers } = response
    return new Response(response.body.pipeThrough(cut), { status, headers })
  }
}

import { randomUUID } from 'node:crypto'
import { createClient, watchRun } from '@agentgym/client'
import { describeOnEngines, postgresql } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppServices } from '../../app/app-services.ts'
import { listenHttp } from '../../app/http-listener.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember, removeMember } from '../../core/access/memberships.store.ts'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { createToken, revokeToken } from '../accounts/tokens.store.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { requireRun } from './run-access.ts'
import type { RunFeeds } from './run-feed.ts'
import { streamRun } from './run-stream.ts'
import { cancelWaiting, createOrganization, type RunServer, serveRuns, startRunServer } from './test/run-server.ts'
import { mustTakeTurn, startRun, type Turn } from './testing/train.ts'

/** A heartbeat at once where nothing happens, permission asked for before every piece. */
const often = { heartbeatMs: 5, recheckMs: 0, longestMs: 600_000 }

describeOnEngines('a stream of events on $kind', ({ open }) => {
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

  const begin = async (more: Record<string, unknown> = {}): Promise<Turn> => {
    await cancelWaiting(server.training)
    await startRun(server.training, more)
    return mustTakeTurn(server.training)
  }
  /** The stream for an actor, read up to its first heartbeat. */
  const watching = async (actor: Actor, id: string) => {
    const { run } = await requireRun(database.query, actor, id)
    const stream = streamRun(server.training.services, { actor, run, after: 0, times: often })
    const reader = stream?.getReader()
    if (reader === undefined) throw new Error('the run is over')
    const next = async () => {
      const { value } = await reader.read()
      return value === undefined ? 'end' : Buffer.from(value).toString()
    }
    for (let piece = await next(); piece !== ': still here\n\n'; piece = await next()) expect(piece).not.toBe('end')
    const untilEnd = async () => {
      while ((await next()) !== 'end');
    }
    return { next, untilEnd, cancel: () => reader.cancel() }
  }
  const withToken = async (actor: Actor): Promise<Actor> => {
    const { accountId } = actor
    const { id } = await createToken(database.query, {
      accountId,
      name: 'watcher',
      scopes: ['training:view'],
      expiresAt: null,
    })
    return { ...actor, tokenId: id }
  }

  it('sends heartbeats', async () => {
    const turn = await begin()
    const stream = await watching(server.training.ada, turn.id)
    expect(await stream.next()).toBe(': still here\n\n')
    await stream.cancel()
    expect(server.training.services.runFeeds.watchers).toBe(0)
  })

  it('ends once its token is revoked', async () => {
    const actor = await withToken(server.training.ada)
    const turn = await begin()
    const stream = await watching(actor, turn.id)
    const other = await watching(server.training.ada, turn.id)
    await database.transaction((query) => revokeToken(query, actor.accountId, actor.tokenId ?? ''))
    await stream.untilEnd()
    expect(await other.next()).toBe(': still here\n\n')
    await other.cancel()
  })

  it('ends once the watcher is no longer a member, or is disabled', async () => {
    const eve = await createActor(database)
    const lab = await createOrganization(database, [[server.training.ada, 'owner']])
    await putMember(database.query, lab.id, eve.accountId, 'viewer')
    const turn = await begin({ account: lab.username })
    const stream = await watching(eve, turn.id)
    await removeMember(database.query, lab.id, eve.accountId)
    await stream.untilEnd()
    await putMember(database.query, lab.id, eve.accountId, 'viewer')
    const again = await watching(eve, turn.id)
    await database.query
      .updateTable('accounts')
      .set({ disabled_at: new Date() })
      .where('id', '=', eve.accountId)
      .execute()
    await again.untilEnd()
  })

  it('ends after the maximum duration', async () => {
    const turn = await begin()
    const { run, actor } = await requireRun(database.query, server.training.ada, turn.id)
    const stream = streamRun(server.training.services, { actor, run, after: 0, times: { ...often, longestMs: 0 } })
    expect(await new Response(stream).text()).toBe('retry: 1000\n\n')
    expect(server.training.services.runFeeds.watchers).toBe(0)
  })
})

describe('two servers on one database', () => {
  let first: Database
  let second: Database
  let server: RunServer
  let other: { port: number; feeds: RunFeeds; stop(): Promise<void> }
  beforeAll(async () => {
    const address = await postgresql.create()
    first = await openDatabase(address)
    second = await openDatabase(address)
    server = await startRunServer(first)
    const listener = await listenHttp('127.0.0.1', 0)
    const services = openAppServices({ ...server.training.services, database: second })
    serveRuns(services, listener)
    other = { port: listener.port, feeds: services.runFeeds, stop: () => listener.drain(0) }
  })
  afterAll(async () => {
    await other?.stop()
    await server?.close()
    await second?.close()
    await first?.close()
  })

  const begin = async (): Promise<Turn> => {
    await startRun(server.training)
    return mustTakeTurn(server.training)
  }

  it('each streams events accepted by the other', async () => {
    const turn = await begin()
    const client = createClient({ server: `http://localhost:${other.port}`, token: server.token })
    const events = watchRun(client, turn.id)
    const seen = [(await events.next()).value?.type, (await events.next()).value?.type]
    await turn.train(2)
    seen.push((await events.next()).value?.type, (await events.next()).value?.type)
    await turn.complete()
    for await (const { type } of events) seen.push(type)
    expect(seen).toEqual(['queued', 'running', 'progress', 'progress', 'completed'])
  })

  it('a stopping server ends its streams, and watchers continue at the other', async () => {
    const turn = await begin()
    const ports = [other.port]
    const interruptions: string[] = []
    const client = createClient({
      server: 'http://gym.example.com',
      token: server.token,
      // As a balancer does.
      fetch: (address, init) => fetch(String(address).replace('gym.example.com', `localhost:${ports[0]}`), init),
    })
    const events = watchRun(client, turn.id, { onInterruption: (error) => void interruptions.push(String(error)) })
    for (const seq of [1, 2]) expect((await events.next()).value?.seq).toBe(seq)
    const rest = Array.fromAsync(events, ({ seq }) => seq)
    ports[0] = Number(new URL(server.url).port)
    other.feeds.close()
    await turn.train(3)
    await turn.complete()
    expect(await rest).toEqual([3, 4, 5, 6])
    expect(interruptions).toEqual(['Error: The server ended the stream.'])
    expect(other.feeds.watchers).toBe(0)
  })

  it('a client waits for a server that is down', async () => {
    const turn = await begin()
    const interruptions: unknown[] = []
    let there = false
    const client = createClient({
      server: server.url,
      token: server.token,
      fetch: (address, init) => (there ? fetch(address, init) : Promise.reject(new TypeError('fetch failed'))),
    })
    const onInterruption = (error: unknown) => {
      interruptions.push(error)
      there = interruptions.length === 2
    }
    await turn.complete()
    const seen = await Array.fromAsync(watchRun(client, turn.id, { onInterruption }), ({ seq }) => seq)
    expect(seen).toEqual([1, 2, 3])
    expect(interruptions).toMatchObject([{ code: 'server_unreachable' }, { code: 'server_unreachable' }])
  })

  it('but not for a missing run, nor after it was aborted', async () => {
    const client = createClient({ server: server.url, token: server.token })
    await expect(watchRun(client, randomUUID()).next()).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(watchRun(createClient({ server: server.url }), randomUUID()).next()).rejects.toMatchObject({
      code: 'unauthenticated',
    })
    const turn = await begin()
    const stopping = new AbortController()
    const events = watchRun(client, turn.id, { after: 2, signal: stopping.signal })
    const waiting = events.next()
    stopping.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

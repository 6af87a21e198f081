import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { postgresql } from '@agentgym/testkit/databases'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import { PostgresqlSignals } from './signals.ts'

describe('signals between processes', () => {
  let url: string
  let databases: Database[]
  const received: string[][] = [[], []]
  beforeAll(async () => {
    const address = await postgresql.create()
    if (!('url' in address)) throw new Error('a folder is no address of PostgreSQL')
    url = address.url
    databases = [await openDatabase(address), await openDatabase(address)]
    for (const [index, { signals }] of databases.entries())
      signals.listen((message) => received[index].push(message), expect.unreachable)
  })
  afterAll(async () => {
    for (const database of databases) await database.close()
  })

  /** Signals may be lost until both are connected, so it sends until one has arrived. */
  async function reach(from: number, to: number, name: string): Promise<void> {
    for (let sent = 0; !received[to].some((message) => message.startsWith(`${name}:`)); sent++) {
      if (sent === 600) throw new Error(`${name} never arrived`)
      databases[from].signals.send(`${name}:${sent}`)
      await delay(100)
    }
  }

  it('reach all of them in order, even in bursts', async () => {
    await reach(0, 1, 'first')
    await reach(1, 0, 'second')
    const messages = Array.from({ length: 3_000 }, (_, index) => `many:${index}`)
    for (const message of messages) databases[0].signals.send(message)
    const many = (index: number) => received[index].filter((message) => message.startsWith('many:'))
    await expect.poll(() => [many(0).length, many(1).length], { timeout: 60_000 }).toEqual([3_000, 3_000])
    expect(many(1)).toEqual(messages)
  })

  it('resume after a lost connection', async () => {
    await reach(0, 1, 'before')
    await databases[0].execute(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'agentgym signals'
       and datname = current_database()`,
    )
    await reach(0, 1, 'after')
  }, 90_000)

  it('end with a warning if a pooler accepts LISTEN but forwards nothing', async () => {
    const pooler = await startDeafPooler(url)
    const signals = new PostgresqlSignals({ connectionString: pooler.url }, { probeMs: 200 })
    const problem = await new Promise<string>((resolve) => signals.listen(expect.unreachable, resolve))
    expect(problem).toContain('pooler in transaction mode')
    signals.send('without:listener')
    await signals.close()
    await pooler.close()
  })

  it('can be closed while the database is unreachable', async () => {
    const signals = new PostgresqlSignals({ connectionString: 'postgresql://localhost:1/nothing' })
    signals.listen(expect.unreachable, expect.unreachable)
    await delay(50)
    await signals.close()
  })
})

/**
 * Forwards everything from PostgreSQL except notifications (messages of type A), like PgBouncer in transaction mode.
 */
async function startDeafPooler(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const { host, port, user, password, database } = new pg.Client(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.pipe(upstream)
    let rest = Buffer.alloc(0)
    upstream.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const end = 1 + rest.readUInt32BE(1)
        if (rest[0] !== 'A'.charCodeAt(0)) client.write(rest.subarray(0, end))
        rest = rest.subarray(end)
      }
    })
    upstream.on('end', () => client.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const account = [user ?? '', password ?? ''].map(encodeURIComponent).join(':')
  return {
    url: `postgresql://${account}@127.0.0.1:${(server.address() as { port: number }).port}/${database}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

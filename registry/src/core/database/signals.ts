import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/**
 * Short messages between the processes of an installation, sent after a commit to announce new data. Messages may be
 * lost, so receivers also poll. On PGlite there is one process, and nothing is sent.
 */
export type Signals = {
  /** Never throws and never waits. At most 200 bytes, only characters of IDs and colons. */
  send(message: string): void
  /** Calls `receive` for messages from all processes, including this one. `warn` reports once if none arrive. */
  listen(receive: (message: string) => void, warn: (problem: string) => void): void
  close(): Promise<void>
}

export const noSignals: Signals = { send: () => {}, listen: () => {}, close: async () => {} }

const channel = 'agentgym'
/** PostgreSQL allows 8,000. */
const payloadBytes = 7_000
/** Messages queued while the connection is lost or slow. Dropped ones are found by polling. */
const mostWaiting = 10_000
const shortestRetryMs = 500
const longestRetryMs = 30_000

/** `Client`: closes connections that stop responding. */
type SignalOptions = pg.ClientConfig & { Client?: typeof pg.Client }

/** A frozen server must not delay the shutdown. */
const closingMs = 2_000

const deaf = 'Notifications of PostgreSQL do not arrive: is there a pooler in transaction mode? Polling instead.'

/**
 * LISTEN and NOTIFY on a separate connection, opened at the first subscription.
 *
 * A transaction that notifies holds a server-wide lock until it commits. So messages are not sent in the transactions
 * they announce: this connection sends them in batches, one transaction at a time, without waiting for the disk.
 */
export class PostgresqlSignals implements Signals {
  readonly #options: SignalOptions
  readonly #probeMs: number
  readonly #listeners: { receive(message: string): void; warn(problem: string): void }[] = []
  #client: pg.Client | undefined
  #connecting: Promise<void> | undefined
  readonly #closed = new AbortController()
  #waiting: string[] = []
  #sending = false

  /** `probeMs`: how long the first notification, to itself, may take. */
  constructor(options: SignalOptions, { probeMs = 10_000 }: { probeMs?: number } = {}) {
    this.#options = options
    this.#probeMs = probeMs
  }

  send(message: string): void {
    if (this.#waiting.length < mostWaiting) this.#waiting.push(message)
    if (this.#client !== undefined) void this.#flush(this.#client)
  }

  listen(receive: (message: string) => void, warn: (problem: string) => void): void {
    this.#listeners.push({ receive, warn })
    this.#connecting ??= this.#keepConnected()
  }

  async close(): Promise<void> {
    this.#closed.abort()
    const ended = Promise.all([this.#client?.end().catch(() => {}), this.#connecting])
    await Promise.race([ended, delay(closingMs, undefined, { ref: false })])
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closed
    const { Client = pg.Client, ...options } = this.#options
    for (let retryMs = shortestRetryMs; !signal.aborted; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      const connectedMs = performance.now()
      const client = new Client(options)
      try {
        const lost = new Promise<void>((resolve) => {
          client.on('end', resolve)
          // Also emits `end`; without a listener it would end the process.
          client.on('error', () => {})
        })
        const arrived = this.#deliver(client)
        await client.connect()
        await client.query(`set synchronous_commit to off; listen ${channel}`)
        if (!(await this.#probe(client, arrived)) && !signal.aborted) {
          for (const { warn } of this.#listeners) warn(deaf)
          await client.end()
          return
        }
        this.#client = client
        void this.#flush(client)
        if (!signal.aborted) await lost
      } catch {
        // The database is unreachable, which is reported elsewhere.
      }
      this.#client = undefined
      this.#sending = false
      await client.end().catch(() => {})
      if (performance.now() - connectedMs > longestRetryMs) retryMs = shortestRetryMs
      await delay(retryMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    }
  }

  /** Forwards messages. Resolves when the probe has arrived. */
  #deliver(client: pg.Client): Promise<true> {
    const { promise, resolve } = Promise.withResolvers<true>()
    client.on('notification', ({ payload = '' }) => {
      if (payload === '') resolve(true)
      else for (const message of payload.split(' ')) for (const { receive } of this.#listeners) receive(message)
    })
    return promise
  }

  async #probe(client: pg.Client, arrived: Promise<true>): Promise<boolean> {
    await client.query(`notify ${channel}`)
    const { signal } = this.#closed
    return Promise.race([arrived, delay(this.#probeMs, false, { signal, ref: false }).catch(() => false)])
  }

  async #flush(client: pg.Client): Promise<void> {
    if (this.#sending) return
    this.#sending = true
    try {
      while (this.#waiting.length > 0 && this.#client === client) {
        const payload = this.#takePayload()
        await client.query('select pg_notify($1, $2)', [channel, payload])
      }
    } catch {
      // Lost messages are found by polling; the connection reopens by itself.
    } finally {
      if (this.#client === client) this.#sending = false
    }
  }

  #takePayload(): string {
    let length = 0
    const count = this.#waiting.findIndex((message) => {
      length += message.length + 1
      return length > payloadBytes
    })
    return this.#waiting.splice(0, count === -1 ? this.#waiting.length : count).join(' ')
  }
}

import { once } from 'node:events'
import { type RawData, WebSocket } from 'ws'
import type { BuiltScenario } from '../../sandbox/build-scenario.ts'
import type { JobLimits } from '../../sandbox/limits.ts'
import { type EnvServerOptions, envServer } from '../env-server.ts'
import { listenEnvironments } from '../listen.ts'
import { openEnvironment, type ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'

export type ServedFixture = {
  url: string
  sessions: Sessions
  environments: ServedEnvironment[]
  close(): Promise<void>
}

type FixtureOptions = Partial<EnvServerOptions> & { pingMs?: number; limits?: Partial<JobLimits> }

/** Serves scenarios on a free port of this machine. */
export async function serveScenarios(
  scenarios: readonly BuiltScenario[],
  { most = 16, idleMs = 600_000, key, withoutKey, pingMs, limits }: FixtureOptions = {},
): Promise<ServedFixture> {
  const environments = await Promise.all(scenarios.map((scenario) => openEnvironment(scenario, { limits })))
  const { app, sessions } = envServer(environments, { most, idleMs, key, withoutKey })
  const server = await listenEnvironments(app, { host: '127.0.0.1', port: 0, pingMs })
  return {
    url: server.url,
    sessions,
    environments,
    async close() {
      sessions.close()
      await server.close()
      await Promise.all(environments.map(({ host }) => host.close()))
    },
  }
}

/** What a server of OpenEnv sends. */
export type WireMessage = {
  type: string
  data: {
    observation: Record<string, unknown>
    reward: number | null
    done: boolean
    metadata: Record<string, unknown>
    code: string
    message: string
    [field: string]: unknown
  }
}

/** A client's socket: messages are awaited one after another, in the order in which they come. */
export class TestSocket {
  readonly socket: WebSocket
  readonly #received: WireMessage[] = []
  readonly #waiting: ((message: WireMessage) => void)[] = []
  readonly closed: Promise<number>

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: RawData) => {
      const message: WireMessage = JSON.parse(String(data))
      const next = this.#waiting.shift()
      if (next === undefined) this.#received.push(message)
      else next(message)
    })
    this.closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => {})
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<TestSocket> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
    const opened = new TestSocket(socket)
    await once(socket, 'open')
    return opened
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  async next(): Promise<WireMessage> {
    const first = this.#received.shift()
    return first ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  async ask(message: unknown): Promise<WireMessage> {
    this.send(message)
    return this.next()
  }

  reset(data: object = {}) {
    return this.ask({ type: 'reset', data })
  }

  step(data: object) {
    return this.ask({ type: 'step', data })
  }

  /** Without a closing handshake, as a process that is killed. */
  cut(): void {
    this.socket.terminate()
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }
}

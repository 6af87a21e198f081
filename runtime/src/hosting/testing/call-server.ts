import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { integrityOf } from '@agentgym/client'
import {
  AgentGymError,
  type CallAnswer,
  callAnswersRequestSchema,
  callsABatch,
  errorCatalog,
  type LeasedCalls,
  leaseCallsRequestSchema,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'

export type HostedAgent = LeasedCalls['agent']
type StoredCall = LeasedCalls['calls'][number] & { agent: HostedAgent; lease: string | null; answer?: CallAnswer }

/** What befalls a request: `trouble` is a status 500, `lost` breaks the connection after it was handled. */
export type CallDisturbance = 'trouble' | 'lost' | 'forbidden' | 'unknown' | undefined

/** A server of hosted calls in memory that speaks the contract, and holds workers to it. */
export class CallServer {
  readonly calls: StoredCall[] = []
  readonly leases: { loaded: string[]; worker_id: string }[] = []
  /** What a worker must never do. */
  readonly violations: string[] = []
  disturb: (path: string) => CallDisturbance = () => undefined
  leaseMs = 20_000
  readonly #files = new Map<string, Uint8Array>()
  readonly #waiting = new Set<() => void>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  url = ''

  static async start(): Promise<CallServer> {
    const server = new CallServer()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    server.url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`
    return server
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async host(name: string, tarball: Uint8Array, change: Partial<HostedAgent> = {}): Promise<HostedAgent> {
    const id = randomUUID()
    this.#files.set(id, tarball)
    const url = `${this.url}/files/${id}`
    return { id, name, version: '1.0.0', integrity: await integrityOf(tarball), tarball_url: url, ...change }
  }

  /** Calls an agent; resolves with the answer. */
  async call(agent: HostedAgent, observation: unknown, action_mask: unknown = null): Promise<CallAnswer> {
    const call = { id: randomUUID(), observation, action_mask, agent, lease: null } as StoredCall
    this.calls.push(call)
    this.#wake()
    await this.until(() => call.answer !== undefined)
    return call.answer as CallAnswer
  }

  /** Resolves when it is so after some request. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  /** The leases are over: the calls go to whoever asks. */
  expire(): void {
    for (const call of this.calls) call.lease = null
    this.#wake()
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.url).pathname
    try {
      const body = await buffer(request)
      const disturbance = this.disturb(path)
      if (disturbance === 'trouble') throw new Error('trouble')
      if (disturbance === 'forbidden') throw new AgentGymError({ code: 'forbidden', message: 'No worker.' })
      if (disturbance === 'unknown') throw new AgentGymError({ code: 'endpoint_not_found', message: 'Nothing here.' })
      if (path.startsWith('/files/')) return void response.end(this.#files.get(path.slice('/files/'.length)))
      const answer = await this.#answer(path, body.toString(), response)
      if (disturbance === 'lost') return void request.socket.destroy()
      response.statusCode = answer === undefined ? 204 : 200
      response.setHeader('content-type', 'application/json')
      response.setHeader(workerProtocolHeader, workerProtocol)
      response.end(answer === undefined ? undefined : JSON.stringify(answer))
    } catch (error) {
      if (!(error instanceof AgentGymError) && (error as Error).message !== 'trouble')
        this.violations.push(String(error))
      const report =
        error instanceof AgentGymError ? error.toReport() : { code: 'internal_error' as const, message: 'trouble' }
      response.statusCode = errorCatalog[report.code].status
      response.end(JSON.stringify({ error: report }))
    } finally {
      this.#wake()
    }
  }

  async #answer(path: string, body: string, response: ServerResponse): Promise<unknown> {
    if (path === '/v1/jobs/lease') return undefined
    if (path === '/v1/hosted-calls/answers') return this.#take(callAnswersRequestSchema.parse(JSON.parse(body)))
    if (path !== '/v1/hosted-calls/lease') throw new Error(`no such request: ${path}`)
    const { wait_ms, ...requested } = leaseCallsRequestSchema.parse(JSON.parse(body))
    this.leases.push(requested)
    let over = false
    const end = () => {
      over = true
      this.#wake()
    }
    response.on('close', end)
    const timer = setTimeout(end, wait_ms)
    await this.until(() => over || this.calls.some(isWaiting))
    clearTimeout(timer)
    return response.destroyed ? undefined : this.#lease()
  }

  #lease(): LeasedCalls | undefined {
    const agent = this.calls.find(isWaiting)?.agent
    if (agent === undefined) return undefined
    const lease = randomUUID()
    const calls = this.calls.filter((call) => isWaiting(call) && call.agent.id === agent.id).slice(0, callsABatch)
    for (const call of calls) call.lease = lease
    const expires_at = new Date(Date.now() + this.leaseMs).toISOString()
    return {
      ...{ lease, expires_at, agent },
      calls: calls.map(({ id, observation, action_mask }) => ({ id, observation, action_mask })),
    }
  }

  #take({ lease, answers }: { lease: string; answers: CallAnswer[] }): { taken: number; late: number } {
    let taken = 0
    for (const answer of answers) {
      const call = this.calls.find(({ id }) => id === answer.id)
      if (call === undefined) this.violations.push(`an answer to no call: ${answer.id}`)
      if (call === undefined || call.lease !== lease) continue
      if (call.answer === undefined) taken += 1
      call.answer ??= answer
    }
    return { taken, late: answers.length - taken }
  }
}

const isWaiting = ({ answer, lease }: StoredCall) => answer === undefined && lease === null

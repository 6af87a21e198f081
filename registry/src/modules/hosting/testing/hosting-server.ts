import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type CallAnswer,
  type HostedCall,
  type LeasedCalls,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'
import { type ApiResult, serveRoutes } from '@agentgym/testkit/registry'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { Listed } from '../../orders/testing/marketplace.ts'
import { createTrader } from '../../orders/testing/marketplace.ts'
import { type CallBroker, type HostingTimes, openHostingServices } from '../call-broker.ts'
import { chatRoutes } from '../chat.routes.ts'
import { decisionRoutes } from '../decisions.routes.ts'
import { hostedCallRoutes } from '../hosted-calls.routes.ts'
import { mcpRoutes } from '../mcp.routes.ts'

export type HostingServer = Awaited<ReturnType<typeof startHosting>>

/** The module inside the whole application, a worker's token, and what callers and workers do with it. */
export async function startHosting(database: Database, times: HostingTimes) {
  const brokers: CallBroker[] = []
  const server = await serveRoutes(database, (services) => {
    const timed = openHostingServices(services, times)
    brokers.push(timed.callBroker)
    return [hostedCallRoutes(timed), chatRoutes(timed), decisionRoutes(timed), mcpRoutes(timed)]
  })
  const operator = await createTrader(database, 'operator')
  await database.query.updateTable('accounts').set({ operator: true }).where('id', '=', operator.accountId).execute()
  const worker = await server.tokenOf(operator, 'worker')
  const lease = async (waitMs = 0, loaded: string[] = []): Promise<LeasedCalls | undefined> => {
    const body = { worker_id: randomUUID(), loaded, wait_ms: waitMs }
    const headers = { [workerProtocolHeader]: workerProtocol }
    const answer = await server.call('POST', '/v1/hosted-calls/lease', { token: worker, headers, json: body })
    return answer.status === 204 ? undefined : (answer.body as unknown as LeasedCalls)
  }
  const answer = async (lease: string, answers: CallAnswer[]): Promise<ApiResult> =>
    server.ask(worker, 'POST', '/v1/hosted-calls/answers', { lease, answers })
  return {
    ...server,
    callBroker: brokers[0],
    database,
    lease,
    answer,
    callerToken: (actor: Actor) => server.tokenOf(actor, 'agents:call'),
    /** Calls an agent; with `key` under that key. */
    async call(token: string | null, agent: Pick<Listed, 'name'>, more: CallMore = {}): Promise<ApiResult> {
      const { key, signal, maxPrice = 1e12, ...request } = more
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
      if (maxPrice !== null) headers['agentgym-max-price'] = String(maxPrice)
      const json = { observation: [1, 2], ...request }
      const sent = { token, headers, json, signal }
      const { status, code, body } = await server.call('POST', `/v1/packages/${agent.name}/calls`, sent)
      return { status, code, body }
    },
    /** A worker that asks with that wait, runs until it is stopped, and answers with the result of `decide`. */
    work(decide: (call: Asked) => CallAnswer = acted, waitMs = 200): { stop(): Promise<void> } {
      let stopped = false
      const loop = (async () => {
        while (!stopped) {
          const leased = await lease(waitMs)
          if (leased !== undefined) await answer(leased.lease, leased.calls.map(decide))
        }
      })()
      return {
        stop: () => {
          stopped = true
          return loop
        },
      }
    },
  }
}

/** A call as a worker gets it. */
export type Asked = LeasedCalls['calls'][number]

/** `maxPrice`: of 1,000 calls; any where it is left out, none is sent where it is null. */
type CallMore = {
  maxPrice?: number | null
  max_price_minor?: number
  key?: string
  signal?: AbortSignal
  observation?: HostedCall['action']
  version?: string
}

/** The agent's action for every observation. */
export const acted = ({ id }: { id: string }): CallAnswer => ({
  ...{ id, action: 1, label: 'right', probabilities: [0.25, 0.75], model_ms: 0.5 },
})

export const failed = ({ id }: { id: string }): CallAnswer => ({
  id,
  error: { code: 'model_timeout', message: 'The model did not answer within 1 s.' },
})

/** Polls until the condition holds, for ten seconds at most. */
export async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  for (let requested = 0; !(await holds()); requested++) {
    if (requested === 1_000) throw new Error(`It never came to pass: ${holds}`)
    await delay(10)
  }
}

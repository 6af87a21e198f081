import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { AgentGymError } from '@agentgym/contract'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { inUrl } from './own-address.ts'

type Fetch = (request: Request, bindings: HttpBindings) => Response | Promise<Response>

export type HttpListener = {
  /** Begins to accept connections. Throws `config_invalid` if it cannot. */
  listen(): Promise<void>
  /** Once it listens. */
  readonly port: number
  /** Begins to answer requests, or answers them differently from now on; the first ones wait until then. */
  answerWith(fetch: Fetch): void
  /** Takes no more connections, lets requests under way end for at most `graceMs`, then breaks them off. */
  drain(graceMs: number): Promise<void>
}

/** Listens before anything can be answered, so that answers can contain a free port's number. */
export async function listenHttp(host: string, port: number): Promise<HttpListener> {
  const listener = createHttpListener(host, port)
  await listener.listen()
  return listener
}

/** Does not listen yet. */
export function createHttpListener(host: string, port: number): HttpListener {
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>()
  let answer: Fetch
  const server = createAdaptorServer({
    fetch: async (request, bindings) => {
      await ready
      return answer(request, bindings as HttpBindings)
    },
    overrideGlobalObjects: false,
  }) as HttpServer
  server.headersTimeout = 30_000
  server.requestTimeout = 300_000
  // Longer than load balancers in front keep a connection idle; otherwise they send into one that is being closed.
  server.keepAliveTimeout = 75_000
  return {
    listen: () => listen(server, host, port),
    get port() {
      return (server.address() as AddressInfo).port
    },
    answerWith: (fetch) => {
      answer = fetch
      begin()
    },
    drain: (graceMs) => drain(server, graceMs),
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(host, port, cause)))
  server.listen(port, host, resolve)
  return promise
}

async function drain(server: HttpServer, graceMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeIdleConnections()
  // A connection whose answer ends later is idle only then.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): AgentGymError {
  const taken = cause.code === 'EADDRINUSE'
  return new AgentGymError(
    {
      code: 'config_invalid',
      message: taken
        ? `Port ${port} on ${host} is already in use.`
        : `The server cannot listen on ${inUrl(host)}:${port}: ${cause.message}.`,
      hint: taken
        ? 'Stop the process that uses it, or choose another port with --port or AGENTGYM_PORT.'
        : 'Check AGENTGYM_HOST and AGENTGYM_PORT.',
      data: { field: taken ? 'AGENTGYM_PORT' : 'AGENTGYM_HOST', host, port },
    },
    { cause },
  )
}

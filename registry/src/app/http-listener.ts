import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { AgentGymError } from '@agentgym/contract'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { inUrl } from './own-address.ts'

type Fetch = (request: Request, bindings: HttpBindings) => Response | Promise<Response>

export type HttpListener = {
  /** Starts to accept connections. Throws `config_invalid` if it cannot. */
  listen(): Promise<void>
  /** Once it listens. */
  readonly port: number
  /** Sets the handler of requests. Requests that arrive before the first call wait for it. */
  answerWith(fetch: Fetch): void
  /** Stops accepting connections, gives active requests `graceMs` to finish, then aborts them. */
  drain(graceMs: number): Promise<void>
}

/** Listens before requests can be handled, so that the port is known when URLs are built. */
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
  // Longer than the idle timeout of load balancers, which would otherwise send requests on connections that are being
  // closed.
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
  // A connection with an unfinished response becomes idle later.
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

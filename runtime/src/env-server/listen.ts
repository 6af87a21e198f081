import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { addressUnusable } from '@agentgym/agent/own-server'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { type WebSocket, WebSocketServer } from 'ws'

export type Listening = { url: string; close(): Promise<void> }

export type ListenOptions = {
  host: string
  port: number
  /** How often the other end of each socket is asked whether it is there; one that has not answered until the next time is cut. */
  pingMs?: number
}

/** Largest frame of a socket: that of a client that steps many environments at once. */
const FRAME_BYTES = 16 * 2 ** 20

/** Starts a server of HTTP and WebSockets. Port 0 takes a free one. Throws `config_invalid` for an address that cannot be used. */
export async function listenEnvironments(
  app: Hono,
  { host, port, pingMs = 20_000 }: ListenOptions,
): Promise<Listening> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES, perMessageDeflate: false })
  const server = createAdaptorServer({ fetch: app.fetch, websocket: { server: sockets } }) as Server
  const alive = new Set<WebSocket>()
  sockets.on('connection', (socket: WebSocket) => {
    alive.add(socket)
    socket.on('pong', () => alive.add(socket))
    socket.on('message', () => alive.add(socket))
    socket.on('close', () => alive.delete(socket))
  })
  const pings = setInterval(() => cutTheDead(sockets, alive), pingMs)
  pings.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(addressUnusable(host, port, cause)))
    server.listen(port, host, resolve)
  })
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${own}`,
    close: () => {
      clearInterval(pings)
      for (const socket of sockets.clients) socket.close(1001)
      return new Promise((resolve) => {
        server.close(() => resolve())
        // Clients keep connections open for requests to come.
        server.closeIdleConnections()
        setTimeout(() => {
          for (const socket of sockets.clients) socket.terminate()
          server.closeAllConnections()
        }, 2_000).unref()
      })
    },
  }
}

/** A machine that has lost its network, or a laptop that was shut, closes no socket: nothing but silence says so. */
function cutTheDead(sockets: WebSocketServer, alive: Set<WebSocket>): void {
  for (const socket of sockets.clients) {
    if (!alive.delete(socket)) socket.terminate()
    else socket.ping()
  }
}

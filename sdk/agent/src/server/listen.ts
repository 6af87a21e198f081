import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { addressUnusable } from './own-server.ts'

export type Listening = { url: string; close(): Promise<void> }

/** Starts an HTTP server. Port 0 takes a free one. Throws `config_invalid` for an address that cannot be used. */
export async function listenAgents(app: Hono, { host, port }: { host: string; port: number }): Promise<Listening> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(addressUnusable(host, port, cause)))
    server.listen(port, host, resolve)
  })
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${own}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        // Clients keep connections open for requests to come.
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), 5_000).unref()
      }),
  }
}

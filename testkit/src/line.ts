import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** `works`: passes everything on. `silent`: accepts, and never answers, as a firewall or a frozen machine. `closed`: resets. */
type LineState = 'works' | 'silent' | 'closed'

export type Line = {
  port: number
  /** Applies to the connections that are open, too. */
  set(state: LineState): void
  close(): Promise<void>
}

/** A port of this machine that leads to a server, over a line that a test can cut. */
export async function openLine(target: NetConnectOpts): Promise<Line> {
  let state: LineState = 'works'
  const [clients, sockets] = [new Set<Socket>(), new Set<Socket>()]
  const server = createServer((client) => {
    if (state === 'closed') return client.resetAndDestroy()
    const far = connect(target)
    clients.add(client)
    client.on('close', () => clients.delete(client))
    for (const [from, to] of [
      [client, far],
      [far, client],
    ]) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', (chunk) => {
        if (state === 'works') to.write(chunk)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    set: (next) => {
      state = next
      if (next === 'closed') for (const socket of clients) socket.resetAndDestroy()
    },
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

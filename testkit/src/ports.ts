import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below those that the system gives to outgoing connections, which would take a port before it is used. */
const range = [12_000, 32_000] as const

/** Ports of 127.0.0.1 that nothing listens on now, each another. For programs that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, hold))
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))))
  return held.map(({ port }) => port)
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  return port
}

async function hold(): Promise<{ port: number; server: Server }> {
  for (;;) {
    const port = randomInt(...range)
    const server = createServer().listen(port, '127.0.0.1')
    const [outcome] = await Promise.allSettled([once(server, 'listening')])
    if (outcome.status === 'fulfilled') return { port, server }
  }
}

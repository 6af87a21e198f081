import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { pipeline } from 'node:stream'

/** A forward proxy on this machine that records what it is asked for: `GET http://host/path`, `CONNECT host:443`. */
export async function startProxy({ credentials }: { credentials?: string } = {}) {
  const asked: string[] = []
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
  const isAllowed = ({ headers }: IncomingMessage) =>
    expected === undefined || headers['proxy-authorization'] === expected
  const server = createServer((incoming, outgoing) => {
    if (!isAllowed(incoming)) return void outgoing.writeHead(407).end()
    asked.push(`${incoming.method} ${incoming.url}`)
    const { method, headers } = incoming
    const onward = request(incoming.url ?? '', { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, outgoing, () => {})
    })
    onward.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
    outgoing.on('close', () => onward.destroy())
    pipeline(incoming, onward, () => {})
  })
  server.on('connect', (incoming, socket) => {
    if (!isAllowed(incoming)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    asked.push(`CONNECT ${incoming.url}`)
    const { hostname, port } = new URL(`http://${incoming.url}`)
    // `.test` names exist behind this proxy only: all of them are this machine.
    const onward = connect(Number(port || 80), hostname.endsWith('.test') ? '127.0.0.1' : hostname)
    onward.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    onward.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      pipeline(socket, onward, socket, () => {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${port}`,
    asked,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

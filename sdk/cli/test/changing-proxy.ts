import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ChangingProxy = { url: string; close(): Promise<void> }

/** A proxy that passes everything on and flips one bit in every tarball. */
export async function startChangingProxy(target: string): Promise<ChangingProxy> {
  const server = createServer((incoming, outgoing) => {
    const { pathname, search } = new URL(incoming.url ?? '/', target)
    const { host, ...headers } = incoming.headers
    const forwarded = request(target + pathname + search, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      let first = pathname.endsWith('.tgz')
      answer.on('data', (piece: Buffer) => {
        if (first) piece[piece.length - 1] ^= 1
        first = false
        outgoing.write(piece)
      })
      answer.on('end', () => outgoing.end())
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ChangingProxy = { url: string; close(): Promise<void> }

/** A proxy that passes everything on and flips one bit in every tarball, or changes the text of what is no tarball. */
export async function startChangingProxy(
  target: string,
  changeText: (text: string) => string = (text) => text,
): Promise<ChangingProxy> {
  const server = createServer((incoming, outgoing) => {
    const { pathname, search } = new URL(incoming.url ?? '/', target)
    // Uncompressed: what is changed here is text.
    const { host, 'accept-encoding': encoding, ...headers } = incoming.headers
    const forwarded = request(target + pathname + search, { method: incoming.method, headers }, (answer) => {
      const { 'content-length': length, 'transfer-encoding': transfer, ...kept } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, kept)
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => {
        const body = Buffer.concat(pieces)
        if (pathname.endsWith('.tgz')) body[body.length - 1] ^= 1
        outgoing.end(pathname.endsWith('.tgz') ? body : changeText(body.toString('utf8')))
      })
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

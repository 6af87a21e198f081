import { once } from 'node:events'
import { createServer, request } from 'node:http'

/** A typical reverse proxy: serves our server below a prefix, which it strips, and can decode slashes within a path. */
export async function startProxy(
  target: () => string,
  { port, prefix, decodesSlash }: { port: number; prefix: string; decodesSlash: boolean },
): Promise<{ url: string; paths: string[]; close(): void }> {
  const paths: string[] = []
  const server = createServer((incoming, outgoing) => {
    paths.push(incoming.url ?? '')
    const stripped = (incoming.url ?? '').replace(prefix, '')
    const path = decodesSlash ? stripped.replaceAll(/%2f/gi, '/') : stripped
    const { hostname, port } = new URL(target())
    const { method, headers } = incoming
    const forwarded = request({ hostname, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    paths,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as verdaccio from 'verdaccio'
import { askNodeListener, type BridgedRequest } from './node-bridge.ts'
import { canonicalPath, type ReadTarget } from './npm-path.ts'
import { currentReading, type NpmSource, type Reading, verdaccioAuth, verdaccioStorage } from './verdaccio-plugins.ts'

export type VerdaccioReader = {
  /**
   * Answers a request for a packument, a version or a tarball. Throws the error with which `source` refuses the reader.
   */
  read(
    target: ReadTarget,
    request: { method: BridgedRequest['method']; header(name: string): string | undefined; signal?: AbortSignal },
    source: NpmSource,
  ): Promise<Response>
}

/** Headers that a client may send to Verdaccio. Without credentials, because the caller is already authenticated. */
const passedHeaders = ['accept', 'accept-encoding', 'if-none-match', 'user-agent']

/**
 * Verdaccio as a reader of packages: created at the first request (its import takes most of a second), without a port,
 * files, uplinks, web pages or logs. `report` receives its failures.
 */
export function verdaccioReader(publicUrl: string, report: (error: unknown) => void): VerdaccioReader {
  const address = new URL(publicUrl)
  let server: Promise<Server> | undefined
  const started = () => {
    server ??= startVerdaccio(address).catch((error) => {
      server = undefined
      throw error
    })
    return server
  }
  return {
    async read(target, { method, header, signal }, source) {
      const running = await started()
      const headers: Record<string, string> = {
        host: addressedHost(address, header('host')),
        'x-forwarded-proto': address.protocol.replace(':', ''),
      }
      for (const name of passedHeaders) {
        const value = header(name)
        if (value !== undefined) headers[name] = value
      }
      let reading: Reading | undefined
      const response = await askNodeListener(
        (request, answer) => {
          reading = { source, answer, report }
          currentReading.run(reading, () => running.emit('request', request, answer.response))
        },
        { method, path: canonicalPath({ ...target, name: source.name }), headers },
        signal,
      )
      // Verdaccio sends only the message; our error also has the code.
      if (response.status >= 400 && reading?.refused !== undefined) {
        await response.body?.cancel()
        throw reading.refused
      }
      // CORS is not left to Verdaccio.
      response.headers.delete('access-control-allow-origin')
      if (response.status >= 400) response.headers.set('content-type', 'application/json; charset=utf-8')
      // Clients cache it and revalidate each time: a tag or a yank takes effect at once.
      else if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'private, no-cache')
      response.headers.append('vary', 'Accept, Authorization, Cookie')
      return response
    },
  }
}

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/**
 * The host in tarball URLs: the public one, whatever host the client used. Only local names are kept, because npm sends
 * a token only to the host name in .npmrc.
 */
function addressedHost({ host, port }: URL, request: string | undefined): string {
  const isAlias = request !== undefined && loopback.test(host) && loopback.test(request)
  return isAlias && request.endsWith(`:${port}`) ? request : host
}

async function startVerdaccio({ pathname }: URL): Promise<Server> {
  const { runServer } = requireVerdaccio()
  const plugin = (create: () => object) => ({ 'agentgym.ts': { create } })
  const settings = {
    // Verdaccio requires the path of a configuration file, to resolve relative paths.
    configPath: '/nonexistent',
    plugins: dirname(fileURLToPath(new URL('./plugins/verdaccio-agentgym.ts', import.meta.url))),
    auth: plugin(verdaccioAuth),
    store: plugin(() => verdaccioStorage(randomBytes(16).toString('hex'))),
    middlewares: {},
    filters: {},
    uplinks: {},
    packages: { '**': { access: '$all', publish: '$authenticated' } },
    web: { enable: false },
    user_agent: false,
    url_prefix: `${pathname.replace(/\/$/, '')}/npm/`,
    log: { type: 'stdout', format: 'json', level: 'silent' },
  }
  return runServer(settings as unknown as Parameters<typeof runServer>[0])
}

/**
 * Loads Verdaccio and undoes the global side effects of one of its libraries: it listens to all terminating signals and
 * re-sends them if there is no other listener, which would interrupt a graceful shutdown; and it replaces
 * `process.emit`. `require` loads synchronously, so only the library's own listeners are removed.
 */
function requireVerdaccio(): typeof verdaccio {
  const host = process as NodeJS.Process & { reallyExit: unknown }
  const { emit, reallyExit } = host
  const listeners = new Map(process.eventNames().map((event) => [event, new Set(process.rawListeners(event))]))
  const loaded: typeof verdaccio = createRequire(import.meta.url)('verdaccio')
  for (const event of process.eventNames())
    for (const listener of process.rawListeners(event))
      if (String(event).startsWith('SIG') && !listeners.get(event)?.has(listener))
        process.removeListener(event, listener as () => void)
  Object.assign(host, { emit, reallyExit })
  return loaded
}

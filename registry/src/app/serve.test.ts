import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dataFolder } from '@agentgym/testkit/registry'
import { runFolder } from '@agentgym/testkit/run-folder'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listenHttp } from './http-listener.ts'
import { type RunningServer, serve } from './serve.ts'
import type { ServeOptions } from './settings/read-settings.ts'
import { startCollector } from './testing/otlp-collector.ts'

const environment = { AGENTGYM_LOG_LEVEL: 'error' }
let data: string
let running: RunningServer[] = []
const start = async (options: ServeOptions) => {
  const server = await serve({ port: 0, environment, ...options })
  running.push(server)
  return server
}
beforeEach(async () => {
  data = await dataFolder()
})
afterEach(async () => {
  await Promise.all(running.map((server) => server.close()))
  running = []
  await rm(data, { recursive: true, force: true })
})

async function post(url: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

describe('serve', () => {
  it('keeps accounts, sessions and tokens across a restart', async () => {
    const account = { username: 'ada', email: 'ada@example.com', password: 'correct horse battery' }
    const first = await start({ data })
    expect(await (await fetch(`${first.url}/readyz`)).json()).toEqual({
      ok: true,
      database: true,
      objects: true,
      down: [],
      draining: false,
    })
    expect((await post(first.url, '/v1/accounts', account)).status).toBe(201)
    const { username, password } = account
    const cookie =
      (await post(first.url, '/v1/sessions', { username, password })).headers.get('set-cookie')?.split(';')[0] ?? ''
    await first.close()
    await first.close()

    const second = await start({ data })
    const me = await fetch(`${second.url}/v1/account`, { headers: { cookie } })
    expect(await me.json()).toMatchObject({ username: 'ada', operator: true })
  })

  it('refuses a folder or a port that is in use', async () => {
    const server = await start({ data })
    const elsewhere = await mkdtemp(join(runFolder(), 'elsewhere-'))
    const port = Number(new URL(server.url).port)
    await expect(start({ data })).rejects.toMatchObject({ code: 'database_in_use' })
    await expect(start({ data: elsewhere, port })).rejects.toMatchObject({
      code: 'config_invalid',
      data: { field: 'AGENTGYM_PORT' },
    })
    expect(await readdir(elsewhere)).toEqual([])
  })

  it.each(['127.0.0.1', '::1', '[::1]', '0.0.0.0', '::', 'localhost'])(
    'listens on %s with a URL that reaches it',
    async (host) => {
      const reachable = { ...environment, AGENTGYM_SETUP_SECRET: 'a-secret-to-set-this-up', AGENTGYM_MAIL: 'file' }
      const { url } = await start({ data, host, environment: reachable })
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      expect(new URL(url).hostname).toMatch(/^(localhost|127\.0\.0\.1|\[::1\])$/)
    },
  )

  it('names the database that does not respond', async () => {
    const nowhere = {
      ...environment,
      DATABASE_URL: 'postgresql://agentgym@127.0.0.1:9/agentgym',
      AGENTGYM_DATABASE_WAIT_SECONDS: '0',
    }
    await expect(start({ data, environment: nowhere })).rejects.toMatchObject({ code: 'database_unavailable' })
  })
})

describe('observability', () => {
  it('sends spans to a configured endpoint, the last ones before it exits, and shows metrics with the token', async () => {
    const collector = await startCollector()
    const token = 'a-token-of-the-operator'
    const server = await start({
      data,
      environment: { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, AGENTGYM_METRICS_TOKEN: token },
    })
    await fetch(`${server.url}/healthz`)
    const headers = { host: 'gym.example.com', 'x-forwarded-for': '203.0.113.9' }
    expect((await fetch(`${server.url}/metrics`, { headers })).status).toBe(401)
    const reported = await fetch(`${server.url}/metrics`, { headers: { ...headers, authorization: `Bearer ${token}` } })
    expect(await reported.text()).toContain('http_requests_total{method="GET",route="/healthz",status="200"} 1\n')
    await server.close()
    expect(collector.spans.map(({ name }) => name)).toEqual(['GET /healthz', 'GET /metrics', 'GET /metrics'])
    await collector.close()
  })

  it('loads tracing only if configured, because it adds 0.1 s to the start', async () => {
    const program = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ resolve: (name, context, next) => {
        const found = next(name, context)
        loaded.push(found.url)
        return found
      } })
      await import(process.argv[1])
      process.stdout.write(loaded.join('\\n'))`
    const serving = new URL('./serve.ts', import.meta.url).href
    const parameters = ['--input-type=module', '--eval', program, serving]
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { maxBuffer: 2 ** 26 })
    expect(stdout).toMatch(/app\/metrics\.routes\.ts/)
    expect(stdout).not.toMatch(/open-tracing|sdk-trace|otlp/)
  })
})

describe('graceful shutdown', () => {
  it('finishes active requests, accepts no more, and waits only for the grace period', async () => {
    const listener = await listenHttp('127.0.0.1', 0)
    const url = `http://127.0.0.1:${listener.port}`
    const arrived = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    // A request that comes before anything can be answered waits.
    const early = fetch(`${url}/early`)
    listener.answerWith(async ({ url: request }) => {
      if (request.endsWith('/slow')) {
        arrived.resolve()
        await answered.promise
      }
      if (request.endsWith('/never')) await new Promise(() => {})
      return new Response('done')
    })
    expect(await (await early).text()).toBe('done')
    const slow = fetch(`${url}/slow`)
    const never = fetch(`${url}/never`).catch((error: Error) => error)
    await arrived.promise
    const idle = connect(listener.port, '127.0.0.1')
    await once(idle, 'connect')
    const drained = listener.drain(500)
    await expect(fetch(`${url}/late`)).rejects.toThrow('fetch failed')
    answered.resolve()
    expect(await (await slow).text()).toBe('done')
    await drained
    expect(await never).toBeInstanceOf(Error)
    idle.destroy()
  })
})

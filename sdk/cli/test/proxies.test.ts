// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCliProcess, type ServerProcess, startServerProcess } from '@agentgym/testkit/command-line'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProxy } from './proxy-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-proxies-'))
const home = join(folder, 'home')
/** Nothing listens there. */
const dead = 'http://127.0.0.1:9'

let server: ServerProcess
let outbound: Awaited<ReturnType<typeof startProxy>>
let proxy: Awaited<ReturnType<typeof startProxy>>
beforeAll(async () => {
  outbound = await startProxy()
  const settings = {
    AGENTGYM_PROXY: outbound.url,
    AGENTGYM_GITHUB_CLIENT_ID: 'id',
    AGENTGYM_GITHUB_CLIENT_SECRET: 'secret',
    // Of the machine: not for the server.
    HTTP_PROXY: dead,
    HTTPS_PROXY: dead,
  }
  server = await startServerProcess(join(folder, 'data'), home, [], settings)
})
afterAll(async () => {
  await server?.stop()
  await outbound?.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  proxy = await startProxy()
})
afterEach(() => proxy.close())

const environment = (more: Record<string, string> = {}) => ({
  AGENTGYM_HOME: home,
  AGENTGYM_SERVER: server.url,
  ...more,
})
const search = (more: Record<string, string>) =>
  runCliProcess(['search', 'one', '--json'], { environment: environment(more) })

describe('a command in an environment with proxies (C10)', { timeout: 120_000 }, () => {
  it('goes through HTTP_PROXY in absolute form', async () => {
    expect(await search({ HTTP_PROXY: proxy.url })).toMatchObject({ status: 0, lines: [{ packages: [] }] })
    expect(proxy.asked).toEqual([expect.stringMatching(`^GET ${server.url}/v1/packages\\?`)])
  })

  it('bypasses it for hosts in NO_PROXY and other protocols', async () => {
    const { hostname } = new URL(server.url)
    expect((await search({ HTTP_PROXY: proxy.url, NO_PROXY: `example.com,${hostname}` })).status).toBe(0)
    expect((await search({ HTTPS_PROXY: proxy.url })).status).toBe(0)
    expect(proxy.asked).toEqual([])
  })

  it('logs in at the proxy', async () => {
    const guarded = await startProxy({ credentials: 'ann:hunter2' })
    expect((await search({ HTTP_PROXY: guarded.url })).status).toBe(0)
    const refused = await search({ HTTP_PROXY: guarded.url.replace('hunter2', 'wrong') })
    expect(refused).toMatchObject({
      status: 1,
      lines: [{ error: { hint: expect.stringContaining('USER:PASSWORD@127.0.0.1') } }],
    })
    expect(guarded.asked).toHaveLength(1)
    await guarded.close()
  })

  it('names the proxy in use, and an invalid proxy variable', async () => {
    expect(await search({ HTTP_PROXY: dead })).toMatchObject({
      status: 1,
      lines: [{ error: { code: 'server_unreachable', hint: expect.stringContaining(`${dead} (HTTP_PROXY)`) } }],
    })
    expect(await search({ HTTP_PROXY: 'socks5://127.0.0.1:9' })).toMatchObject({
      status: 2,
      lines: [{ error: { code: 'config_invalid', data: { field: 'HTTP_PROXY' } } }],
    })
  })

  it('reaches a server with TLS through a tunnel', async () => {
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const subject = ['-subj', '/CN=gym.test', '-addext', 'subjectAltName=DNS:gym.test']
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
    const gym = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, answer) => {
      answer.setHeader('content-type', 'application/json')
      answer.writeHead(404).end('{"error":{"code":"package_not_found","message":"Reached by TLS."}}')
    })
    await new Promise<void>((resolve) => gym.listen(0, '127.0.0.1', resolve))
    const { port } = gym.address() as AddressInfo
    const given = {
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: certificate,
      AGENTGYM_SERVER: `https://gym.test:${port}`,
    }
    const { lines } = await search(given)
    expect(lines).toMatchObject([{ error: { message: 'Reached by TLS.' } }])
    expect(proxy.asked).toEqual([`CONNECT gym.test:${port}`])
    gym.closeAllConnections()
    gym.close()
  })
})

describe('a worker in an environment with a proxy', { timeout: 120_000 }, () => {
  it('leases its jobs through it', async () => {
    const words = ['worker', '--kinds', 'check', '--json', '--without-walls', 'any']
    const token = { AGENTGYM_TOKEN: 'agt_0000000000000000000000000000000000000000000' }
    // The token is wrong: one request is all that this needs, and the worker ends with the server's answer.
    const ended = await runCliProcess(words, { environment: environment({ HTTP_PROXY: proxy.url, ...token }) })
    // Before it, a machine without walls says so.
    expect(ended.lines.at(-1)).toMatchObject({ error: { code: 'unauthenticated' } })
    expect(proxy.asked.length).toBeGreaterThan(0)
    for (const line of proxy.asked) expect(line).toContain(` ${server.url}/v1/`)
  })
})

describe('the server', { timeout: 120_000 }, () => {
  it('calls identity providers through AGENTGYM_PROXY, whatever the environment', async () => {
    const started = await fetch(`${server.url}/v1/oauth/github`, { redirect: 'manual' })
    const cookie = started.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    const state = new URL(started.headers.get('location') ?? '').searchParams.get('state')
    await fetch(`${server.url}/v1/oauth/github/callback?code=x&state=${state}`, {
      headers: { cookie },
      redirect: 'manual',
    })
    expect(outbound.asked).toEqual(['CONNECT github.com:443'])
  })
})

// @module-tag full

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createClient, publishPackage, versionPath } from '@agentgym/client'
import type { Run } from '@agentgym/contract'
import { runWorker, type WorkerEvent } from '@agentgym/runtime'
import { packScenario } from '@agentgym/testkit/packages'
import { claimAt } from '@agentgym/testkit/people'
import { freePort } from '@agentgym/testkit/ports'
import { startServer } from '@agentgym/testkit/server'
import { isLong } from '@agentgym/testkit/tier'
import { afterEach, expect, it } from 'vitest'

const run = promisify(execFile)
const page = await readFile(path.join(import.meta.dirname, '../../docs/proxies.md'), 'utf8')

/** The configuration of a proxy as the page has it, made to listen without TLS on a port of this machine. */
function configuration(language: string, { port, upstream }: { port: number; upstream: number }): string {
  const block = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1]
  if (block === undefined) throw new Error(`docs/proxies.md has no configuration of ${language}`)
  return block
    .replace('127.0.0.1:4477', `127.0.0.1:${upstream}`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, '')
    .replace('gym.example.com {', `http://127.0.0.1:${port} {`)
    .replace(/bind :443 ssl .*/, `bind 127.0.0.1:${port}`)
}

type Proxy = {
  language: string
  binary: string
  files(config: string, folder: string): Record<string, string>
  command: string[]
}

const proxies: Proxy[] = [
  {
    language: 'nginx',
    binary: '/usr/sbin/nginx',
    files: (config, folder) => ({
      'agentgym.conf': config,
      'nginx.conf': `daemon off; pid ${folder}/pid; error_log stderr; events {} http {
        access_log ${folder}/access.log; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        include ${folder}/agentgym.conf; }`,
    }),
    command: ['-c', 'FOLDER/nginx.conf', '-p', 'FOLDER', '-e', 'stderr'],
  },
  {
    language: 'caddy',
    binary: '/usr/bin/caddy',
    files: (config) => ({ Caddyfile: `{\n\tadmin off\n\tauto_https off\n}\n\n${config}` }),
    command: ['run', '--config', 'FOLDER/Caddyfile', '--adapter', 'caddyfile'],
  },
  {
    language: 'haproxy',
    binary: '/usr/sbin/haproxy',
    files: (config) => ({ 'haproxy.cfg': config }),
    command: ['-db', '-f', 'FOLDER/haproxy.cfg'],
  },
]

const setupSecret = 'set-up-secret-of-the-tests'
const cleanUp: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step()
})

it('docs/proxies.md has a configuration of each proxy', () => {
  for (const { language } of proxies) expect(configuration(language, { port: 1, upstream: 2 })).not.toContain('4477')
})

/** Needs Debian's packages `nginx`, `caddy` and `haproxy`, which nothing else does. */
const tried = isLong ? proxies : []
for (const proxy of tried)
  it(`docs/proxies.md: ${proxy.language} passes everything through`, { timeout: 240_000 }, async () => {
    if (!existsSync(proxy.binary)) throw new Error(`${proxy.binary} is missing: apt-get install ${proxy.language}`)
    const [port, upstream] = [await freePort(), await freePort()]
    const url = `http://127.0.0.1:${port}`
    const environment = {
      ...{ AGENTGYM_PUBLIC_URL: url, AGENTGYM_TRUSTED_PROXIES: '1' },
      ...{ AGENTGYM_MAIL: 'file', AGENTGYM_SETUP_SECRET: setupSecret },
    }
    const server = await startServer({ port: upstream, environment })
    cleanUp.push(() => server.remove())
    await startProxy(proxy, { port, upstream })
    await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200)

    await server.signUp('olga', ['packages:read'])
    const workerToken = await claimAt(url, 'olga', setupSecret)
    const { token } = await server.signUp('acme', ['packages:manage', 'training:start', 'training:view'])
    const author = createClient({ server: url, token })
    const worker = work(url, workerToken)
    expect((await fetch(url)).status).toBe(200)
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    await publishPackage(author, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
    await until(async () => {
      const response = await author.send(versionPath('@acme/cart-pole', '1.0.0'))
      return ((await response.json()) as { state: string }).state === 'published'
    })
    expect(await installed(url)).toMatchObject({ name: '@acme/cart-pole', version: '1.0.0' })

    const settings = {
      ...{ environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 },
      ...{ hidden: [640, 640], checkpoint_every: 256 },
    }
    const body = JSON.stringify({ scenario: '@acme/cart-pole', steps: 1_024, settings })
    const headers = { 'content-type': 'application/json' }
    const { id } = (await (await author.send('/v1/runs', { method: 'POST', headers, body })).json()) as Run
    expect(await eventsOf(author, id)).toEqual(expect.arrayContaining(['queued', 'running', 'progress', 'completed']))
    const ended = (await (await author.send(`/v1/runs/${id}`)).json()) as Run
    expect(ended).toMatchObject({ state: 'completed', error: null })
    const events = await worker.stop()
    const checkpoints = events.flatMap((event) => (event.event === 'checkpoint' ? [event.bytes] : []))
    expect(Math.max(...checkpoints)).toBeGreaterThan(2 * 2 ** 20)
    expect(events.filter(({ event }) => ['failed', 'lost', 'unreachable'].includes(event))).toEqual([])
  })

async function startProxy({ language, binary, files, command }: Proxy, ports: { port: number; upstream: number }) {
  const folder = await mkdtemp(path.join(tmpdir(), `agentgym-${language}-`))
  cleanUp.push(() => rm(folder, { recursive: true, force: true }))
  await mkdir(folder, { recursive: true })
  for (const [name, content] of Object.entries(files(configuration(language, ports), folder)))
    await writeFile(path.join(folder, name), content)
  const home = { ...process.env, HOME: folder }
  const child: ChildProcess = spawn(
    binary,
    command.map((word) => word.replace('FOLDER', folder)),
    { stdio: 'ignore', env: home },
  )
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  cleanUp.push(() => {
    child.kill('SIGTERM')
    return Promise.race([ended, delay(5_000).then(() => void child.kill('SIGKILL'))])
  })
}

function work(server: string, token: string): { stop(): Promise<WorkerEvent[]> } {
  const events: WorkerEvent[] = []
  const stop = new AbortController()
  const onEvent = (event: WorkerEvent) => void events.push(event)
  const ended = runWorker({ server, token, slots: 1, pollMs: 100, stop: stop.signal, onEvent })
  const end = async () => {
    stop.abort()
    await ended
    return events
  }
  cleanUp.push(end)
  return { stop: end }
}

/** The manifest of the package as npm installs it through the proxy. */
async function installed(url: string): Promise<unknown> {
  const folder = await mkdtemp(path.join(tmpdir(), 'agentgym-npm-'))
  cleanUp.push(() => rm(folder, { recursive: true, force: true }))
  await writeFile(path.join(folder, 'package.json'), '{"private":true}')
  await writeFile(path.join(folder, '.npmrc'), `@acme:registry=${url}/npm/\ncache=${folder}/cache\n`)
  await run('npm', ['install', '--no-audit', '--no-fund', '@acme/cart-pole'], { cwd: folder })
  return JSON.parse(await readFile(path.join(folder, 'node_modules/@acme/cart-pole/package.json'), 'utf8'))
}

/** Types of the events of a run, read as they come until it ends. */
async function eventsOf(client: ReturnType<typeof createClient>, id: string): Promise<string[]> {
  const response = await client.send(`/v1/runs/${id}/events`)
  let text = ''
  const decoder = new TextDecoder()
  let seenAt: string | undefined
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    seenAt ??= ((await (await client.send(`/v1/runs/${id}`)).json()) as Run).state
  }
  // Not held back until the stream ended.
  expect(seenAt).toMatch(/queued|running/)
  return [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(100)
}

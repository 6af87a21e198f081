// node infra/docs/capture-pages.ts [FOLDER]
// Serves an empty marketplace, fills it (web/test/seed-site.ts: that trains for real), and photographs ten of its pages as
// PNG into FOLDER, docs/screenshots by default. AGENTGYM_CAPTURE_SERVER names a server that is filled already.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type BrowserContext, openChromium } from '@agentgym/testkit/browser'
import { freePort } from '@agentgym/testkit/ports'

type Shot = { name: string; path: string; as?: string; height?: number }

const root = join(import.meta.dirname, '../..')
const target = process.argv[2] ?? join(root, 'docs/screenshots')
const password = 'correct horse battery staple'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-pages-'))
const filled = process.env.AGENTGYM_CAPTURE_SERVER
let serving: ChildProcess | undefined
try {
  const server = filled ?? (await serve())
  mkdirSync(target, { recursive: true })
  const browser = await openChromium()
  const contexts = new Map<string, BrowserContext>()
  for (const { name, path, as = '', height = 1000 } of await shots(server)) {
    const context = contexts.get(as) ?? (await browser.newContext({ baseURL: server, colorScheme: 'light' }))
    if (!contexts.has(as) && as !== '') await logIn(context, as)
    contexts.set(as, context)
    const page = await context.newPage()
    await page.setViewportSize({ width: 1440, height })
    await page.goto(path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: join(target, `${name}.png`) })
    await page.close()
    console.log(`${name}  ${path}`)
  }
  await browser.close()
} finally {
  serving?.kill('SIGTERM')
  await sleep(serving === undefined ? 0 : 3_000)
  rmSync(folder, { recursive: true, force: true })
}

/** The ten pages, with what was made while the marketplace was filled. */
async function shots(server: string): Promise<Shot[]> {
  const { runs } = await ask<{ runs: { id: string }[] }>(server, 'builder', '/v1/runs?limit=1')
  const { orders } = await ask<{ orders: { id: string }[] }>(server, 'buyer', '/v1/orders?role=purchases&limit=1')
  return [
    { name: 'home', path: '/' },
    { name: 'browse', path: '/packages' },
    { name: 'scenario', path: '/packages/@author/cart-pole' },
    { name: 'leaderboard', path: '/packages/@author/cart-pole/agents', height: 800 },
    { name: 'agent', path: '/packages/@builder/cart-pole', height: 1300 },
    { name: 'try-agent', path: '/packages/@builder/cart-pole/try', as: 'buyer' },
    { name: 'run', path: `/runs/${runs[0].id}`, as: 'builder', height: 1300 },
    { name: 'checkout', path: '/buy/@author/grid-maze', as: 'buyer', height: 1100 },
    { name: 'receipt', path: `/orders/${orders[0].id}`, as: 'buyer', height: 900 },
    { name: 'earnings', path: '/earnings', as: 'builder', height: 1100 },
  ]
}

/** On a free port, with a worker of its own. */
async function serve(): Promise<string> {
  const port = await freePort()
  const server = `http://localhost:${port}`
  serving = spawn(join(root, 'agentgym'), ['serve', '--port', String(port), '--data', join(folder, 'data')], {
    stdio: 'inherit',
    env: { ...process.env, AGENTGYM_HOME: join(folder, 'home'), AGENTGYM_PRICE_NOTICE_DAYS: '0' },
  })
  for (let waited = 0; !(await isReady(server)); waited++) {
    if (waited > 240) throw new Error('the server did not start within two minutes')
    await sleep(500)
  }
  const seed = join(root, 'web/test/seed-site.ts')
  await promisify(execFile)(process.execPath, [seed], { env: { ...process.env, AGENTGYM_SERVER: server } })
  return server
}

async function isReady(server: string): Promise<boolean> {
  return fetch(`${server}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function cookieOf(server: string, username: string): Promise<string> {
  const response = await fetch(`${server}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (!response.ok) throw new Error(`${username} could not log in: ${response.status}`)
  return response.headers.getSetCookie()[0].split(';')[0]
}

async function ask<Answer>(server: string, username: string, path: string): Promise<Answer> {
  const response = await fetch(server + path, { headers: { cookie: await cookieOf(server, username) } })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()) as Answer
}

async function logIn(context: BrowserContext, username: string): Promise<void> {
  const page = await context.newPage()
  await page.goto('/login')
  await page.getByLabel('Username or email').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL('/')
  await page.close()
}

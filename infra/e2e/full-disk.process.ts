// What users get while the disk at $DISK is full, and afterwards: `node full-disk.process.ts pglite|postgresql|worker`, which
// full-disk.test.ts runs with a small disk of its own. Prints a line of JSON.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, publishPackage } from '@agentgym/client'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'

const kind = process.argv[2]
const disk = process.env.DISK ?? ''
const testkit = join(import.meta.dirname, '../../testkit/src')
const elsewhere = mkdtempSync(join(tmpdir(), 'agentgym-elsewhere-'))
const filling = join(disk, 'filling')

/** Leaves less than a block. */
function fill(): void {
  const file = openSync(filling, 'w')
  const zeros = Buffer.alloc(64 * 1_024)
  for (let size = zeros.length; size >= 512; ) {
    try {
      writeSync(file, zeros, 0, size)
    } catch {
      size /= 2
    }
  }
  closeSync(file)
}

const { DATABASE_URL: _, ...inherited } = process.env
const environment: NodeJS.ProcessEnv = { ...inherited, AGENTGYM_LOG_LEVEL: 'error' }
const postgresql = join(disk, 'postgresql')
const durable = ['fsync=on', 'synchronous_commit=on', 'max_wal_size=32MB', 'min_wal_size=32MB']
if (kind === 'postgresql') environment.DATABASE_URL = await startPostgresql(postgresql, durable)
const data = join(kind === 'pglite' ? disk : elsewhere, 'data')
mkdirSync(data)
const server = fork(join(testkit, 'server.process.ts'), [data, '0'], { env: environment, stdio: 'inherit' })
const ended = once(server, 'exit').then(([code]) => Promise.reject(new Error(`the server ended with ${code}`)))
ended.catch(() => {})
const [{ url }] = (await Promise.race([once(server, 'message'), ended])) as [{ url: string }]

const operator = await signUpAt(url, 'operator', ['worker'])
const { client } = await signUpAt(url, 'acme')
const login = await createClient({ server: url }).send('/v1/sessions', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'acme', password: 'correct horse battery staple' }),
})
const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''

/** `ok`, or the error's code. */
type Outcome = string
const acknowledged: string[] = []
let tried = 0
const fetchTokens = async (request: RequestInit = {}) => {
  const headers = { cookie, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/tokens`, { headers, ...request })
  return { ok: answer.ok, text: await answer.text() }
}

/** A token: a row in the database. Its name is long, so that not many fit into the pages that are there. */
async function write(): Promise<Outcome> {
  const name = `${++tried}-${'x'.repeat(60)}`
  const { ok, text } = await fetchTokens({
    method: 'POST',
    body: JSON.stringify({ name, scopes: ['packages:publish'] }),
  })
  if (ok) acknowledged.push(name)
  return ok ? 'ok' : (JSON.parse(text) as { error: { code: string } }).error.code
}

async function read(): Promise<Outcome> {
  const { ok, text } = await fetchTokens()
  return ok && acknowledged.every((name) => text.includes(name)) ? 'ok' : text.slice(0, 500)
}

/** A scenario: an object, and rows. */
const upload = async (name = 'cart-pole'): Promise<Outcome> =>
  publishPackage(client, await packScenario('cart-pole', { name: `@acme/${name}` })).then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  )
const versionState = async (name = 'cart-pole') =>
  ((await (await client.send(`/v1/packages/@acme/${name}/versions/1.0.0`)).json()) as { state: string }).state

async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await delay(200)
}

let worker: ChildProcess | undefined
function startWorker(): void {
  const words = ['--no-node-snapshot', join(testkit, 'worker.process.ts'), url, operator.token]
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  worker = spawn(process.execPath, words, { env: { ...inherited, TMPDIR: disk }, stdio: [...stdio] })
}

/** A database on the disk. */
async function fillDatabase(): Promise<Record<string, unknown>> {
  for (let count = 0; count < 10; count++) await write()
  fill()
  let refused: Outcome
  do refused = await write()
  while (refused === 'ok')
  const during = { refused, again: await write(), upload: await upload(), read: await read() }
  rmSync(filling)
  await until(async () => (await write()) === 'ok')
  await until(async () => (await upload()) === 'ok')
  return { ...during, kept: await read(), state: await versionState(), alive: server.exitCode === null }
}

/** A worker whose folder for jobs is on the disk, and a version to check. */
async function fillWorker(): Promise<Record<string, unknown>> {
  startWorker()
  const events: string[] = []
  worker?.stdout?.setEncoding('utf8').on('data', (text: string) => events.push(text))
  await upload('first')
  await until(async () => (await versionState('first')) === 'published')
  fill()
  await upload()
  await delay(8_000)
  const during = { during: await versionState(), alive: worker?.exitCode === null, events: events.splice(0).join('') }
  rmSync(filling)
  await until(async () => (await versionState()) !== 'checking')
  return { ...during, state: await versionState() }
}

const result = kind === 'worker' ? await fillWorker() : await fillDatabase()
console.log(JSON.stringify(result))
for (const child of [worker, server]) child?.kill('SIGKILL')
if (kind === 'postgresql') await stopPostgresql(postgresql)
rmSync(elsewhere, { recursive: true, force: true })
process.exit(0)

// node testdata/databases/make-database.ts CHECKOUT OUT
//
// Writes what a server of an earlier version leaves behind: a scenario with a price, a trained and verified agent, buyers,
// a refund, and a queue with jobs waiting and jobs leased. CHECKOUT is a clone of that version, set up (`npm run demo` has
// run there once). DATABASE_URL names an empty PostgreSQL database; without it, the server uses its embedded one. Only the
// command line, HTTP and PostgreSQL's own programs are used, because the sources of that version are not those of today.
//
// OUT gets `database.sql.gz` (PostgreSQL only), `data.tar.zst` (the server's data folder: stored packages, and the embedded
// database) and `answers.json` (what the old server answered at the end).
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'

const [checkout, out] = process.argv.slice(2).map((path) => resolve(path))
const databaseUrl = process.env.DATABASE_URL
if (checkout === undefined || out === undefined)
  throw new Error('[DATABASE_URL=…] node testdata/databases/make-database.ts CHECKOUT OUT')
const folder = mkdtempSync(join(tmpdir(), 'agentgym-database-'))
const data = join(folder, 'data')
const command = join(checkout, 'agentgym')

type Person = { name: string; token: string; work: string; environment: Record<string, string> }
type Process = { stop(signal: NodeJS.Signals): Promise<void>; firstLine: Promise<string> }

function start(words: string[], environment: Record<string, string>): Process {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AGENTGYM_')))
  const child = spawn(command, words, { env: { ...inherited, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  const firstLine = new Promise<string>((found) => child.stdout.setEncoding('utf8').once('data', found))
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
  }
  running.push(stop)
  return { firstLine, stop }
}

function serve(): Process {
  return start(['serve', '--port', '4499', '--data', data, '--no-worker', '--json'], {
    AGENTGYM_HOME: join(folder, 'server'),
    AGENTGYM_LOG_LEVEL: 'error',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  })
}

function startWorker(operator: Person, kinds: string): Process {
  return start(['worker', '--kinds', kinds, '--slots', '1', '--json'], operator.environment)
}

const running: Process['stop'][] = []
const url = 'http://localhost:4499'

/** What is read of any answer. */
type Answer = { id: string; lease: string; state: string; checkpoint: unknown; orders: { id: string }[] }

async function ask(as: Person | string | null, method: string, path: string, body?: unknown): Promise<Answer> {
  const token = typeof as === 'string' ? as : as?.token
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    'agentgym-worker-protocol': '2',
    ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
  }
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

const scopes = [
  ...['packages:manage', 'training:start', 'training:view', 'training:cancel', 'training:evaluate', 'data:export'],
  ...['market:buy', 'market:sell', 'agents:call'],
]

async function signUp(name: string, own = scopes): Promise<Person> {
  const password = 'correct horse battery staple'
  await ask(null, 'POST', '/v1/accounts', { username: name, email: `${name}@example.com`, password })
  const session = await fetch(`${url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: name, password }),
  })
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const made = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ name: 'test', scopes: own }),
  })
  const { token } = (await made.json()) as { token?: string }
  if (token === undefined) throw new Error(`no token for ${name}`)
  const work = join(folder, name, 'work')
  mkdirSync(work, { recursive: true })
  const environment = { AGENTGYM_SERVER: url, AGENTGYM_TOKEN: token, AGENTGYM_HOME: join(folder, name, 'home') }
  return { name, token, work, environment: { ...environment, AGENTGYM_PASSWORD: password } }
}

function type(person: Person, ...words: string[]): void {
  console.log(`${person.name} $ agentgym ${words.join(' ')}`)
  const env = { ...process.env, ...person.environment }
  execFileSync(command, words, { cwd: person.work, env, stdio: ['ignore', 'inherit', 'inherit'] })
}

function copyScenario(plugin: string, author: Person, name = plugin): void {
  const target = join(author.work, name)
  const left = ['node_modules', 'dist', 'testdata']
  cpSync(join(checkout, 'plugins', plugin), target, { recursive: true, filter: (path) => !left.includes(basename(path)) })
  const path = join(target, 'package.json')
  const manifest = { ...JSON.parse(readFileSync(path, 'utf8')), name: `@${author.name}/${name}` }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(300)
}

const scenario = '@author/cart-pole'
const agent = '@builder/balancer'
const settings = { environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 }

async function journey() {
  const operator = await signUp('operator', ['worker'])
  const author = await signUp('author')
  const builder = await signUp('builder')
  const buyer = await signUp('buyer')
  const guest = await signUp('guest')

  const worker = startWorker(operator, 'check,evaluate,train')
  copyScenario('cart-pole', author)
  type(author, 'scenario', 'publish', 'cart-pole')
  type(author, 'price', scenario, '--royalty', '10')
  const words = ['--publish', agent, '--summary', 'Keeps the pole upright.']
  type(builder, 'train', scenario, '--remote', '--watch', '--out', join(builder.work, 'agent'), ...words)
  await until(async () => (await ask(builder, 'GET', `/v1/packages/${agent}/versions/0.1.0`)).state === 'published')
  type(builder, 'price', agent, '25', '--trial', '100', '--yes')
  for (const person of [buyer, guest]) {
    type(person, 'balance', 'top-up', '40')
    type(person, 'buy', agent, '--yes')
  }
  const { orders } = await ask(guest, 'GET', '/v1/orders')
  type(guest, 'orders', 'refund', orders[0].id, '--reason', 'bought by mistake')
  await worker.stop('SIGTERM')
  return { operator, author, builder, buyer, guest }
}

/** Jobs in every state that an upgrade may meet: waiting, leased by a worker that is gone, given back, cancelled. */
async function openJobs({ operator, author, builder }: Awaited<ReturnType<typeof journey>>) {
  copyScenario('cart-pole', author, 'leased-check')
  copyScenario('cart-pole', author, 'waiting-check')
  const startRun = async (note: string, steps = 1_024) =>
    (await ask(builder, 'POST', '/v1/runs', { scenario, steps, settings, note })).id as string
  type(author, 'scenario', 'publish', 'leased-check', '--no-wait')
  const check = await ask(operator, 'POST', '/v1/jobs/lease', { kinds: ['check'] })
  type(author, 'scenario', 'publish', 'waiting-check', '--no-wait')

  const interrupted = await startRun('interrupted', 100_000_000)
  const worker = startWorker(operator, 'train')
  await until(async () => (await ask(builder, 'GET', `/v1/runs/${interrupted}`)).checkpoint !== null)
  await worker.stop('SIGKILL')
  const released = await startRun('released')
  const given = await ask(operator, 'POST', '/v1/jobs/lease', { kinds: ['train'] })
  if (given.id !== released) throw new Error(`leased ${given.id} instead of ${released}`)
  await ask(operator, 'POST', `/v1/jobs/${released}/release`, { lease: given.lease, reason: 'the worker stops' })
  const cancelled = await startRun('cancelled')
  await ask(builder, 'POST', `/v1/runs/${cancelled}/cancel`)
  const waiting = await startRun('waiting')
  return { check: { id: check.id, lease: check.lease }, runs: { interrupted, released, cancelled, waiting } }
}

try {
  const server = serve()
  await server.firstLine
  const people = await journey()
  const jobs = await openJobs(people)
  const paths: [keyof typeof people, string][] = [
    ['guest', `/v1/packages/${scenario}`],
    ['guest', `/v1/packages/${scenario}/versions/1.0.0`],
    ['guest', `/v1/packages/${scenario}/versions/1.0.0/leaderboard`],
    ['guest', `/v1/packages/${agent}`],
    ['guest', `/v1/packages/${agent}/versions/0.1.0`],
    ['author', '/v1/packages/@author/leased-check/versions/1.0.0'],
    ['author', '/v1/packages/@author/waiting-check/versions/1.0.0'],
    ['builder', '/v1/runs'],
    ['builder', `/v1/runs/${jobs.runs.interrupted}`],
    ['builder', '/v1/orders?role=sales'],
    ...(['buyer', 'guest'] as const).flatMap((who): [typeof who, string][] => [
      [who, '/v1/orders'],
      [who, '/v1/balance'],
    ]),
    ['builder', '/v1/earnings'],
    ['author', '/v1/earnings'],
    ['buyer', '/v1/entitlements'],
    ['guest', '/v1/entitlements'],
  ]
  const answers: { as: string; path: string; answer: unknown }[] = []
  const missing: string[] = []
  for (const [as, path] of paths)
    await ask(people[as], 'GET', path).then(
      (answer) => answers.push({ as, path, answer }),
      (error: Error) => missing.push(error.message),
    )
  if (missing.length > 0) console.error(missing.join('\n'))
  await server.stop('SIGINT')

  mkdirSync(out, { recursive: true })
  const tokens = Object.fromEntries(Object.entries(people).map(([name, { token }]) => [name, token]))
  writeFileSync(join(out, 'answers.json'), `${JSON.stringify({ tokens, jobs, answers }, null, 2)}\n`)
  if (databaseUrl !== undefined) dumpDatabase(databaseUrl)
  writeFileSync(join(out, 'data.tar.zst'), packed(data))
} finally {
  for (const stop of running) await stop('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

function dumpDatabase(url: string): void {
  const dump = execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  // psql's own commands: other clients do not know them.
  writeFileSync(join(out, 'database.sql.gz'), gzipSync(dump.replace(/^\\.*\n/gm, ''), { level: 9 }))
}

/** An embedded database is 44 MB of mostly empty pages: a long window brings them to 2 MB. */
function packed(data: string): Uint8Array {
  const tar = execFileSync('tar', ['--owner=0', '--group=0', '-C', data, '-c', '.'], { maxBuffer: 2 ** 30 })
  const params = { [constants.ZSTD_c_compressionLevel]: 19, [constants.ZSTD_c_windowLog]: 27 }
  return zstdCompressSync(tar, { params })
}

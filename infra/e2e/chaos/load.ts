import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { packScenario } from '@agentgym/testkit/packages'

/** What the service has acknowledged; all of it must be there in the end. */
export type Acknowledged = {
  /** IDs. */
  orders: string[]
  /** Names of packages. */
  published: string[]
  runs: string[]
  /** Actions of the hosted agent for one and the same observation. */
  actions: number[]
  installs: number
  pages: number
}

export type Load = {
  url: string
  signal: AbortSignal
  acknowledged: Acknowledged
  /** Answers that no outage explains. */
  unexpected: string[]
}

type Caller = { token?: string; key?: string }

/** Failures that a client may meet during an outage, and after which it asks again; 408: a stopped server did not read on. */
const passing = new Set([408, 429, 500, 502, 503, 504])

/**
 * Asks until there is an answer, with the same key, as a client does; undefined once the load ends. An internal error is a
 * bug, whatever happens meanwhile.
 */
export async function insist(
  { url, signal, unexpected }: Load,
  path: string,
  { token, key, ...request }: Caller & RequestInit = {},
): Promise<Response | undefined> {
  const headers = {
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...request.headers,
  }
  while (!signal.aborted) {
    const answer = await fetch(url + path, { ...request, headers, signal: AbortSignal.timeout(60_000) }).catch(
      () => undefined,
    )
    // A body that breaks off is no answer.
    const body = await answer?.arrayBuffer().catch(() => undefined)
    if (answer !== undefined && body !== undefined) {
      if (answer.status === 500) unexpected.push(`${path}: ${Buffer.from(body).toString().slice(0, 300)}`)
      if (!passing.has(answer.status)) return new Response(body.byteLength === 0 ? null : body, answer)
    }
    await delay(300)
  }
  return undefined
}

const post = (body: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) })

/** Reads pages of the API as visitors do. */
export async function browse(load: Load): Promise<void> {
  const paths = [
    '/v1/packages?q=cart',
    '/v1/packages/@acme/cart-pole',
    '/v1/packages?kind=agent',
    '/npm/@acme%2fcart-pole',
  ]
  for (let turn = 0; !load.signal.aborted; turn++) {
    const answer = await insist(load, paths[turn % paths.length])
    if (answer === undefined) return
    if (answer.ok) load.acknowledged.pages++
    else load.unexpected.push(`${answer.url}: ${answer.status} ${await answer.text()}`)
    await delay(50)
  }
}

/** Publishes one package after the other. */
export async function publish(load: Load, token: string): Promise<void> {
  while (!load.signal.aborted) {
    const name = `@acme/pole-${randomUUID().slice(0, 8)}`
    const { tarball } = await packScenario('cart-pole', { name })
    const answer = await insist(load, `/v1/packages/${name}/versions/1.0.0`, {
      ...{ token, method: 'PUT', body: Buffer.from(tarball), headers: { 'content-type': 'application/octet-stream' } },
    })
    if (answer === undefined) return
    const text = await answer.text()
    // The answer to an earlier try was lost.
    if (answer.ok || text.includes('version_exists')) load.acknowledged.published.push(name)
    else load.unexpected.push(`publish ${name}: ${answer.status} ${text}`)
    await delay(2_000)
  }
}

/** Downloads a package and compares it with what the registry says of it. */
export async function install(load: Load, name: string): Promise<void> {
  while (!load.signal.aborted) {
    if (!(await isIntact(load, name))) return
    load.acknowledged.installs++
    await delay(200)
  }
}

/** Undefined once the load ends. */
export async function isIntact(load: Load, name: string, token?: string): Promise<boolean | undefined> {
  const packument = await insist(load, `/npm/${name.replace('/', '%2f')}`, { token })
  if (packument === undefined) return undefined
  const { dist } = (
    (await packument.json()) as { versions: Record<string, { dist: { integrity: string; tarball: string } }> }
  ).versions['1.0.0']
  const tarball = await insist(load, new URL(dist.tarball).pathname, { token })
  if (tarball === undefined) return undefined
  const bytes = Buffer.from(await tarball.arrayBuffer())
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  if (integrity !== dist.integrity)
    load.unexpected.push(`${name}: ${tarball.status}, ${bytes.length} bytes, ${integrity}`)
  return integrity === dist.integrity
}

const settings = { environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 }
export const training = (steps: number) => ({ scenario: '@acme/cart-pole', steps, settings })

/** Trains, one run after the other. */
export async function train(load: Load, token: string): Promise<void> {
  while (!load.signal.aborted) {
    const answer = await insist(load, '/v1/runs', { token, key: randomUUID(), ...post(training(4_096)) })
    if (answer === undefined) return
    if (!answer.ok) {
      load.unexpected.push(`train: ${answer.status} ${await answer.text()}`)
      return
    }
    const { id } = (await answer.json()) as { id: string }
    load.acknowledged.runs.push(id)
    for (let isOpen = true; isOpen && !load.signal.aborted; ) {
      await delay(500)
      const run = (await (await insist(load, `/v1/runs/${id}`, { token }))?.json()) as { state: string } | undefined
      isOpen = run !== undefined && ['queued', 'running'].includes(run.state)
    }
  }
}

/** Buys each package once. */
export async function buy(load: Load, { token, names }: { token: string; names: string[] }): Promise<void> {
  for (const name of names) {
    const key = randomUUID()
    const answer = await insist(load, '/v1/orders', { token, key, ...post({ package: name }) })
    if (answer === undefined) return
    if (answer.ok) load.acknowledged.orders.push(((await answer.json()) as { id: string }).id)
    else load.unexpected.push(`buy: ${answer.status} ${await answer.text()}`)
    await delay(100)
  }
}

/** Calls a hosted agent. */
export async function call(load: Load, token: string, name: string): Promise<void> {
  while (!load.signal.aborted) {
    const answer = await insist(load, `/v1/packages/${name}/calls`, { token, ...post({ observation: [0, 0, 0, 0] }) })
    if (answer === undefined) return
    if (answer.ok) load.acknowledged.actions.push(((await answer.json()) as { action: number }).action)
    else load.unexpected.push(`call: ${answer.status} ${await answer.text()}`)
    await delay(100)
  }
}

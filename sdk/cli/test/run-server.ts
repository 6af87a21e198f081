import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { integrityOf } from '@agentgym/client'
import {
  type Run,
  type RunEvent,
  runEventSchema,
  runListSchema,
  runSchema,
  type ServerStatus,
  serverStatusSchema,
} from '@agentgym/contract'
import { recordedRun } from './recorded-run.ts'

/**
 * A server of runs that plays the part it is scripted to, in the contract's words: for what a real one does only by luck or
 * after days, such as a place in the queue, a worker that is lost, or a budget that runs out. What the command does with a
 * real server and worker is in `training-service.test.ts`.
 */
export type RunServer = {
  url: string
  run: Run
  /** What was asked, such as `POST /v1/runs`, with the body. */
  requests: { line: string; body: unknown; key: string | undefined }[]
  /** Sends an event to all watchers, and applies `change` to the run. */
  emit<Type extends RunEvent['type']>(
    type: Type,
    data: Extract<RunEvent, { type: Type }>['data'],
    change?: Partial<Run>,
  ): void
  change(change: Partial<Run>): void
  /** Breaks every connection off; the next requests are answered again. */
  hangUp(): void
  close(): Promise<void>
}

export const recordedRunId = '4f0c1d2e-5a6b-4c7d-8e9f-0a1b2c3d4e5f'

export function queuedRun(change: Partial<Run> = {}): Run {
  return runSchema.parse({
    id: recordedRunId,
    state: 'queued',
    owner: 'ann',
    created_by: 'ann',
    scenario: { name: '@acme/cart-pole', version: '1.0.0', hash: 'a'.repeat(64) },
    algorithm: 'ppo',
    settings: { steps: 100_000, learning_rate: 0.001 },
    seed: 1,
    note: null,
    created_at: '2026-11-28T03:00:00.000Z',
    started_at: null,
    ended_at: null,
    ahead: 2,
    attempt: 0,
    worker: null,
    cancel_requested: false,
    progress: null,
    checkpoint: null,
    cost: { currency: 'EUR', spent_minor: 0, budget_minor: 250, price_minor_per_hour: null },
    error: null,
    evaluation: null,
    agent: null,
    last_event: 0,
    ...change,
  })
}

export const quietStatus: ServerStatus = serverStatusSchema.parse({
  queue: {
    check: { queued: 0, running: 0 },
    evaluate: { queued: 1, running: 0 },
    train: { queued: 3, running: 2 },
  },
  workers: [
    {
      name: 'gpu-1',
      state: 'busy',
      running: 2,
      slots: 4,
      cores: 16,
      missing_walls: [],
      memory_bytes: 137_438_953_472,
      gpus: [
        { name: 'NVIDIA H100', memory_bytes: 85_899_345_920 },
        { name: 'NVIDIA H100', memory_bytes: 85_899_345_920 },
      ],
      usage: { cpu: 0.62, memory: 0.18, gpu: 0.91 },
      price_minor_per_hour: 249,
      seen_at: '2026-11-28T03:00:00.000Z',
    },
    {
      name: 'laptop',
      state: 'silent',
      running: 0,
      slots: 1,
      cores: 2,
      missing_walls: null,
      memory_bytes: 8_589_934_592,
      gpus: [],
      usage: { cpu: null, memory: null, gpu: null },
      price_minor_per_hour: 0,
      seen_at: '2026-11-28T02:00:00.000Z',
    },
  ],
  runs: { queued: 1, running: 1 },
  currency: 'EUR',
})

export type RunServerOptions = {
  run?: Run
  others?: Run[]
  agent?: Uint8Array
  /** By the end of their address below the run's. */
  files?: Record<string, string>
  /** So many submissions are taken and never answered. */
  lostAnswers?: number
}

export async function startRunServer(options: RunServerOptions = {}): Promise<RunServer> {
  const scripted = new ScriptedRun(options.run ?? queuedRun())
  const requests: RunServer['requests'] = []
  const answer = makeAnswer(scripted, options)
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const key = request.headers['idempotency-key']
    const body = await bodyOf(request)
    requests.push({ line: `${request.method} ${pathname}`, body, key: typeof key === 'string' ? key : undefined })
    answer(pathname, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get run() {
      return scripted.run
    },
    requests,
    change: (change) => scripted.change(change),
    emit: (type, data, change) => scripted.emit(type, data, change),
    hangUp: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** The scripted run and its watchers. */
class ScriptedRun {
  run: Run
  readonly #events: RunEvent[] = []
  readonly #watchers = new Set<ServerResponse>()

  constructor(run: Run) {
    this.run = run
  }

  change(change: Partial<Run>): void {
    this.run = runSchema.parse({ ...this.run, ...change })
  }

  emit(type: RunEvent['type'], data: RunEvent['data'], change: Partial<Run> = {}): void {
    const seq = this.#events.length + 1
    const at = new Date(Date.parse('2026-11-28T03:00:00Z') + seq * 1000).toISOString()
    const event = runEventSchema.parse({ seq, at, type, data })
    this.#events.push(event)
    this.change({ ...change, last_event: seq })
    for (const watcher of this.#watchers) {
      watcher.write(frame(event))
      if (isOver(this.run)) watcher.end()
    }
  }

  watch(request: IncomingMessage, response: ServerResponse): void {
    const after = Number(request.headers['last-event-id'] ?? 0)
    const left = this.#events.filter(({ seq }) => seq > after)
    if (left.length === 0 && isOver(this.run)) return void response.writeHead(204).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(left.map(frame).join('') || ': here\n\n')
    if (isOver(this.run)) return void response.end()
    this.#watchers.add(response)
    response.on('close', () => this.#watchers.delete(response))
  }
}

function makeAnswer(scripted: ScriptedRun, options: RunServerOptions) {
  let lostAnswers = options.lostAnswers ?? 0
  return (pathname: string, request: IncomingMessage, response: ServerResponse): void => {
    const { run } = scripted
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    const own = `/v1/runs/${run.id}`
    const file = options.files?.[pathname.slice(own.length + 1)]
    if (file !== undefined) response.end(file)
    else if (pathname === '/v1/status') json(quietStatus)
    else if (pathname === '/v1/runs' && request.method === 'POST') {
      if (lostAnswers-- > 0) request.socket.destroy()
      else json(run, 201)
    } else if (pathname === '/v1/runs')
      json(runListSchema.parse({ runs: [run, ...(options.others ?? [])], next_cursor: null }))
    else if ([own, `${own}/cancel`, `${own}/pause`, `${own}/resume`].includes(pathname)) json(run)
    else if (pathname === `${own}/agent` && options.agent) response.end(options.agent)
    else if (pathname === `${own}/events`) scripted.watch(request, response)
    else if (/^\/v1\/runs\/[0-9a-f-]{36}$/.test(pathname))
      json({ error: { code: 'run_not_found', message: 'Run not found.' } }, 404)
    else json({ error: { code: 'endpoint_not_found', message: `there is nothing at ${pathname}` } }, 404)
  }
}

/** Tells the recorded run from its first worker to its end, `share` of it (1: all), waiting `pause` between two events. */
export async function playRecordedRun(
  server: RunServer,
  {
    share = 1,
    pause = async () => {},
    agent,
  }: { share?: number; pause?: () => Promise<void>; agent?: Uint8Array } = {},
): Promise<void> {
  const { events, result } = recordedRun()
  server.emit('queued', { reason: 'submitted', message: null })
  await pause()
  const price = { ...server.run.cost, price_minor_per_hour: 36_000 }
  server.emit(
    'running',
    { attempt: 1, worker: 'gpu-1', price_minor_per_hour: 36_000, from_iteration: 0 },
    { state: 'running', ahead: null, attempt: 1, worker: 'gpu-1', started_at: '2026-11-28T03:00:02.000Z', cost: price },
  )
  let iteration = 0
  for (const event of events.slice(0, Math.floor(events.length * share))) {
    await pause()
    if (event.event === 'progress') {
      iteration = event.iteration
      const spent = Math.ceil(event.seconds * 10)
      server.emit('progress', event, { progress: event, cost: { ...price, spent_minor: spent } })
    } else if (event.event === 'checkpoint') {
      const { steps } = event
      const checkpoint = { iteration, steps, created_at: '2026-11-28T03:00:30.000Z' }
      server.emit('checkpoint', { iteration, steps }, { checkpoint })
    } else if (event.event === 'evaluation') {
      server.emit('evaluation', { iteration, steps: event.steps, evaluation: event.evaluation })
    }
  }
  if (share < 1) return
  const { steps, seconds, evaluation } = result
  const bytes = agent ?? new Uint8Array()
  server.emit(
    'completed',
    { steps, seconds, evaluation },
    {
      state: 'completed',
      ended_at: '2026-11-28T03:01:00.000Z',
      evaluation,
      agent: {
        integrity: await integrityOf(bytes),
        size: bytes.length,
        tarball: `${server.url}/v1/runs/${server.run.id}/agent`,
        package: null,
      },
    },
  )
}

function isOver({ state }: Run): boolean {
  return state !== 'queued' && state !== 'running'
}

function frame(event: RunEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  return text === '' ? undefined : JSON.parse(text)
}

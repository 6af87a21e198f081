// @module-tag full
import type { CallAnswer } from '@agentgym/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { goodModel } from '../../../testdata/models/good-models.ts'
import { endlessLoop } from '../../../testdata/models/hostile-models.ts'
import { floats, integers, node } from '../../../testdata/models/onnx-writer.ts'
import { agentTarball } from '../../../testdata/tarballs/good-agent.ts'
import { runWorker, type WorkerOptions } from '../worker/run-worker.ts'
import { processesRunning } from '../worker/testing/fixture-job.ts'
import type { WorkerEvent } from '../worker/worker-event.ts'
import { splitAnswers } from './serve-calls.ts'
import { CallServer } from './testing/call-server.ts'

/** Passes the walk of one's own machine, loads at once, and takes very long for a batch. */
const slowModel = goodModel({
  nodes: [
    node('Gemm', ['obs', 'w'], 'x0'),
    ...Array.from({ length: 120 }, (_, i) => node('Softplus', [`x${i}`], i === 119 ? 'features' : `x${i + 1}`)),
    node('Gemm', ['features', 'w.logits'], 'logits'),
    node('MatMul', ['features', 'w.value'], 'value.column'),
    node('Squeeze', ['value.column', 'axis'], 'value'),
  ],
  initializers: [
    floats('w', [2, 60_000]),
    floats('w.logits', [60_000, 2]),
    floats('w.value', [60_000, 1]),
    integers('axis', [1]),
  ],
})
const tarball = agentTarball()
const limits = { startMs: 60_000, deadlineMs: 30_000 }
const code = (answer: CallAnswer) => ('error' in answer ? answer.error.code : 'answered')

let server: CallServer
const workers: { stop(): void; ended: Promise<void> }[] = []
beforeEach(async () => {
  server = await CallServer.start()
})
afterEach(async () => {
  for (const worker of workers) worker.stop()
  await Promise.allSettled(workers.splice(0).map(({ ended }) => ended))
  await server.close()
  expect(server.violations).toEqual([])
  expect(processesRunning('served-agent.process')).toEqual([])
})

function work(options: Partial<WorkerOptions> = {}) {
  const events: WorkerEvent[] = []
  const [stop, abandon] = [new AbortController(), new AbortController()]
  const ended = runWorker({
    ...{ server: server.url, token: 'agt_test', kinds: ['call'], stop: stop.signal, signal: abandon.signal },
    onEvent: (event) => events.push(event),
    ...options,
    serving: { limits, ...options.serving },
  })
  const worker = { events, ended, stop: () => stop.abort(), abandon: () => abandon.abort() }
  workers.push(worker)
  const of = (name: WorkerEvent['event']) => events.filter(({ event }) => event === name)
  return { ...worker, of }
}

describe('a worker that answers calls', { timeout: 240_000 }, () => {
  it('answers them in batches, tells what it holds, and counts', async () => {
    const agent = await server.host('@t/maze-ppo', tarball)
    const { of, stop, ended } = work()
    const first = await server.call(agent, [1, 2])
    expect(first).toMatchObject({ action: expect.any(Number), label: null })
    const many = await Promise.all(Array.from({ length: 100 }, (_, i) => server.call(agent, i === 50 ? [1] : [i, 1])))
    expect(many.map(code).filter((each) => each !== 'answered')).toEqual(['observation_invalid'])
    await server.until(() => server.leases.at(-1)?.loaded[0] === agent.id)
    expect(new Set(server.leases.map(({ worker_id }) => worker_id)).size).toBe(1)
    stop()
    await ended
    expect(of('agent_loaded')).toEqual([{ event: 'agent_loaded', subject: '@t/maze-ppo@1.0.0' }])
    const counts = of('calls_answered') as Extract<WorkerEvent, { event: 'calls_answered' }>[]
    expect(counts.reduce((sum, { calls }) => sum + calls, 0)).toBe(101)
    expect(counts.reduce((sum, { failed }) => sum + failed, 0)).toBe(1)
  })

  it('takes jobs beside them', async () => {
    const agent = await server.host('@t/maze-ppo', tarball)
    const { of } = work({ kinds: undefined, slots: 1, pollMs: 20 })
    expect(code(await server.call(agent, [1, 2]))).toBe('answered')
    expect(of('waiting')).toHaveLength(1)
  })

  it('answers for others while a model hangs, which fails by itself', async () => {
    const slow = await server.host('@t/slow', agentTarball({}, {}, slowModel))
    const good = await server.host('@t/maze-ppo', tarball)
    const { of } = work({ serving: { limits: { ...limits, deadlineMs: 3_000 } } })
    const order: string[] = []
    const reported = (name: string) => (answer: CallAnswer) => order.push(`${name} ${code(answer)}`)
    const hanging = server.call(slow, [1, 2]).then(reported('slow'))
    await server.call(good, [1, 2]).then(reported('good'))
    await hanging
    await server.call(good, [0, 0]).then(reported('good'))
    expect(order).toContain('slow model_timeout')
    expect(order.filter((each) => each === 'good answered')).toHaveLength(2)
    expect(of('agent_failed')).toMatchObject([{ subject: '@t/slow@1.0.0', error: { code: 'model_timeout' } }])
  })

  it('runs no model that the walk refuses, none of another hash, and no broken package', async () => {
    const looping = await server.host('@t/loop', agentTarball({}, {}, endlessLoop))
    const other = await server.host('@t/other', agentTarball({}, { model_hash: 'c'.repeat(64) }))
    const empty = await server.host('@t/empty', agentTarball({}, { format: 7 }))
    const { of } = work()
    expect(code(await server.call(looping, [1, 2]))).toBe('model_subgraph_forbidden')
    expect(code(await server.call(other, [1, 2]))).toBe('agent_invalid')
    const answer = await server.call(empty, [1, 2])
    expect(code(answer)).toBe('manifest_invalid')
    expect(JSON.stringify(answer), 'no folder of this machine').not.toMatch(/tmp|agentgym-work/)
    expect(of('agent_failed')).toHaveLength(3)
    expect(processesRunning('served-agent.process')).toEqual([])
  })

  it('leaves calls whose download is not what the server recorded', async () => {
    const damaged = await server.host('@t/maze-ppo', tarball, {
      integrity: `sha512-${Buffer.alloc(64).toString('base64')}`,
    })
    const good = await server.host('@t/good', tarball)
    const { of } = work()
    void server.call(damaged, [1, 2])
    expect(code(await server.call(good, [1, 2]))).toBe('answered')
    expect(of('calls_dropped')).toMatchObject([{ error: { code: 'integrity_mismatch' } }])
    expect(server.calls[0].answer).toBeUndefined()
  })

  it('asks and answers again where the server is in trouble, and no call is answered twice', async () => {
    const agent = await server.host('@t/maze-ppo', tarball)
    const left = new Map([
      ['/v1/hosted-calls/lease', 1],
      ['/v1/hosted-calls/answers', 2],
    ])
    server.disturb = (path) => {
      const kind = path.startsWith('/files/') ? '/files' : path
      const count = left.get(kind) ?? 0
      left.set(kind, count - 1)
      return count > 0 ? (count === 2 ? 'lost' : 'trouble') : undefined
    }
    const { of } = work()
    expect(code(await server.call(agent, [1, 2]))).toBe('answered')
    await server.until(() => (left.get('/v1/hosted-calls/answers') ?? 0) < 0)
    expect(of('unreachable')).toHaveLength(1)
    expect(of('calls_dropped')).toEqual([])
  })

  it('drops answers once the lease is over', async () => {
    const agent = await server.host('@t/maze-ppo', tarball)
    server.leaseMs = 1_500
    server.disturb = (path) => (path === '/v1/hosted-calls/answers' ? 'trouble' : undefined)
    const { of, events } = work()
    void server.call(agent, [1, 2])
    while (of('calls_dropped').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(of('calls_dropped'), JSON.stringify(events)).toMatchObject([{ error: { code: 'lease_lost' } }])
    server.disturb = () => undefined
    server.leaseMs = 20_000
    server.expire()
    await server.until(() => server.calls[0].answer !== undefined)
  })

  it('says once that a server hosts no agents, and goes on asking', async () => {
    server.disturb = (path) => (path.startsWith('/v1/hosted-calls') ? 'unknown' : undefined)
    const { of } = work({ kinds: undefined, slots: 1, pollMs: 20, serving: { unsupportedMs: 20 } })
    while (of('waiting').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(of('calls_unsupported')).toHaveLength(1)
    server.disturb = () => undefined
    const agent = await server.host('@t/maze-ppo', tarball)
    expect(code(await server.call(agent, [1, 2]))).toBe('answered')
  })

  it('ends where its token is no worker’s', async () => {
    server.disturb = () => 'forbidden'
    await expect(work().ended).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('told to stop, ends at once where nobody calls, and else answers what it has', async () => {
    const agent = await server.host('@t/maze-ppo', tarball)
    const idle = work()
    await server.until(() => server.leases.length === 1)
    const startMs = performance.now()
    idle.stop()
    await idle.ended
    expect(performance.now() - startMs, 'not the 20 s of the request').toBeLessThan(10_000)
    const busy = work()
    const answer = server.call(agent, [1, 2])
    // Then it has them for sure.
    let downloaded = false
    server.disturb = (path) => {
      downloaded ||= path.startsWith('/files/')
      return undefined
    }
    await server.until(() => downloaded)
    busy.stop()
    await busy.ended
    expect(code(await answer)).toBe('answered')
  })

  it('abandoned, drops what it has, and leaves no process', async () => {
    const slow = await server.host('@t/slow', agentTarball({}, {}, slowModel))
    const { abandon, ended, of } = work()
    void server.call(slow, [1, 2])
    while (of('agent_loaded').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    abandon()
    await ended
    expect(processesRunning('served-agent.process')).toEqual([])
    expect(of('calls_dropped')).toEqual([])
  })
})

it('long answers go in parts, each answer once and in order', () => {
  const answers = Array.from({ length: 20 }, (_, i) => ({
    ...{ id: `${i}`, action: i, label: null, model_ms: 1 },
    probabilities: Array.from({ length: i === 7 ? 5_000 : 40 }, () => 0.5),
  }))
  const parts = splitAnswers(answers, 1_000)
  expect(parts.flat()).toEqual(answers)
  expect(parts.length).toBeGreaterThan(5)
  expect(parts.every((part) => part.length > 0)).toBe(true)
  expect(splitAnswers(answers)).toHaveLength(1)
  expect(splitAnswers([])).toEqual([])
})

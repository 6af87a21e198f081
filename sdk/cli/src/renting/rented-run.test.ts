import { PassThrough } from 'node:stream'
import { rentWorker, requireProvider } from '@agentgym/compute'
import { type FakeRunpod, startRunpod } from '@agentgym/testkit/clouds'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunServer, startRunServer } from '../../test/run-server.ts'
import { makeContext } from '../command-context.ts'
import { watchRented } from './rented-run.ts'

let cloud: FakeRunpod
let server: RunServer
beforeEach(async () => {
  cloud = await startRunpod()
  server = await startRunServer()
})
afterEach(async () => {
  await Promise.all([cloud.close(), server.close()])
})

function watched() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const context = makeContext({ json: true, verbose: false, color: false }, {
    stdin,
    stdout,
    stderr,
    environment: {},
    cwd: '/',
    onInterrupt: () => () => {},
    exit: () => {},
  } as never)
  return { context, stderr }
}

/** Watches the scripted run on a rented worker; `maxSeconds` of which the last is for pausing. */
async function watch(maxSeconds: number, { context } = watched()) {
  const provider = await requireProvider('runpod', { RUNPOD_API_KEY: cloud.key, AGENTGYM_RUNPOD_URL: cloud.url })
  const order = { run: server.run.id, owner: server.url, server: server.url, token: 't', image: 'i', maxSeconds }
  await rentWorker(provider, order, await provider.offers({}))
  const connection = { server: server.url, token: 'agt_x', tokenSource: 'environment' as const }
  const terms = { maxSeconds, mostCents: 34, estimate: null }
  const options = { out: null, force: false }
  return watchRented(connection, server.run, { provider, terms }, options, context, {
    lookMs: 20,
    pauseBeforeMs: 1_000,
  })
}

it('pauses the run before its money is used up, and ends the worker', async () => {
  cloud.fault = ({ method }) => {
    // The server's worker saves, and the run pauses.
    if (
      method === 'GET' &&
      server.requests.some(({ line }) => line.endsWith('/pause')) &&
      server.run.state === 'queued'
    )
      server.emit('paused', { steps: 0 }, { state: 'paused' })
    return undefined
  }
  await expect(watch(1)).rejects.toMatchObject({
    code: 'budget_exceeded',
    message: expect.stringContaining('$0.34'),
    hint: expect.stringContaining('agentgym gpus rent 4f0c1d2e'),
  })
  expect(server.requests.filter(({ line }) => line.endsWith('/pause'))).toHaveLength(1)
  expect(cloud.rented()).toEqual([])
})

it('ends the watching when the provider has taken the worker away', async () => {
  let lists = 0
  cloud.fault = ({ method, path }) => {
    if (method === 'GET' && path === '/v2/pods' && ++lists === 4) cloud.setStatus('ERROR')
    return undefined
  }
  await expect(watch(3_600)).rejects.toMatchObject({
    code: 'gpu_unavailable',
    hint: expect.stringContaining('gpus rent'),
  })
})

it('goes on while the provider does not answer', async () => {
  let lists = 0
  cloud.fault = ({ method, path }) => {
    if (method !== 'GET' || path !== '/v2/pods') return undefined
    lists++
    if (lists === 8) server.emit('cancelled', {}, { state: 'cancelled' })
    return lists > 3 && lists < 8 ? 503 : undefined
  }
  await expect(watch(3_600)).rejects.toMatchObject({ code: 'training_cancelled' })
  expect(cloud.rented()).toEqual([])
})

it('says so when the worker may be left', async () => {
  const { context, stderr } = watched()
  let failing = false
  cloud.fault = ({ method }) => {
    if (method === 'DELETE') failing = true
    return failing ? 403 : undefined
  }
  setTimeout(() => server.emit('cancelled', {}, { state: 'cancelled' }), 200)
  await expect(watch(3_600, { context, stderr })).rejects.toMatchObject({ code: 'training_cancelled' })
  expect(String(stderr.read())).toContain('agentgym gpus sweep')
  expect(context.exitCode).toBe(1)
})

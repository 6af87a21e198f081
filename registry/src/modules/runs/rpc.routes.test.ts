import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RpcMethod, rpcMethods } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { createActor, publish } from '../packages/testing/publishing.ts'
import { trajectoryPage } from './run-data.ts'
import { publishAgent, type RunServer, rowsWritten, startRunServer, tokenOf } from './test/run-server.ts'
import { mustTakeTurn } from './testing/train.ts'

const unknownRun = '11111111-1111-4111-8111-111111111111'

type Response = { jsonrpc: string; id: unknown; result?: Record<string, unknown>; error?: RpcError }
type RpcError = { code: number; message: string; data: { code: string } }

describeOnEngines('JSON-RPC on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  let scenario: string
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
    scenario = server.training.scenario
    const { services, ada } = server.training
    await publish(services, ada, '0.9.0')
    const yanked = database.query.updateTable('versions').set({ yanked_at: new Date() }).where('version', '=', '0.9.0')
    await yanked.execute()
    await publishAgent(server.training, ada, {
      base: `${scenario.split('/')[1]}-grpo`,
      versions: ['1.2.0'],
      algorithm: 'grpo',
    })
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const post = (json: unknown, token: string | undefined = server.token) => server.call('POST', '/rpc', { json, token })
  const call = async (method: string, params?: unknown, token?: string): Promise<Response> => {
    const { body, status } = await post({ jsonrpc: '2.0', id: 1, method, params }, token)
    expect(status).toBe(200)
    const response = body as unknown as Response
    if (response.error === undefined) rpcMethods[method as RpcMethod].result.parse(response.result)
    return response
  }
  const resultOf = async (method: string, params: unknown) => {
    const { result, error } = await call(method, params)
    expect(error).toBeUndefined()
    return result ?? {}
  }

  const turnAt = async (id: string) => {
    const waiting = await database.query
      .selectFrom('training_runs')
      .select('id')
      .where('state', '=', 'queued')
      .execute()
    for (const other of waiting) if (other.id !== id) await resultOf('training.cancel', { run_id: other.id })
    return mustTakeTurn(server.training)
  }

  it('offers the functions of the REST routes for the same runs', async () => {
    const started = await resultOf('training.start_grpo', { scenario, steps: 4_000 })
    const run_id = String(started.id)
    expect(started).toMatchObject({ state: 'queued', algorithm: 'grpo', settings: { steps: 4_000 } })
    const overRest = await server.call('GET', `/v1/runs/${run_id}`, { token: server.token })
    expect(await resultOf('training.get_status', { run_id })).toEqual(overRest.body)
    const turn = await mustTakeTurn(server.training)
    await turn.train(2, 1)
    for (let environment = 0; environment < 5; environment++) await turn.sample(environment, environment + 1)
    await turn.complete(1)
    const evaluation = await resultOf('training.evaluate', { run_id, episodes: 3 })
    expect(evaluation).toMatchObject({ run: run_id, state: 'queued', episodes: 3, seed: 0 })
    expect(await resultOf('training.get_status', { evaluation_id: evaluation.id })).toEqual(evaluation)
    const lengths: unknown[] = []
    for (let cursor: unknown; cursor !== null; ) {
      const page = await resultOf('training.export_trajectories', { run_id, limit: 2, cursor })
      lengths.push(...(page.trajectories as { length: number }[]).map(({ length }) => length))
      cursor = page.next_cursor
    }
    expect(lengths).toEqual([1, 2, 3, 4, 5])
    const lines = (await server.call('GET', `/v1/runs/${run_id}/trajectories`, { token: server.token })).text
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).length),
    ).toEqual(lengths)
    const second = await resultOf('training.start', { scenario, algorithm: 'ppo' })
    expect(await resultOf('training.cancel', { run_id: second.id })).toMatchObject({
      id: second.id,
      state: 'cancelled',
    })
  })

  it('limits the trajectories in one response, across a batch', async () => {
    const { id: run_id } = await resultOf('training.start', { scenario })
    const turn = await turnAt(String(run_id))
    await turn.train(1, 1)
    for (let environment = 0; environment < 4; environment++) await turn.sample(environment, 1_000)
    const room = { bytes: 100_000 }
    const ask = (cursor?: string) =>
      trajectoryPage(server.training.services, String(run_id), { limit: 100, cursor }, room)
    const first = await ask()
    expect(first).toMatchObject({ trajectories: [{ environment: 0 }], next_cursor: '1.0' })
    expect(await ask('1.0')).toMatchObject({ trajectories: [{ environment: 1 }], next_cursor: '1.1' })
    expect(first.trajectories).toHaveLength(1)
  })

  it('shares idempotency keys with REST', async () => {
    const key = `rpc-${Math.random()}`
    const { id } = await resultOf('training.start', { scenario, seed: 4, idempotency_key: key })
    const headers = { 'idempotency-key': key }
    const json = { scenario, seed: 4 }
    expect((await server.call('POST', '/v1/runs', { json, headers, token: server.token })).body.id).toBe(id)
    expect((await call('training.start', { scenario, seed: 5, idempotency_key: key })).error?.code).toBe(-32009)
  })

  it.each<[string, string, unknown, number, string]>([
    ['an unknown method', 'training.begin', {}, -32601, 'endpoint_not_found'],
    ['no params', 'training.start', undefined, -32602, 'request_invalid'],
    ['params by position', 'training.start', ['@a/b'], -32602, 'request_invalid'],
    ['params of the wrong type', 'training.start', { scenario: 1 }, -32602, 'request_invalid'],
    ['an unknown param', 'training.start', { scenario: '@a/b', speed: 9 }, -32602, 'request_invalid'],
    ['a budget below nothing', 'training.start', { scenario: '@a/b', budget_minor: -1 }, -32602, 'request_invalid'],
    [
      'another algorithm than GRPO',
      'training.start_grpo',
      { scenario: '@a/b', algorithm: 'ppo' },
      -32602,
      'request_invalid',
    ],
    [
      'a setting that is not there',
      'training.start',
      { scenario: 'SCENARIO', settings: { gama: 1 } },
      -32602,
      'config_invalid',
    ],
    ['an unknown scenario', 'training.start', { scenario: '@nobody/none' }, -32004, 'package_not_found'],
    ['a yanked version', 'training.start', { scenario: 'SCENARIO@0.9.0' }, -32009, 'version_yanked'],
    ['a run that is not there', 'training.get_status', { run_id: unknownRun }, -32004, 'run_not_found'],
    ['what is no id', 'training.get_status', { run_id: '7' }, -32602, 'request_invalid'],
    ['neither run nor evaluation', 'training.get_status', {}, -32602, 'request_invalid'],
    ['both', 'training.get_status', { run_id: unknownRun, evaluation_id: unknownRun }, -32602, 'request_invalid'],
    [
      'an evaluation that is not there',
      'training.get_status',
      { evaluation_id: unknownRun },
      -32004,
      'evaluation_not_found',
    ],
    ['cancelling what is not there', 'training.cancel', { run_id: unknownRun }, -32004, 'run_not_found'],
    [
      'a cursor of one’s own',
      'training.export_trajectories',
      { run_id: 'RUN', cursor: '1' },
      -32602,
      'request_invalid',
    ],
    ['evaluating what has no agent', 'training.evaluate', { run_id: 'RUN' }, -32009, 'run_has_no_agent'],
  ])('%s is refused, and leaves nothing', async (_, method, params, code, ours) => {
    waiting ??= String((await resultOf('training.start', { scenario })).id)
    const filled = JSON.stringify(params ?? null)
      .replaceAll('SCENARIO', scenario)
      .replaceAll('"RUN"', `"${waiting}"`)
    const before = await rowsWritten(database)
    const { error } = await call(method, params === undefined ? undefined : JSON.parse(filled))
    expect({ code: error?.code, ours: error?.data.code }).toEqual({ code, ours })
    expect(await rowsWritten(database)).toEqual(before)
  })
  let waiting: string | undefined

  it('requires the same scopes as REST, and hides others’ runs', async () => {
    const run_id = String((await resultOf('training.start', { scenario })).id)
    const methods: [string, unknown][] = [
      ['training.start_grpo', { scenario }],
      ['training.start', { scenario }],
      ['training.get_status', { run_id }],
      ['training.cancel', { run_id }],
      ['training.evaluate', { run_id }],
      ['training.export_trajectories', { run_id }],
    ]
    expect(methods.map(([method]) => method)).toEqual(Object.keys(rpcMethods))
    const before = await rowsWritten(database)
    const stranger = await createActor(database)
    const strangers = await tokenOf(server.training, stranger)
    const unscoped = await tokenOf(server.training, server.training.ada, ['packages:manage'])
    for (const [method, params] of methods) {
      const anonymous = await server.call('POST', '/rpc', { json: { jsonrpc: '2.0', id: 1, method, params } })
      expect(anonymous.body, method).toMatchObject({ error: { code: -32001, data: { code: 'unauthenticated' } } })
      expect((await call(method, params, unscoped)).error?.code, method).toBe(-32003)
      if (!method.startsWith('training.start'))
        expect((await call(method, params, strangers)).error?.code, method).toBe(-32004)
    }
    expect(await rowsWritten(database)).toEqual(before)
  })

  it('processes a batch in order, including failures', async () => {
    const request = (id: unknown, method: string, params: unknown) => ({ jsonrpc: '2.0', id, method, params })
    const { body } = await post([
      request('a', 'training.start', { scenario, note: 'of a batch' }),
      { jsonrpc: '2.0', method: 'training.start', params: { scenario, note: 'of a notification' } },
      7,
      request(null, 'training.start', { scenario: '@nobody/none' }),
    ])
    expect(body).toMatchObject([
      { id: 'a', result: { note: 'of a batch' } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32004 } },
    ])
    const { runs } = (await server.call('GET', '/v1/runs?limit=1', { token: server.token })).body as {
      runs: { note: string }[]
    }
    expect(runs[0].note).toBe('of a notification')
  })

  it('notifications have no response, even if they fail', async () => {
    const answer = await post([
      { jsonrpc: '2.0', method: 'training.start', params: { scenario: '@nobody/none' } },
      { jsonrpc: '2.0', method: 'nothing' },
    ])
    expect(answer).toMatchObject({ status: 204, text: '' })
  })

  it('accepts only JSON of limited size from authenticated callers', async () => {
    const send = (body: string, headers: Record<string, string>, token = server.token) =>
      server.call('POST', '/rpc', { body, headers, token })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
      expect(await send('{}', { 'content-type': type })).toMatchObject({
        status: 415,
        body: { error: { code: -32600 } },
      })
    expect((await send('{}', { 'content-type': 'Application/JSON ; charset=utf-8' })).status).toBe(200)
    expect(await send('', {})).toMatchObject({ status: 200, body: { error: { code: -32700 } } })
    expect(await send(' '.repeat(2 ** 20 + 1), {})).toMatchObject({ status: 413, code: 'request_too_large' })
    expect(await send('{}', {}, 'agt_0000')).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  it('works as documented', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/json-rpc.md'), 'utf8')
    const blocks = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, block]) => block)
    expect(blocks.length).toBeGreaterThanOrEqual(8)
    const shown = '0b8e5f0c-4a3d-4b5e-9c39-6f1d0e2a7c11'
    let made: string | undefined
    for (let index = 0; index < blocks.length; index += 2) {
      const ours = (block: string) =>
        JSON.parse(block.replaceAll('@acme/cart-pole', scenario).replaceAll(shown, made ?? shown))
      const { body } = await post(ours(blocks[index]))
      made ??= (body as unknown as Response).result?.id as string
      expect(body).toMatchObject(ours(blocks[index + 1]))
    }
  })
})

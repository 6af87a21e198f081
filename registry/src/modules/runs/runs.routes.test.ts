import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { cancelWaiting, createOrganization, type RunServer, runIn, startRunServer, tokenOf } from './test/run-server.ts'
import { chargesOf, eventsOf, mustTakeTurn } from './testing/train.ts'

describeOnEngines('runs on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  let scenario: string
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
    scenario = server.training.scenario
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    server.call('POST', path, { json, headers, token: server.token })
  const get = (path: string) => server.call('GET', path, { token: server.token })
  const start = async (more: Record<string, unknown> = {}) => runIn(await post('/v1/runs', { scenario, ...more }))
  const endAll = () => cancelWaiting(server.training)
  describe('listing', () => {
    it('returns every run once, newest first, page by page, while others are started', async () => {
      const dan = await createActor(database)
      const token = await tokenOf(server.training, dan)
      const lab = await createOrganization(database, [[dan, 'member']])
      const ids: string[] = []
      for (let index = 0; index < 7; index++) {
        const account = index % 2 === 0 ? undefined : lab.username
        ids.unshift(runIn(await server.call('POST', '/v1/runs', { json: { scenario, account }, token })).id)
      }
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await server.call('GET', `/v1/runs?limit=2${cursor}`, { token })
        const { runs, next_cursor } = body as { runs: { id: string }[]; next_cursor: string | null }
        seen.push(...runs.map(({ id }) => id))
        if (next_cursor === null) break
        cursor = `&cursor=${next_cursor}`
        await server.call('POST', '/v1/runs', { json: { scenario }, token })
      }
      expect(seen.sort()).toEqual(ids.sort())
      const own = await server.call('GET', `/v1/runs?account=${dan.username}&state=queued&scenario=${scenario}`, {
        token,
      })
      expect((own.body.runs as { owner: string }[]).every(({ owner }) => owner === dan.username)).toBe(true)
    })

    it('filters, and refuses invalid filters', async () => {
      expect((await get('/v1/runs?scenario=@nobody/none')).body).toEqual({ runs: [], next_cursor: null })
      expect((await get('/v1/runs?scenario=%00')).code).toBe('request_invalid')
      expect((await get('/v1/runs?state=resting')).code).toBe('request_invalid')
      expect((await get('/v1/runs?cursor=made.up')).code).toBe('request_invalid')
      expect((await get('/v1/runs?account=nobody-at-all')).code).toBe('account_not_found')
      expect((await get('/v1/runs?limit=0')).code).toBe('request_invalid')
    })
  })

  describe('a run in progress', () => {
    it('shows progress, checkpoint, cost and agent, and can be evaluated', async () => {
      await endAll()
      const { id } = await start({ budget_minor: 1_000_000 })
      const turn = await mustTakeTurn(server.training)
      expect(turn.id).toBe(id)
      expect(runIn(await get(`/v1/runs/${id}`))).toMatchObject({
        state: 'running',
        attempt: 1,
        worker: 'worker-1',
        ahead: null,
      })
      await turn.train(3, 1)
      await turn.save(1)
      expect(runIn(await get(`/v1/runs/${id}`))).toMatchObject({
        progress: { iteration: 3, return_mean: 4.5 },
        checkpoint: { iteration: 3, steps: 3 * 2048 },
        cost: { spent_minor: 1, price_minor_per_hour: 3_600_000 },
        agent: null,
      })
      expect((await post(`/v1/runs/${id}/evaluations`, {})).code).toBe('run_has_no_agent')
      expect((await get(`/v1/runs/${id}/agent`)).code).toBe('run_has_no_agent')
      await turn.complete(2)
      const run = runIn(await get(`/v1/runs/${id}`))
      expect(run).toMatchObject({ state: 'completed', agent: { package: null }, error: null })
      const tarball = await fetch(run.agent?.tarball ?? '', { headers: { authorization: `Bearer ${server.token}` } })
      expect((await tarball.arrayBuffer()).byteLength).toBe(run.agent?.size)
      const request = await post(`/v1/runs/${id}/evaluations`, { episodes: 5, seed: 9 })
      expect(request).toMatchObject({
        status: 202,
        body: { run: id, state: 'queued', episodes: 5, seed: 9, evaluation: null },
      })
      expect((await get(`/v1/evaluations/${request.body.id}`)).body).toEqual(request.body)
      expect((await post(`/v1/runs/${id}/evaluations`, { episodes: 0 })).code).toBe('request_invalid')
      const bob = await tokenOf(server.training, await createActor(database))
      expect((await server.call('GET', `/v1/evaluations/${request.body.id}`, { token: bob })).code).toBe(
        'evaluation_not_found',
      )
      expect((await get(`/v1/evaluations/${randomUUID()}`)).code).toBe('evaluation_not_found')
      expect((await post(`/v1/runs/${id}/cancel`, undefined)).code).toBe('run_state_conflict')
      expect((await post(`/v1/runs/${id}/resume`, { budget_minor: 2_000_000 })).code).toBe('run_state_conflict')
    })

    it('without episodes has a null mean in every format', async () => {
      await endAll()
      const { id } = await start()
      const turn = await mustTakeTurn(server.training)
      const { progressPoint } = await import('./exports/testing/progress-points.ts')
      const none = { episodes: 0, episodes_total: 0, return_mean: null, length_mean: null, metrics: {} }
      await turn.train(1, 1, { points: [progressPoint(1, none)] })
      expect(runIn(await get(`/v1/runs/${id}`)).progress).toMatchObject({ return_mean: null, episodes_total: 0 })
      const reported = await post('/rpc', {
        jsonrpc: '2.0',
        id: 1,
        method: 'training.get_status',
        params: { run_id: id },
      })
      expect(reported.body).toMatchObject({ result: { progress: { return_mean: null } } })
      const metrics = await get(`/v1/runs/${id}/metrics`)
      expect(metrics.body).toMatchObject({ points: [{ iteration: 1, return_mean: null, metrics: {} }], next: null })
      const [header, line] = (await get(`/v1/runs/${id}/metrics.csv`)).text.split('\r\n').map((row) => row.split(','))
      expect(line[header.indexOf('return_mean')]).toBe('')
      expect((await get(`/v1/runs/${id}/metrics.tfevents`)).status).toBe(200)
      expect((await get(`/v1/runs/${id}/metrics.jsonl`)).status).toBe(200)
      await post(`/v1/runs/${id}/cancel`, undefined)
      await turn.end({ state: 'cancelled' }, 2)
      const stream = await get(`/v1/runs/${id}/events`)
      expect(stream.text).toContain('"return_mean":null')
      for (const { text } of [reported, metrics, stream]) expect(text).not.toContain('NaN')
    })

    it('is canceled: immediately if queued, by its worker if running', async () => {
      await endAll()
      const waiting = await start()
      expect(runIn(await post(`/v1/runs/${waiting.id}/cancel`, undefined)).state).toBe('cancelled')
      const { id } = await start()
      const turn = await mustTakeTurn(server.training)
      expect(runIn(await post(`/v1/runs/${id}/cancel`, undefined))).toMatchObject({
        state: 'running',
        cancel_requested: true,
      })
      expect(runIn(await post(`/v1/runs/${id}/cancel`, undefined))).toMatchObject({
        state: 'running',
        cancel_requested: true,
      })
      expect(await turn.train(1, 1)).toBe('cancel')
      await turn.end({ state: 'cancelled' }, 1)
      expect(runIn(await get(`/v1/runs/${id}`)).state).toBe('cancelled')
      expect((await eventsOf({ database }, id)).filter(({ type }) => type === 'cancel_requested')).toHaveLength(1)
      expect(await chargesOf({ database }, id)).toHaveLength(1)
    })

    it('can be resumed with a budget above what it has spent', async () => {
      await endAll()
      const { id } = await start({ budget_minor: 10 })
      expect((await post(`/v1/runs/${id}/resume`, { budget_minor: 20 })).code).toBe('run_state_conflict')
      const turn = await mustTakeTurn(server.training)
      expect(await turn.train(1, 10)).toBe('budget')
      await turn.end({ state: 'budget_exceeded' }, 10)
      const spent = runIn(await get(`/v1/runs/${id}`))
      expect(spent).toMatchObject({ state: 'budget_exceeded', cost: { spent_minor: 10, budget_minor: 10 } })
      for (const budget_minor of [10, 1, -1])
        expect((await post(`/v1/runs/${id}/resume`, { budget_minor })).code).toBe('request_invalid')
      expect(runIn(await post(`/v1/runs/${id}/resume`, { budget_minor: 11 }))).toMatchObject({
        state: 'queued',
        ended_at: null,
        cost: { budget_minor: 11 },
      })
      expect((await mustTakeTurn(server.training)).id).toBe(id)
    })
  })

  it('status shows queue, workers and own runs', async () => {
    await endAll()
    await start()
    const { body, status } = await get('/v1/status')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      queue: { train: { queued: 1 } },
      runs: { queued: 1 },
      currency: 'USD',
      workers: expect.arrayContaining([expect.objectContaining({ name: 'worker-1', cores: 2 })]),
    })
  })
})

import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { createActor } from '../packages/testing/publishing.ts'
import {
  cancelWaiting,
  createOrganization,
  type RunServer,
  rowsWritten,
  runIn,
  startRunServer,
  tokenOf,
} from './test/run-server.ts'
import { eventsOf } from './testing/train.ts'

describeOnEngines('starting runs on $kind', ({ open }) => {
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
  describe('starting', () => {
    it('returns the queued run with all settings resolved', async () => {
      const answer = await post('/v1/runs', {
        scenario: `${scenario}@^1.0.0`,
        seed: 7,
        settings: { n_steps: 256, execution_provider: 'cuda' },
        budget_minor: 500,
        note: 'first try',
      })
      expect(answer.status).toBe(201)
      const run = runIn(answer)
      expect(run).toMatchObject({
        state: 'queued',
        owner: server.training.ada.username,
        created_by: server.training.ada.username,
        scenario: { name: scenario, version: '1.0.0', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        algorithm: 'ppo',
        seed: 7,
        note: 'first try',
        ahead: 0,
        attempt: 0,
        worker: null,
        cancel_requested: false,
        progress: null,
        checkpoint: null,
        cost: { currency: 'USD', spent_minor: 0, budget_minor: 500, price_minor_per_hour: null },
        error: null,
        evaluation: null,
        agent: null,
        last_event: 1,
      })
      expect(run.settings).toMatchObject({
        steps: 10_000,
        rollout_steps: 256,
        learner_device: 'cuda',
        rollout_provider: 'cuda',
        gamma: null,
      })
      expect(runIn(await get(`/v1/runs/${run.id}`))).toEqual(run)
      expect(await eventsOf({ database }, run.id)).toMatchObject([
        { seq: 1, type: 'queued', data: { reason: 'submitted', message: null } },
      ])
      await endAll()
    })

    it('uses the requested algorithm and steps', async () => {
      const run = await start({ algorithm: 'grpo', steps: 777, settings: { num_generations: 4 } })
      expect(run).toMatchObject({ algorithm: 'grpo', settings: { steps: 777, group_size: 4 } })
    })

    it('counts the runs that are ahead', async () => {
      await endAll()
      const ids = []
      for (let index = 0; index < 3; index++) ids.push((await start()).id)
      const ahead = []
      for (const id of ids) ahead.push(runIn(await get(`/v1/runs/${id}`)).ahead)
      expect([...ahead].sort()).toEqual(ahead)
      expect(ahead[0]).toBe(0)
      await endAll()
      expect(runIn(await get(`/v1/runs/${ids[0]}`))).toMatchObject({ state: 'cancelled', ahead: null })
    })

    it('starts a run for an organization, which then owns it', async () => {
      const lab = await createOrganization(database, [[server.training.ada, 'member']])
      const run = await start({ account: lab.username })
      expect(run).toMatchObject({ owner: lab.username, created_by: server.training.ada.username })
      expect((await get(`/v1/runs?account=${lab.username}`)).body).toMatchObject({ runs: [{ id: run.id }] })
      await endAll()
    })
  })

  describe('an Idempotency-Key', () => {
    const started = (key: string, more: Record<string, unknown> = {}) =>
      post('/v1/runs', { scenario, ...more }, { 'idempotency-key': key })

    it('returns the same run again, even after changes and with another order of fields', async () => {
      const key = randomUUID()
      const first = runIn(await started(key, { seed: 3, note: 'n' }))
      await post(`/v1/runs/${first.id}/cancel`, undefined)
      const again = await server.call('POST', '/v1/runs', {
        body: JSON.stringify({ note: 'n', seed: 3, scenario }),
        headers: { 'idempotency-key': key },
        token: server.token,
      })
      expect(again.status).toBe(201)
      expect(again.body).toMatchObject({ id: first.id, state: 'cancelled' })
    })

    it('refuses another request', async () => {
      const key = randomUUID()
      const { id } = runIn(await started(key))
      const before = await rowsWritten(database)
      expect(await started(key, { seed: 2 })).toMatchObject({
        status: 409,
        code: 'idempotency_key_reused',
        body: { error: { data: { run: id } } },
      })
      expect(await rowsWritten(database)).toEqual(before)
    })

    it('is per account', async () => {
      const key = randomUUID()
      const { id } = runIn(await started(key))
      const bob = await createActor(database)
      const token = await tokenOf(server.training, bob)
      const headers = { 'idempotency-key': key }
      expect(runIn(await server.call('POST', '/v1/runs', { json: { scenario }, token, headers })).id).not.toBe(id)
    })

    it('creates one run for concurrent requests, with or without a version to publish', async () => {
      const { ada } = server.training
      for (const more of [
        {},
        { publish: { name: `@${ada.username}/racer`, version: '1.0.0', summary: 'Finds the way out.' } },
      ]) {
        const key = randomUUID()
        const answers = await Promise.all(Array.from({ length: 8 }, () => started(key, more)))
        expect(new Set(answers.map((answer) => runIn(answer).id)).size).toBe(1)
        const made = await database.query
          .selectFrom('training_runs')
          .select('id')
          .where('idempotency_key', '=', key)
          .execute()
        expect(made).toHaveLength(1)
      }
    })

    it('accepts one of several different concurrent requests', async () => {
      const key = randomUUID()
      const answers = await Promise.all([1, 2, 3, 4].map((seed) => started(key, { seed })))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(answers.filter(({ code }) => code === 'idempotency_key_reused')).toHaveLength(3)
    })

    it.each(['', 'with space', 'ü'.repeat(3), 'x'.repeat(256)])('refuses %j', async (key) => {
      const send = started(key)
      if (key.startsWith('ü')) return expect(send.then(({ code }) => code)).resolves.toBe('request_invalid')
      expect((await send).code).toBe('request_invalid')
    })
  })

  describe('a version to publish as', () => {
    const reserved = async (id: string) =>
      database.query
        .selectFrom('training_runs')
        .select(['publish_name', 'publish_version', 'publish_visibility'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()

    it('is the next patch above all versions and runs, each once', async () => {
      const publishing = {
        publish: { name: `@${server.training.ada.username}/counter`, summary: 'Finds the way out.' },
      }
      const runs = await Promise.all(Array.from({ length: 6 }, () => start(publishing)))
      const numbers = await Promise.all(runs.map(({ id }) => reserved(id)))
      expect(numbers.map(({ publish_version }) => publish_version).sort()).toEqual(
        Array.from({ length: 6 }, (_, patch) => `0.1.${patch}`),
      )
    })

    it('is reserved by one run until it fails', async () => {
      const publishing = {
        publish: {
          name: `@${server.training.ada.username}/held`,
          version: '3.0.0',
          visibility: 'private',
          summary: 'Finds the way out.',
        },
      }
      const first = await start(publishing)
      expect(await reserved(first.id)).toMatchObject({ publish_version: '3.0.0', publish_visibility: 'private' })
      expect((await post('/v1/runs', { scenario, ...publishing })).code).toBe('version_exists')
      await post(`/v1/runs/${first.id}/cancel`, undefined)
      const second = await start(publishing)
      expect(await reserved(second.id)).toMatchObject({ publish_version: '3.0.0' })
    })

    it('requires the permission to publish', async () => {
      const token = await tokenOf(server.training, server.training.ada, ['training:start'])
      const json = {
        scenario,
        publish: { name: `@${server.training.ada.username}/other`, summary: 'Finds the way out.' },
      }
      expect(await server.call('POST', '/v1/runs', { json, token })).toMatchObject({ status: 403, code: 'forbidden' })
    })
  })

  describe('limits', () => {
    it('of open runs and starts per minute are refused with a time to retry', async () => {
      const carol = await createActor(database)
      const token = await tokenOf(server.training, carol)
      const limited = async (training: { openRuns: number; startsPerMinute: number }, starts = 4) => {
        const { config } = server.training.services
        const usual = config.training
        config.training = { ...usual, ...training }
        try {
          const codes = []
          for (let index = 0; index < starts; index++)
            codes.push(await server.call('POST', '/v1/runs', { json: { scenario }, token }))
          return codes
        } finally {
          config.training = usual
        }
      }
      const open = await limited({ openRuns: 3, startsPerMinute: 1000 })
      expect(open.map(({ status }) => status)).toEqual([201, 201, 201, 429])
      expect(open[3].headers.get('retry-after')).toMatch(/^\d+$/)
      await server.call('POST', `/v1/runs/${open[0].body.id}/cancel`, { token })
      // Room again, though the last count said that there was none.
      expect((await limited({ openRuns: 3, startsPerMinute: 1000 })).map(({ status }) => status)).toEqual([
        201, 429, 429, 429,
      ])
      // Three in a minute: whenever the minute ends, one of seven is too many.
      const many = await limited({ openRuns: 100, startsPerMinute: 3 }, 7)
      expect(many.some(({ code }) => code === 'rate_limited')).toBe(true)
    })
  })
})

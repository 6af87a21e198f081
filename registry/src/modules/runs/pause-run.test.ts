import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { type RunServer, runIn, startRunServer } from './test/run-server.ts'
import { chargesOf, expectGapless, silence, type Turn, takeTurn, typesOf } from './testing/train.ts'

describeOnEngines('pausing runs on $kind', ({ open }) => {
  let database: Database
  let server: RunServer
  beforeAll(async () => {
    database = await open()
    server = await startRunServer(database)
  })
  afterAll(async () => {
    await server?.close()
    await database?.close()
  })

  const post = (path: string, json?: unknown) => server.call('POST', path, { json, token: server.token })
  const start = async (more: Record<string, unknown> = {}) =>
    runIn(await post('/v1/runs', { scenario: server.training.scenario, ...more })).id
  const read = async (id: string) => runIn(await server.call('GET', `/v1/runs/${id}`, { token: server.token }))
  async function turnOf(id: string): Promise<Turn> {
    const turn = await takeTurn(server.training)
    if (turn?.id !== id) throw new Error('another run came first')
    return turn
  }

  it('a run pauses at its steps, is resumed from there with another pause, and ends', async () => {
    const id = await start({ pause_at: 4_096, budget_minor: 1_000_000 })
    const first = await turnOf(id)
    expect(first.job.run.pause_at).toBe(4_096)
    await first.train(2, 30)
    await first.save(30)
    expect(await first.end({ state: 'paused' }, 30)).toBe('paused')
    expect(await read(id)).toMatchObject({ state: 'paused', pause_at: 4_096, ended_at: expect.any(String) })
    expect(await post(`/v1/runs/${id}/resume`, { pause_at: 4_096 })).toMatchObject({ code: 'request_invalid' })
    expect(runIn(await post(`/v1/runs/${id}/resume`, { pause_at: 6_144 }))).toMatchObject({
      state: 'queued',
      pause_at: 6_144,
      cost: { budget_minor: 1_000_000 },
    })
    const second = await turnOf(id)
    expect(second.job.run).toMatchObject({ pause_at: 6_144, checkpoint: { iteration: 2 } })
    await second.train(1, 20)
    await second.save(20)
    await second.end({ state: 'paused' }, 20)
    expect(runIn(await post(`/v1/runs/${id}/resume`, {}))).toMatchObject({ state: 'queued', pause_at: null })
    const third = await turnOf(id)
    await third.train(1, 10)
    expect(await third.complete(10)).toBe('completed')
    await expectGapless(server.training.services, id)
    const charges = await chargesOf(server.training.services, id)
    expect(charges.map(({ resumption }) => resumption)).toEqual([0, 1, 2])
    expect((await typesOf(server.training.services, id)).filter((type) => type === 'paused')).toHaveLength(2)
  })

  it('on request, a queued run pauses at once, a running one after its checkpoint', async () => {
    const waiting = await start()
    expect(runIn(await post(`/v1/runs/${waiting}/pause`))).toMatchObject({ state: 'paused' })
    expect(runIn(await post(`/v1/runs/${waiting}/pause`))).toMatchObject({ state: 'paused' })
    expect(await takeTurn(server.training, 0)).toBeUndefined()
    expect(runIn(await post(`/v1/runs/${waiting}/resume`, {}))).toMatchObject({ state: 'queued' })
    const turn = await takeTurn(server.training, 0)
    if (turn === undefined) throw new Error('there is no run to lease')
    expect(await turn.beat()).toBeNull()
    expect(runIn(await post(`/v1/runs/${waiting}/pause`))).toMatchObject({ state: 'running' })
    expect(await turn.train()).toBe('pause')
    expect(await turn.beat()).toBe('pause')
    await turn.save()
    await turn.end({ state: 'paused' })
    expect(await read(waiting)).toMatchObject({ state: 'paused', checkpoint: { iteration: 1 } })
  })

  it('a run that loses its worker while it pauses is paused', async () => {
    const id = await start()
    const turn = await takeTurn(server.training, 0)
    await post(`/v1/runs/${id}/pause`)
    await turn?.release()
    expect(await read(id)).toMatchObject({ state: 'paused' })
    await silence(server.training, id)
    expect(await read(id)).toMatchObject({ state: 'paused' })
  })

  it('an ended run cannot be paused, and one that was not to pause does not', async () => {
    const id = await start()
    const turn = await takeTurn(server.training, 0)
    await turn?.train()
    await expect(turn?.end({ state: 'paused' })).rejects.toMatchObject({ code: 'request_invalid' })
    await turn?.complete()
    expect(await post(`/v1/runs/${id}/pause`)).toMatchObject({ status: 409, code: 'run_state_conflict' })
    expect(await post(`/v1/runs/${id}/resume`, {})).toMatchObject({ status: 409, code: 'run_state_conflict' })
  })
})

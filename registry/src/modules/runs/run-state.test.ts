import { randomUUID } from 'node:crypto'
import { type RunState, runStateSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { insertRun } from './exports/testing/insert-run.ts'
import { progressPoint } from './exports/testing/progress-points.ts'
import { insertEvents, insertPoints, numbered, readEvents } from './run-events.store.ts'
import { onRunChanged, runChanged } from './run-signals.ts'
import { changeRun, isOver, lockRun, mayBecome } from './run-state.ts'

const states = runStateSchema.options
const ways: Record<RunState, RunState[]> = {
  queued: ['running', 'failed', 'cancelled', 'budget_exceeded'],
  running: ['queued', 'completed', 'failed', 'cancelled', 'budget_exceeded'],
  budget_exceeded: ['queued'],
  completed: [],
  failed: [],
  cancelled: [],
}

describeOnEngines('states and events of runs on $kind', ({ open }) => {
  let database: Database

  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  const insert = (state: RunState) => insertRun(database, { state, endedAt: isOver(state) ? new Date() : undefined })
  const change = (id: string, patch: Parameters<typeof changeRun>[2]) =>
    database.transaction(async (query) => {
      const run = await lockRun(query, id)
      if (run === undefined) throw new Error('no run')
      return changeRun(query, run, patch, [{ type: 'cancel_requested', data: {} }])
    })

  it('goes the ways that there are, and no other: what is over is over, for the database as well', async () => {
    for (const from of states) {
      for (const to of states) {
        expect([from, to, mayBecome(from, to)]).toEqual([from, to, ways[from].includes(to)])
        const id = await insert(from)
        const endedAt = isOver(to) ? sql<Date>`now()` : null
        const agent = to === 'completed' ? { agent_object_key: `sha256/${'0'.repeat(64)}` } : {}
        const changed = change(id, { state: to, ended_at: endedAt, ...agent })
        if (mayBecome(from, to)) expect(await changed).toMatchObject({ state: to, last_seq: 1 })
        else await expect(changed).rejects.toThrow(`is ${from} and cannot be ${to}`)
        if (!['completed', 'failed', 'cancelled'].includes(from) || from === to) continue
        const forced = sql`update training_runs set state = ${to}, ended_at = ${endedAt} where id = ${id}`
        await expect(forced.execute(database.query)).rejects.toThrow(/ends once/)
      }
    }
  })

  it('events and iterations are read in one order, page by page', async () => {
    const id = await insert('running')
    await database.transaction(async (query) => {
      await insertEvents(query, id, numbered(0, [{ type: 'queued', data: { reason: 'submitted', message: null } }]))
      await insertPoints(query, id, [
        { seq: 2, data: progressPoint(1, { return_mean: null }) },
        { seq: 4, data: progressPoint(2) },
      ])
      await insertEvents(query, id, [{ type: 'checkpoint', data: { iteration: 1, steps: 2048 }, seq: 3 }])
    })
    const all = await readEvents(database.query, id, 0, 100)
    expect(all.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '1 queued',
      '2 progress',
      '3 checkpoint',
      '4 progress',
    ])
    expect(all[1]).toEqual({ seq: 2, at: all[1].at, type: 'progress', data: progressPoint(1, { return_mean: null }) })
    for (let after = 0; after <= 4; after++) {
      expect(await readEvents(database.query, id, after, 2)).toEqual(all.slice(after, after + 2))
    }
    const twice = insertPoints(database.query, id, [{ seq: 5, data: progressPoint(2) }])
    await expect(twice).rejects.toThrow(/training_metrics_pkey/)
    const place = insertPoints(database.query, id, [{ seq: 4, data: progressPoint(3) }])
    await expect(place).rejects.toThrow(/training_metrics_seq_idx/)
    expect(await readEvents(database.query, randomUUID(), 0, 10)).toEqual([])
  })

  it('tells those in this process who listen, and nobody else', async () => {
    const heard: string[] = []
    const first = onRunChanged({ database }, 'a', () => heard.push('first'))
    const second = onRunChanged({ database }, 'a', () => heard.push('second'))
    runChanged({ database }, 'a')
    runChanged({ database }, 'b')
    first()
    runChanged({ database }, 'a')
    second()
    runChanged({ database }, 'a')
    expect(heard).toEqual(['first', 'second', 'second'])
  })
})

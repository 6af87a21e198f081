import { randomUUID } from 'node:crypto'
import { type RunState, runStateSchema } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { insertRun } from './exports/testing/insert-run.ts'
import { progressPoint } from './exports/testing/progress-points.ts'
import { insertEvents, insertPoints, numbered, readEvents } from './run-events.store.ts'
import { RunFeeds } from './run-feed.ts'
import {
  changeRun,
  isNearlySpent,
  isOver,
  isSpent,
  lockRun,
  type Metered,
  mayBecome,
  meter,
  spentMinor,
} from './run-state.ts'

describe('run state', () => {
  const states = runStateSchema.options
  const ways: Record<RunState, RunState[]> = {
    queued: ['running', 'failed', 'cancelled', 'budget_exceeded', 'paused'],
    running: ['queued', 'completed', 'failed', 'cancelled', 'budget_exceeded', 'paused'],
    budget_exceeded: ['queued'],
    paused: ['queued'],
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

    it('allows only valid transitions: end states are final, also in the database', async () => {
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

    it('reads events and iterations in one order, page by page', async () => {
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

    it('notifies watchers in this process of changes until they leave', async () => {
      const log = { info: () => {}, warn: () => {}, error: () => {} }
      const feeds = new RunFeeds({ database, log })
      const [run, other] = [await insert('running'), await insert('running')]
      const advance = (seq: number) =>
        database.query.updateTable('training_runs').set({ last_seq: seq }).where('id', '=', run).execute()
      const feed = feeds.join(run)
      expect(feeds.join(run)).toBe(feed)
      await advance(3)
      feeds.changed(other)
      feeds.changed(run)
      await expect.poll(() => feed.lastSeq).toBe(3)
      feeds.leave(feed)
      await advance(4)
      feeds.changed(run)
      await expect.poll(() => feed.lastSeq).toBe(4)
      feeds.leave(feed)
      await advance(5)
      feeds.changed(run)
      await database.query.selectFrom('training_runs').select('id').execute()
      expect([feed.lastSeq, feeds.watchers]).toEqual([4, 0])
    })
  })
})

describe('metering', () => {
  const hour = 3_600_000
  const run = (changes: Partial<Metered> = {}): Metered => ({
    price_minor_per_hour: hour,
    attempt_price_milliseconds: 0,
    attempt_metered_ms: 0,
    price_milliseconds: 0,
    budget_minor: null,
    ...changes,
  })

  describe('the meter', () => {
    it('adds price times time to the value at the start of the attempt', () => {
      const reading = meter(run({ attempt_price_milliseconds: 5 * hour, price_milliseconds: 5 * hour }), {
        meteredMs: 10,
        leasedMs: 100_000,
      })
      expect(reading).toEqual({ attempt_metered_ms: 10, price_milliseconds: 15 * hour })
      expect(spentMinor({ ...run(), ...reading })).toBe(15)
    })

    it('rounds up, once', () => {
      expect(spentMinor({ price_milliseconds: 1, budget_minor: null })).toBe(1)
      expect(spentMinor({ price_milliseconds: hour, budget_minor: null })).toBe(1)
      expect(spentMinor({ price_milliseconds: hour + 1, budget_minor: null })).toBe(2)
      expect(spentMinor({ price_milliseconds: 0, budget_minor: null })).toBe(0)
    })

    it('a budget is used up exactly, and never exceeded', () => {
      const at = (price: number) => ({ price_milliseconds: price, budget_minor: 4 })
      expect([isSpent(at(4 * hour - 1)), isSpent(at(4 * hour))]).toEqual([false, true])
      expect([isNearlySpent(at(3 * hour - 1)), isNearlySpent(at(3 * hour))]).toEqual([false, true])
      expect(spentMinor(at(400 * hour))).toBe(4)
      expect(isSpent({ price_milliseconds: Number.MAX_SAFE_INTEGER, budget_minor: null })).toBe(false)
    })

    it('never decreases within an attempt, exceeds the lease, or overflows', () => {
      const reported = fc.array(fc.record({ meteredMs: fc.nat(10 ** 12), elapsed: fc.nat(100_000) }), { maxLength: 30 })
      const prices = fc.nat(10 ** 9)
      fc.assert(
        fc.property(reported, prices, fc.nat(10 ** 12), (given, price, began) => {
          let state = run({
            price_minor_per_hour: price,
            attempt_price_milliseconds: began,
            price_milliseconds: began,
          })
          let leasedMs = 0
          for (const { meteredMs, elapsed } of given) {
            leasedMs += elapsed
            const reading = meter(state, { meteredMs, leasedMs })
            expect(reading.attempt_metered_ms).toBeGreaterThanOrEqual(state.attempt_metered_ms)
            expect(reading.attempt_metered_ms).toBeLessThanOrEqual(leasedMs + 1_000)
            expect(reading.price_milliseconds).toBeGreaterThanOrEqual(state.price_milliseconds)
            expect(Number.isSafeInteger(reading.price_milliseconds)).toBe(true)
            state = { ...state, ...reading }
          }
        }),
      )
    })
  })
})

import { AgentGymError } from '@agentgym/contract'
import { describeOnEngines, openPatiently } from '@agentgym/testkit/databases'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../database/database.ts'
import { limitRate, refundRate } from './rate-limit.ts'

// A window that does not end during the test.
const windowSeconds = 60 * 365 * 86_400

describeOnEngines('limitRate on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  const tryOften = async (key: string, times: number, limit: number) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: times }, () => limitRate(database, key, { limit, windowSeconds })),
    )
    return outcomes.filter((outcome) => outcome.status === 'fulfilled').length
  }

  it('admits exactly the limit of concurrent requests', async () => {
    expect(await tryOften('a', 30, 7)).toBe(7)
    expect(await tryOften('a', 5, 7)).toBe(0)
    expect(await tryOften('b', 5, 7)).toBe(5)
  })

  it('returns the time to wait', async () => {
    await limitRate(database, 'c', { limit: 1, windowSeconds })
    const error = await limitRate(database, 'c', { limit: 1, windowSeconds }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(AgentGymError)
    const { code, data } = error as AgentGymError
    expect(code).toBe('rate_limited')
    expect(data.retry_after_seconds).toBeGreaterThan(0)
    expect(data.retry_after_seconds).toBeLessThanOrEqual(windowSeconds)
  })

  it('resets in the next window', async () => {
    await limitRate(database, 'd', { limit: 1, windowSeconds })
    await database.query
      .updateTable('rate_limits')
      .set({ window_start: new Date('1950-01-01') })
      .where('key', '=', 'd')
      .execute()
    await limitRate(database, 'd', { limit: 1, windowSeconds })
  })

  it('refunds counts, never below zero', async () => {
    const limit = { limit: 1, windowSeconds }
    await limitRate(database, 'e', limit)
    await refundRate(database, 'e', limit)
    await refundRate(database, 'e', limit)
    await limitRate(database, 'e', limit)
    await expect(limitRate(database, 'e', limit)).rejects.toThrow()
    await refundRate(database, 'nobody', limit)
  })
})

it('counts across all replicas on one PostgreSQL', async () => {
  const address = await createPostgresqlDatabase()
  const replicas = await Promise.all([openPatiently({ url: address }), openPatiently({ url: address })])
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => limitRate(replicas[index % 2], 'f', { limit: 7, windowSeconds })),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
  await Promise.all(replicas.map((replica) => replica.close()))
})

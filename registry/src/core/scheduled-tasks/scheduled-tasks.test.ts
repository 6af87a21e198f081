import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installationSecret } from '../../app/settings/read-settings.ts'
import type { Database } from '../database/database.ts'
import { startScheduledTasks } from './scheduled-tasks.ts'

describeOnEngines('scheduled tasks on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
  })
  afterAll(async () => {
    await services.remove()
    await database.close()
  })

  /** Replicas that run the task until it ran `times`; a second between two runs, for a claim may be slow to arrive. */
  async function replicate(
    name: string,
    times: number,
    run: () => Promise<void>,
  ): Promise<{ runs: number; atOnce: number }> {
    const stop = new AbortController()
    let [runs, running, atOnce] = [0, 0, 0]
    const task = {
      name,
      everyMs: 1_000,
      run: async () => {
        atOnce = Math.max(atOnce, ++running)
        runs++
        if (runs === times) stop.abort()
        await run().finally(() => running--)
      },
    }
    await Promise.all([1, 2, 3].map(() => startScheduledTasks(services, [task], stop.signal)))
    return { runs, atOnce }
  }

  it('one of three replicas runs a task each time it is due', async () => {
    expect(await replicate('counted', 3, async () => {})).toEqual({ runs: 3, atOnce: 1 })
  })

  it('continues after a failure, and logs it', async () => {
    const { runs } = await replicate('failing', 2, async () => {
      throw new Error('disk full')
    })
    expect(runs).toBe(2)
    const failures = services.logged.filter(({ message }) => message === 'scheduled task failed')
    expect(failures[0].data).toMatchObject({ task: 'failing', error: expect.stringContaining('disk full') })
    const metrics = await services.metrics.registry.metrics()
    expect(metrics).toContain('scheduled_task_failures_total{task="failing"} 2')
  })

  it('does not run a task that another replica just ran', async () => {
    let runs = 0
    const task = { name: 'daily', everyMs: 24 * 3_600_000, run: async () => void runs++ }
    const stop = new AbortController()
    const first = startScheduledTasks(services, [task], stop.signal)
    const second = startScheduledTasks(services, [task], stop.signal)
    while (runs === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    stop.abort()
    await Promise.all([first, second])
    expect(runs).toBe(1)
  })

  it('stops immediately, while a task runs or before the first one', async () => {
    const stop = new AbortController()
    const task = { name: 'last', everyMs: 24 * 3_600_000, run: async () => stop.abort() }
    await startScheduledTasks(services, [task], stop.signal)
    await startScheduledTasks(services, [task], stop.signal)
  })

  it('replicas that start together share one secret', async () => {
    const secrets = await Promise.all([1, 2, 3].map(() => installationSecret(database)))
    expect(secrets[0]).toHaveLength(32)
    expect(secrets.map((secret) => Buffer.from(secret).toString('hex'))).toEqual(
      Array(3).fill(Buffer.from(secrets[0]).toString('hex')),
    )
  })
})

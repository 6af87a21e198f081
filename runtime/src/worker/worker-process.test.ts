// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addTraining, type PackedScenario, packedScenario, slowly, trainersOf } from './testing/fixture-job.ts'
import { JobServer } from './testing/job-server.ts'
import type { WorkerEvent } from './worker-event.ts'

const endless = { steps: 1_000_000_000 }
let scenario: PackedScenario
let server: JobServer
let worker: ChildProcess
let events: WorkerEvent[]
let exited: Promise<unknown>
beforeAll(async () => {
  scenario = await packedScenario(slowly)
})
beforeEach(async () => {
  server = await JobServer.start()
  events = []
  const script = fileURLToPath(new URL('./testing/worker.process.ts', import.meta.url))
  worker = spawn(process.execPath, ['--no-node-snapshot', script, server.url], { stdio: ['ignore', 'pipe', 'inherit'] })
  exited = once(worker, 'exit')
  createInterface({ input: worker.stdout as NodeJS.ReadableStream }).on('line', (line) => events.push(JSON.parse(line)))
})
afterEach(async () => {
  worker.kill('SIGKILL')
  await exited
  await server.close()
  expect(server.violations).toEqual([])
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20)
}

describe('the process of a worker', { timeout: 240_000 }, () => {
  it('takes its trainer along when it is killed', async () => {
    const job = addTraining(server, scenario, { settings: endless })
    await server.until(() => job.points.size > 0)
    const trainers = trainersOf(worker.pid)
    expect(trainers).toHaveLength(1)
    worker.kill('SIGKILL')
    await exited
    await until(() => trainers.every((pid) => !isAlive(pid)))
    expect(job).toMatchObject({ state: 'leased', outcome: null, releases: [] })
  })

  it('told to stop, saves its run, gives it back and ends with status 0', async () => {
    const job = addTraining(server, scenario, { settings: endless })
    await server.until(() => job.points.size > 0)
    worker.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(events.at(-1)).toMatchObject({ event: 'released', run: job.id })
    expect(job.state).toBe('queued')
    expect(job.checkpoints.at(-1)?.iteration).toBe(job.points.size)
  })

  it.each([
    ['by its own clock', 6_000],
    ['by the server, which fences it', 3_600_000],
  ])(
    'stopped past its lease and woken, has lost it %s: its trainer ends, and it writes nothing',
    async (_, leaseMs) => {
      server.leaseMs = leaseMs
      const job = addTraining(server, scenario, { settings: endless })
      await server.until(() => job.points.size > 0)
      const trainers = trainersOf(worker.pid)
      worker.kill('SIGSTOP')
      await until(() => /\) T /.test(statOf(worker.pid)))
      // Another worker has it now.
      server.expire(job)
      const other = server.lease(['train'])
      expect(other?.id).toBe(job.id)
      const written = [job.points.size, job.checkpoints.length, job.metered[1]]
      if (leaseMs < 10_000) await delay(leaseMs)
      worker.kill('SIGCONT')
      await until(() => events.some(({ event }) => event === 'lost'))
      await until(() => trainers.every((pid) => !isAlive(pid)))
      expect([job.points.size, job.checkpoints.length, job.metered[1]]).toEqual(written)
      expect(job).toMatchObject({ state: 'leased', attempt: 2, outcome: null, releases: [] })
    },
  )
})

function statOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

/** A zombie is dead: where process 1 of a container reaps nobody, it stays in the table for good. */
function isAlive(pid: number): boolean {
  const stat = statOf(pid)
  return stat !== '' && !/\) Z /.test(stat)
}

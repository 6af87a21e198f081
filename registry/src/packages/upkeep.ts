import type { Services } from '../server/services.ts'
import { rejectExhausted } from './finish-check.ts'
import { jobQueue } from './job-queue.ts'
import { sweepObjects } from './sweep-objects.ts'

const exhaustedMs = 15_000
const sweepMs = 60 * 60_000

/** Opens the queue and does what has to be done again and again while the server runs. `stop` waits for what is under way. */
export async function startPackageUpkeep(services: Services): Promise<{ stop(): Promise<void> }> {
  const queue = await jobQueue(services)
  const tasks = [
    repeat(services, exhaustedMs, 'rejecting versions whose checks failed', () => rejectExhausted(services, queue)),
    repeat(services, sweepMs, 'removing objects that no version names', async () => {
      await enqueueLostChecks(services)
      await sweepObjects(services)
    }),
  ]
  return {
    stop: async () => {
      await Promise.all(tasks.map((task) => task.stop()))
    },
  }
}

/** A version that is being checked has a job. Where the queue was lost (restored from a copy, say), it gets one again. */
export async function enqueueLostChecks(services: Services): Promise<number> {
  const queue = await jobQueue(services)
  const checking = await services.database.query
    .selectFrom('versions')
    .select('id')
    .where('state', '=', 'checking')
    .orderBy('created_at')
    .limit(10_000)
    .execute()
  let enqueued = 0
  for (const { id } of checking) {
    if (await queue.isKnown(id)) continue
    await services.database.transaction((query) => queue.enqueue(query, id))
    enqueued++
  }
  return enqueued
}

function repeat(
  { log }: Services,
  everyMs: number,
  what: string,
  task: () => Promise<unknown>,
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    running = task()
      .then(
        () => {},
        (error: unknown) =>
          log.error(`${what} failed`, { error: error instanceof Error ? error.message : String(error) }),
      )
      .finally(() => {
        busy = false
      })
  }, everyMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}

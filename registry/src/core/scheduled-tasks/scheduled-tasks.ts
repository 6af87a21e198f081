import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { outageIn } from '../dependencies/outage.ts'
import { describe } from '../http/answer-error.ts'
import type { Log, Services } from '../services.ts'

/** Background work that runs on one replica at a time. Must tolerate interruption and repetition. */
export type ScheduledTask = {
  /** Stable across versions: replicas coordinate by it. */
  name: string
  everyMs: number
  /** Long tasks must stop soon after the signal aborts: the server waits for them. */
  run(signal?: AbortSignal): Promise<void>
}

/**
 * Runs each task when it is due until the signal aborts; resolves when no task is running. The replica that updates the
 * task's row runs it. So two replicas never run a task at once, more replicas do not run it more often, and a dead
 * replica blocks nothing.
 */
export function startScheduledTasks(
  services: Pick<Services, 'database' | 'log' | 'metrics'>,
  tasks: ScheduledTask[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name } of tasks) services.metrics.taskFailed(name, 0)
  return Promise.all(tasks.map((task) => repeat(services, task, signal))).then(() => {})
}

async function repeat(
  { database, log, metrics }: Pick<Services, 'database' | 'log' | 'metrics'>,
  task: ScheduledTask,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await claim(database, task)) await task.run(signal)
    } catch (error) {
      metrics.taskFailed(task.name, 1)
      logFailure(log, 'scheduled task failed', error, { task: task.name })
    }
    await pause(task.everyMs / 4, signal)
  }
}

/** Claims the task if it is due. */
async function claim({ query }: Database, { name, everyMs }: ScheduledTask): Promise<boolean> {
  const nextAt = sql<Date>`now() + ${everyMs / 1000} * interval '1 second'`
  const claimed = await query
    .insertInto('upkeep')
    .values({ task: name, next_at: nextAt })
    .onConflict((conflict) =>
      conflict.column('task').doUpdateSet({ next_at: nextAt }).where('upkeep.next_at', '<=', sql<Date>`now()`),
    )
    .returning('task')
    .executeTakeFirst()
  return claimed !== undefined
}

/** Waits with jitter, so that replicas do not synchronize; returns immediately once the signal has aborted. */
async function pause(aboutMs: number, signal: AbortSignal): Promise<void> {
  await delay(aboutMs * (0.9 + Math.random() * 0.2), undefined, { signal }).catch(() => {})
}

/** Outages are not bugs and are logged elsewhere with their cause: one line without a stack. */
function logFailure(log: Log, message: string, error: unknown, data: Record<string, unknown> = {}): void {
  const outage = outageIn(error)
  if (outage === undefined) log.error(message, { ...data, error: describe(error) })
  else log.warn(message, { ...data, dependency: outage.dependency, error: outage.message })
}

const running = new Set<Promise<void>>()

/**
 * Starts work without waiting for it. If a request's timing must not reveal whether there was anything to do, such as
 * mailing an account that may not exist, all of it happens after the answer.
 */
export function inBackground(log: Log, what: string, work: () => Promise<void>): void {
  const task = work()
    .catch((error: unknown) => logFailure(log, `${what} failed`, error))
    .finally(() => running.delete(task))
  running.add(task)
}

/** Resolves once no background work is running: wait for it before closing its resources. */
export async function backgroundSettled(): Promise<void> {
  while (running.size > 0) await Promise.all(running)
}

import type { Log } from '../services.ts'

const running = new Set<Promise<void>>()

/**
 * Starts what nobody waits for. Where a request must not tell by its time whether there was anything to do, such as
 * sending a mail to an account that may not exist, all of it happens after the answer.
 */
export function inBackground(log: Log, what: string, work: () => Promise<void>): void {
  const task = work()
    .catch((error: unknown) => log.error(`${what} failed`, { error: String(error) }))
    .finally(() => running.delete(task))
  running.add(task)
}

/** Resolves once nothing runs in the background: wait for it before closing what it uses. */
export async function backgroundSettled(): Promise<void> {
  while (running.size > 0) await Promise.all(running)
}

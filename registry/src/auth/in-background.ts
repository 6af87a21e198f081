import type { Log } from '../server/services.ts'

/**
 * Starts what nobody waits for. Where a request must not tell by its time whether there was anything to do, such as
 * sending a mail to an account that may not exist, all of it happens after the answer.
 */
export function inBackground(log: Log, what: string, work: () => Promise<void>): void {
  work().catch((error: unknown) => log.error(`${what} failed`, { error: String(error) }))
}

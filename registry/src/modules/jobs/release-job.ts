import type { JobHandler } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'

/** Gives a job back before its lease is over: it waits for the next worker at once. Throws `lease_lost`. */
export async function releaseJob(
  services: Pick<Services, 'database' | 'queue' | 'config' | 'log'>,
  handlers: JobHandler[],
  { id, lease, reason, meteredMs }: { id: string; lease: string; reason: string; meteredMs?: number | undefined },
): Promise<void> {
  const { queue } = services
  const attempt = queue.anyAttemptOf(id, lease)
  const handler = handlers.find(({ kind }) => kind === attempt.kind)
  await services.database.transaction(async (query) => {
    const { leasedMs } = await queue.release(query, attempt)
    await handler?.released?.(query, attempt, { reason, meteredMs, leasedMs })
  })
  handler?.changed?.(id)
}

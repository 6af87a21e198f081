import { type ComputeProvider, firstMade, type RentedWorker, runOf } from './compute-provider.ts'

/** Why a worker was ended, or why it was left. */
export type SweptWorker = {
  worker: RentedWorker
  /** `kept`: its run is open. `foreign`: another server or another user knows its run. */
  outcome: 'kept' | 'foreign' | 'ended'
  reason: 'run_open' | 'other_server' | 'run_unknown' | 'run_ended' | 'too_old' | 'duplicate' | 'failed'
}

/** `unknown`: the server shows no such run to this user. Runs are made before their workers, so it is another user's. */
export type RunFate = 'open' | 'ended' | 'unknown'

/**
 * Ends every rented worker that no open run owns: by the provider's own list alone, so it needs no record of what was
 * started, and a command that was killed at any moment leaves nothing for good. Workers of other servers and users of the
 * same account at the provider are ended only when they are past their time.
 */
export async function sweepWorkers(
  provider: ComputeProvider,
  { owner, fateOf, now = new Date() }: { owner: string; fateOf(run: string): Promise<RunFate>; now?: Date },
): Promise<SweptWorker[]> {
  const workers = (await provider.list()).filter(({ state }) => state !== 'ended')
  const swept: SweptWorker[] = []
  const kept = new Set<string>()
  for (const worker of workers.toSorted(firstMade)) {
    const judged = await judge(worker, kept)
    if (judged.outcome === 'ended') await provider.end(worker)
    else kept.add(worker.name)
    swept.push({ worker, ...judged })
  }
  return swept

  async function judge(worker: RentedWorker, earlier: ReadonlySet<string>): Promise<Omit<SweptWorker, 'worker'>> {
    if (worker.endsAt !== null && worker.endsAt < now) return { outcome: 'ended', reason: 'too_old' }
    if (worker.owner !== owner) return { outcome: 'foreign', reason: 'other_server' }
    const fate = await fateOf(runOf(worker.name) ?? '')
    if (fate === 'unknown') return { outcome: 'foreign', reason: 'run_unknown' }
    if (fate === 'ended') return { outcome: 'ended', reason: 'run_ended' }
    if (worker.state === 'failed') return { outcome: 'ended', reason: 'failed' }
    if (earlier.has(worker.name)) return { outcome: 'ended', reason: 'duplicate' }
    return { outcome: 'kept', reason: 'run_open' }
  }
}

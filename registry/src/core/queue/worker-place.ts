/** Where a worker runs, and for whom: what tells workers apart, whatever they call themselves. */
export type WorkerPlace = {
  /** ID of its token's account. */
  owner: string
  /** Identifies the machine; null if the worker does not say. */
  machine: string | null
}

/** Owner of the worker that runs inside the server. */
export const installationOwner = '00000000-0000-0000-0000-000000000000'

/*
 * Two workers are independent if they belong to different owners, or run on different known machines. Those of an owner
 * that do not state their machine may all be on one. Marks let the queue lease a job to an independent worker.
 */

export function areIndependent(a: WorkerPlace, b: WorkerPlace): boolean {
  return a.owner !== b.owner || (a.machine !== null && b.machine !== null && a.machine !== b.machine)
}

/** What a worker is known by to the jobs that bar it. */
export function marksOf({ owner, machine }: WorkerPlace): string[] {
  return machine === null ? [`${owner}/`] : [`${owner}/known`, `${owner}/${machine}`]
}

/** The marks of all workers that are not independent of this one. */
export function barredBy({ owner, machine }: WorkerPlace): string[] {
  return machine === null ? [`${owner}/`, `${owner}/known`] : [`${owner}/`, `${owner}/${machine}`]
}

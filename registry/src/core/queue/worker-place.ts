/** Identity of a worker that does not depend on its name: owner and machine. */
export type WorkerPlace = {
  /** ID of its token's account. */
  owner: string
  /** Identifies the machine; null if the worker does not report it. */
  machine: string | null
}

/** Owner of the worker that runs inside the server. */
export const installationOwner = '00000000-0000-0000-0000-000000000000'

/*
 * Two workers are independent if they belong to different owners, or run on different known machines. Workers of an
 * owner that do not report their machine may all run on the same one. With marks, the queue leases a job to an
 * independent worker.
 */

export function areIndependent(a: WorkerPlace, b: WorkerPlace): boolean {
  return a.owner !== b.owner || (a.machine !== null && b.machine !== null && a.machine !== b.machine)
}

/** The marks of a worker that jobs can bar. */
export function marksOf({ owner, machine }: WorkerPlace): string[] {
  return machine === null ? [`${owner}/`] : [`${owner}/known`, `${owner}/${machine}`]
}

/** The marks of all workers that are not independent of this one. */
export function barredBy({ owner, machine }: WorkerPlace): string[] {
  return machine === null ? [`${owner}/`, `${owner}/known`] : [`${owner}/`, `${owner}/${machine}`]
}

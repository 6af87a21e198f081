import type { Readable } from 'node:stream'
import type { JobKind } from '@agentgym/contract'
import type { Services } from '../services.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { leaseLost } from './leases.ts'

export type OpenedObject = { body: Readable; size: number }

/**
 * Opens a stored object that a leased job reads. `findKey` finds its key once the lease is known to hold; undefined if
 * the job no longer reads that object. Throws `lease_lost`.
 */
export async function openLeased(
  { queue, objects }: Pick<Services, 'queue' | 'objects'>,
  { kind, id, lease }: { kind: JobKind; id: string; lease: string },
  findKey: () => Promise<string | undefined>,
): Promise<OpenedObject> {
  await queue.requireActive(queue.attemptOf(kind, id, lease))
  return openFound(objects, await findKey())
}

/** The same, where finding the key includes checking the lease. Throws `lease_lost` if there is none. */
export async function openFound(objects: ObjectStore, key: string | undefined): Promise<OpenedObject> {
  if (key === undefined) throw leaseLost()
  const object = await objects.stream(key)
  if (object === undefined) throw new Error(`${key} is missing from the store`)
  return object
}

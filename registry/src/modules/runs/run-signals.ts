import { EventEmitter } from 'node:events'
import type { Database } from '../../core/database/database.ts'

/**
 * Tells, within this process, that a run has changed: to be called once what changed it is committed. Whoever watches a run
 * from another process asks the database now and then.
 */
export function runChanged({ database }: { database: Database }, runId: string): void {
  emitters.get(database)?.emit(runId)
}

/** Calls `listener` at every change that this process makes to the run, until the function that comes back is called. */
export function onRunChanged({ database }: { database: Database }, runId: string, listener: () => void): () => void {
  let emitter = emitters.get(database)
  if (emitter === undefined) {
    emitter = new EventEmitter().setMaxListeners(0)
    emitters.set(database, emitter)
  }
  emitter.on(runId, listener)
  return () => emitter.off(runId, listener)
}

const emitters = new WeakMap<Database, EventEmitter>()

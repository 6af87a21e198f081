import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Autoreset } from '@agentgym/contract/protocols'
import type { EnvironmentTarget } from '../environment-target.ts'

/** What a server does wrong, at which step of which environment. */
export type Fault = {
  kind:
    | 'nan-reward'
    | 'nan-observation'
    | 'nan-final-observation'
    | 'no-legal-action'
    | 'strange-mask'
    | 'index-out-of-range'
    | 'short-frame'
    | 'garbage'
    | 'text'
    | 'wrong-request'
    | 'hang'
    | 'close'
    | 'die'
    | 'report'
  environment: number
  step: number
}

/** What one connection plays; it is sent as the name of the scenario. */
export type WalkOptions = {
  /** The convention that the server keeps to, whatever a client asks for; by default the client's. */
  autoreset?: Autoreset
  fault?: Fault
  /** Masks of legal actions; by default there are none. */
  masked?: boolean
  /** Choices; another number is another environment. Default: 3. */
  actions?: number
}

export type WalkServer = {
  target(options?: WalkOptions): Extract<EnvironmentTarget, { kind: 'vector' }>
  /** Seeds that clients have named since the last time, in order. */
  seeds(): Promise<number[]>
  close(): Promise<void>
}

/**
 * A server of the vector protocol, on a thread of its own because those who play block theirs: an environment whose
 * observation is [where it began, steps, position] and whose action moves left, stays or moves right. It pays where it is
 * right, terminates at 3 steps to either side and is truncated after WALK_STEPS.
 */
export async function startWalkServer(): Promise<WalkServer> {
  const worker = new Worker(new URL('./walk-server-worker.ts', import.meta.url))
  const [url] = (await once(worker, 'message')) as [string]
  return {
    target: (options = {}) => ({ kind: 'vector', url, scenario: JSON.stringify(options) }),
    seeds: async () => {
      worker.postMessage('seeds')
      const [seeds] = (await once(worker, 'message')) as [number[]]
      return seeds
    },
    close: async () => {
      await worker.terminate()
    },
  }
}

export const WALK_STEPS = 8

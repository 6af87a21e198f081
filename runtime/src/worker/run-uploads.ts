import {
  type CheckpointUpload,
  isRefusedByProxy,
  storeAgentParts,
  storeCheckpointParts,
  uploadAgent,
  uploadCheckpoint,
  uploadPart,
} from '@agentgym/client'
import { AgentGymError, partBytes } from '@agentgym/contract'
import type { HeldLease } from './held-lease.ts'

const uploadLimitMs = 10 * 60_000
/** Proxies that refuse less than this also refuse what a run reports of its iterations. */
const smallestPartBytes = 64 * 1024

/**
 * Uploads what a run leaves on the server. What a proxy refuses as too large, or what breaks off, goes again in parts, smaller
 * ones each time that a proxy refuses one. What was found to pass is kept for the next upload of the run.
 */
export class RunUploads {
  readonly #lease: HeldLease
  #partBytes = Number.POSITIVE_INFINITY

  constructor(lease: HeldLease) {
    this.#lease = lease
  }

  /** Stores a checkpoint and keeps the lease. */
  async checkpoint(checkpoint: CheckpointUpload): Promise<void> {
    const lease = this.#lease
    await this.#upload(
      checkpoint.bytes,
      (whole) =>
        lease.renew(
          whole((signal) => uploadCheckpoint(lease.client, lease.job, checkpoint, signal)),
          {
            limitMs: uploadLimitMs,
          },
        ),
      (parts) =>
        lease.renew((signal) => storeCheckpointParts(lease.client, lease.job, checkpoint, parts, signal), {
          limitMs: uploadLimitMs,
        }),
    )
  }

  /** Stores the agent's tarball, and gives its integrity. */
  agent(tarball: Uint8Array): Promise<string> {
    const lease = this.#lease
    return this.#upload(
      tarball,
      (whole) =>
        lease.request(
          whole((signal) => uploadAgent(lease.client, lease.job, tarball, signal)),
          {
            limitMs: uploadLimitMs,
          },
        ),
      (parts) =>
        lease.request((signal) => storeAgentParts(lease.client, lease.job, parts, signal), { limitMs: uploadLimitMs }),
    )
  }

  async #upload<Result>(
    bytes: Uint8Array,
    sendWhole: (once: typeof givingUp) => Promise<Result>,
    sendParts: (parts: string[]) => Promise<Result>,
  ): Promise<Result> {
    if (bytes.length <= this.#partBytes)
      try {
        return await sendWhole(bytes.length > smallestPartBytes ? givingUp : (send) => send)
      } catch (error) {
        const refused = isRefusedByProxy(error)
        if (!(refused || error instanceof BrokenOff) || bytes.length <= smallestPartBytes) throw error
        if (refused) this.#partBytes = Math.max(smallestPartBytes, Math.min(partBytes, Math.ceil(bytes.length / 2)))
      }
    return sendParts(await this.#sendParts(bytes))
  }

  async #sendParts(bytes: Uint8Array): Promise<string[]> {
    const { client, job } = this.#lease
    const parts: string[] = []
    for (let offset = 0; offset < bytes.length; ) {
      const part = bytes.subarray(offset, offset + Math.min(this.#partBytes, partBytes))
      try {
        parts.push(
          await this.#lease.request((signal) => uploadPart(client, job, part, signal), { limitMs: uploadLimitMs }),
        )
        offset += part.length
      } catch (error) {
        if (!isRefusedByProxy(error) || part.length <= smallestPartBytes) throw error
        this.#partBytes = Math.max(smallestPartBytes, Math.floor(part.length / 2))
      }
    }
    return parts
  }
}

/** The connection ended amid a large upload: some proxies refuse one that way. Not sent again as a whole. */
class BrokenOff extends Error {}

function givingUp<Result>(send: (signal: AbortSignal) => Promise<Result>): (signal: AbortSignal) => Promise<Result> {
  return async (signal) => {
    try {
      return await send(signal)
    } catch (error) {
      if (error instanceof AgentGymError && error.code === 'server_unreachable')
        throw new BrokenOff(error.message, { cause: error })
      throw error
    }
  }
}

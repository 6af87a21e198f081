import { randomUUID } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'

export type SessionLimits = {
  /** Environments of all clients together. */
  most: number
  /** A session that nobody has used for so long is ended. */
  idleMs: number
}

/** A client's share of the server, from its first request until it is given back. */
export type Lease = {
  readonly id: string
  /** Notes that the client is still there. */
  touch(): void
  /** Gives the share back; again: nothing. */
  release(): void
}

type Held = { size: number; usedMs: number; end: (why: AgentGymError) => void }

/**
 * Counts what clients of all protocols hold, refuses what goes beyond, and ends what is idle. A share is one environment, or as many as a
 * client steps at once.
 */
export class Sessions {
  readonly limits: SessionLimits
  readonly #held = new Map<string, Held>()
  readonly #timer: NodeJS.Timeout
  #active = 0
  /** Sessions opened, refused and ended for being idle, since the start. */
  readonly counts = { opened: 0, refused: 0, reaped: 0 }

  constructor(limits: SessionLimits) {
    this.limits = limits
    this.#timer = setInterval(() => this.reap(Date.now()), Math.max(50, Math.min(limits.idleMs / 4, 15_000)))
    this.#timer.unref()
  }

  /** Environments in use. */
  get active(): number {
    return this.#active
  }

  /**
   * Takes `size` environments. `end` is called once if the share is taken back, because it was idle or the server stops; it must
   * release what stands behind it. Throws `capacity_reached`.
   */
  lease(size: number, end: (why: AgentGymError) => void): Lease {
    if (this.#active + size > this.limits.most) {
      this.counts.refused += 1
      throw this.#full(size)
    }
    const id = randomUUID()
    const held = { size, usedMs: Date.now(), end }
    this.#held.set(id, held)
    this.#active += size
    this.counts.opened += 1
    return {
      id,
      touch: () => {
        held.usedMs = Date.now()
      },
      release: () => this.#release(id),
    }
  }

  /** Ends what has been idle at `nowMs` for too long. */
  reap(nowMs: number): void {
    const { idleMs } = this.limits
    for (const [id, { usedMs, end }] of this.#held) {
      if (nowMs - usedMs <= idleMs) continue
      this.#release(id)
      this.counts.reaped += 1
      end(idleFor(idleMs))
    }
  }

  /** Ends all sessions. */
  close(): void {
    clearInterval(this.#timer)
    for (const [id, { end }] of this.#held) {
      this.#release(id)
      end(new AgentGymError({ code: 'session_not_found', message: 'The server is stopping.' }))
    }
  }

  #release(id: string): void {
    this.#active -= this.#held.get(id)?.size ?? 0
    this.#held.delete(id)
  }

  #full(size: number): AgentGymError {
    const { most } = this.limits
    return new AgentGymError({
      code: 'capacity_reached',
      message: `The server has ${most} environments and ${this.#active} are in use; ${size} more were requested.`,
      hint: 'Close sessions that are done, retry later, or start the server with a larger --max-sessions.',
      data: { active_sessions: this.#active, max_sessions: most, requested: size },
    })
  }
}

function idleFor(idleMs: number): AgentGymError {
  return new AgentGymError({
    code: 'session_not_found',
    message: `The session was ended: it was not used for ${idleMs / 1_000} s.`,
    hint: 'Open a new one. The server keeps idle sessions longer with --session-timeout.',
    data: { idle_ms: idleMs },
  })
}

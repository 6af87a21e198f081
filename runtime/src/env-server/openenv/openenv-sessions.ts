import { AgentGymError } from '@agentgym/contract'
import { EpisodeSession } from '../episode-session.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'

/** The sessions of one environment that clients of OpenEnv hold, by their ids. One socket may be attached to each. */
export class OpenEnvSessions {
  readonly environment: ServedEnvironment
  readonly #sessions: Sessions
  readonly #open = new Map<string, EpisodeSession>()
  readonly #attached = new Set<string>()
  /** Closed by a request while a socket was attached: ended when it leaves. */
  readonly #closing = new Set<string>()

  constructor(environment: ServedEnvironment, sessions: Sessions) {
    this.environment = environment
    this.#sessions = sessions
  }

  /** Opens a session. Rejects with `capacity_reached`, or a fault of the scenario. */
  async create(): Promise<EpisodeSession> {
    const session = await EpisodeSession.open(this.#sessions, this.environment)
    this.#open.set(session.id, session)
    session.onEnd(() => {
      this.#open.delete(session.id)
      this.#attached.delete(session.id)
      this.#closing.delete(session.id)
    })
    return session
  }

  /** Throws `session_not_found`. */
  get(id: string): EpisodeSession {
    const session = this.#open.get(id)
    if (session !== undefined) return session
    throw new AgentGymError({
      code: 'session_not_found',
      message: `Unknown session_id: ${id.slice(0, 80)}`,
      hint: 'Sessions end when they are closed, or idle for too long.',
    })
  }

  /** The session that plays the episode with this name. */
  ofEpisode(episodeId: string): EpisodeSession | undefined {
    return [...this.#open.values()].find(({ state }) => state.episodeId === episodeId)
  }

  find(id: string | undefined): EpisodeSession | undefined {
    return id === undefined ? undefined : this.#open.get(id)
  }

  /** Throws `session_not_found` for an unknown session, and for one that has a socket. */
  attach(id: string): EpisodeSession {
    const session = this.get(id)
    if (this.#attached.has(id)) {
      throw new AgentGymError({
        code: 'session_not_found',
        message: `Session ${id.slice(0, 80)} already has an attached WebSocket`,
      })
    }
    this.#attached.add(id)
    return session
  }

  /** The socket has left. */
  async detach(id: string): Promise<void> {
    this.#attached.delete(id)
    if (this.#closing.has(id)) await this.#open.get(id)?.end()
  }

  /** Ends a session, or has its socket end it. Throws `session_not_found`. */
  async close(id: string): Promise<{ session_id: string; closed: boolean; closing?: true }> {
    const session = this.get(id)
    if (this.#attached.has(id)) {
      this.#closing.add(id)
      return { session_id: id, closed: false, closing: true }
    }
    await session.end()
    return { session_id: id, closed: true }
  }
}

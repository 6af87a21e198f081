import { AgentGymError } from '@agentgym/contract'
import { EpisodeSession, type Turn } from '../episode-session.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'
import { type SplitName, tasksIn } from '../task-splits.ts'
import { turnText } from '../turn-text.ts'
import { restoreWords } from './plain-words.ts'

/** What a client sees of its episode. */
export type Seen = { text: string; total: number; reward: number; done: boolean }

/** Clients make an environment for each item of a data set and never close those; only what plays costs anything. */
const MOST_CLIENTS = 100_000

/**
 * Environments of clients that number them: created for nothing, played from the first reset on. The oldest are forgotten where
 * there are too many.
 */
export class ClientEpisodes {
  readonly #environment: ServedEnvironment
  readonly #sessions: Sessions
  readonly #split: SplitName
  readonly #created = new Set<number>()
  readonly #playing = new Map<number, { session: EpisodeSession; turn: Turn; seen: Seen }>()
  #next = 0

  constructor(environment: ServedEnvironment, sessions: Sessions, split: SplitName) {
    this.#environment = environment
    this.#sessions = sessions
    this.#split = split
  }

  create(): number {
    const id = this.#next++
    this.#created.add(id)
    if (this.#created.size > MOST_CLIENTS) {
      for (const old of this.#created) {
        if (this.#playing.has(old)) continue
        this.#created.delete(old)
        break
      }
    }
    return id
  }

  /** Task `index`, taken modulo the tasks of the split: clients bring the length of their own data set. */
  async reset(id: number, index: number): Promise<Seen> {
    this.#known(id)
    const session = this.#playing.get(id)?.session ?? (await this.#open(id))
    const { description, form } = this.#environment
    const turn = await session.reset({ split: this.#split, index: index % tasksIn(description, this.#split) })
    const seen = { text: `${form.task}\n${turnText(turn)}`, total: 0, reward: 0, done: false }
    this.#playing.set(id, { session, turn, seen })
    return seen
  }

  /**
   * What is no legal action plays nothing and says so; after the end nothing changes. A fault of the scenario rejects: it is no
   * score.
   */
  async step(id: number, action: string): Promise<Seen> {
    const playing = this.#of(id)
    const { session } = playing
    if (playing.seen.done) return playing.seen
    try {
      playing.turn = await session.step({ reply: restoreWords(action, this.#environment.form, playing.turn) })
      const { reward, done } = playing.turn
      playing.seen = { text: turnText(playing.turn), total: session.state.return, reward: reward ?? 0, done }
    } catch (error) {
      if (!(error instanceof AgentGymError) || error.code !== 'action_invalid') throw error
      const text = `${[error.message, error.hint].filter(Boolean).join(' ')}\n${turnText(playing.turn)}`
      playing.seen = { ...playing.seen, text, reward: 0 }
    }
    return playing.seen
  }

  observe(id: number): Seen {
    return this.#of(id).seen
  }

  async close(id: number): Promise<void> {
    this.#created.delete(id)
    await this.#playing.get(id)?.session.end()
  }

  async #open(id: number): Promise<EpisodeSession> {
    const session = await EpisodeSession.open(this.#sessions, this.#environment)
    session.onEnd(() => this.#playing.delete(id))
    return session
  }

  #known(id: number): void {
    if (!this.#created.has(id)) throw unknown(id)
  }

  #of(id: number) {
    this.#known(id)
    const playing = this.#playing.get(id)
    if (playing !== undefined) return playing
    throw new AgentGymError({
      code: 'session_not_found',
      message: `Environment ${id} has no episode: it was not reset, or was idle for too long.`,
      hint: 'Reset it.',
    })
  }
}

function unknown(id: number): AgentGymError {
  return new AgentGymError({
    code: 'session_not_found',
    message: `There is no environment ${id}.`,
    hint: 'Create one first.',
  })
}

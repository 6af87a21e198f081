import { randomInt } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import {
  type EpisodeAnswer,
  type EpisodeAsk,
  episodeAnswerSchema,
  type ScriptedAnswer,
  scriptedAnswerSchema,
} from './episode-seat.ts'
import { anyAction, type Random } from './language/any-action.ts'
import type { Seen } from './language/read-action.ts'
import { readSample, type Sample } from './language/read-sample.ts'
import type { HostedSeat } from './scenario-host.ts'
import type { ServedEnvironment } from './served-environment.ts'
import type { Lease, Sessions } from './sessions.ts'
import { episodeStart, type SplitName } from './task-splits.ts'

/** Which episode to play. Without a task, that of the seed; without a seed, any. */
export type ResetOptions = {
  seed?: number
  /** With `index`: a task of that split. */
  split?: SplitName
  index?: number
  /** Number of the held-out episode that an evaluation with this seed plays, instead of a task. */
  heldOut?: number
  /** What the client calls the episode. */
  episodeId?: string
}

/** What a client sees after a reset or a step. */
export type Turn = {
  observation: Sample
  text: string
  /** What may be done now, in words; null where actions are made of numbers, and after the end. */
  legalActions: string[] | null
  /** Null after a reset. */
  reward: number | null
  done: boolean
  /** Whether the time limit ended it, and not the scenario. */
  truncated: boolean
  /** At the end. */
  metrics: Record<string, number>
}

export type EpisodeState = {
  episodeId: string | null
  steps: number
  seed: number | null
  split: SplitName | null
  index: number | null
  return: number
  done: boolean
}

/** A step: an action as JSON, a tool's call, or the text of a language model. */
export type StepInput = { action: unknown } | { tool: string; arguments: Record<string, unknown> } | { reply: string }

const NO_EPISODE: EpisodeState = {
  episodeId: null,
  steps: 0,
  seed: null,
  split: null,
  index: null,
  return: 0,
  done: false,
}

/**
 * One client's environment: episodes of a scenario, one after another. Whatever the protocol, it is opened, reset, stepped and ended
 * here. A fault of the scenario rejects the calls of that episode: it is never a reward.
 */
export class EpisodeSession {
  readonly environment: ServedEnvironment
  readonly #lease: Lease
  #seat: HostedSeat
  #state: EpisodeState = NO_EPISODE
  #seen: Seen | null = null
  #turn: Turn | null = null
  /** Of the scenario: this episode has no result. The next reset begins in a new isolate. */
  #fault: unknown = null
  /** Why the session has ended. */
  #over: AgentGymError | null = null
  /** Calls run one after another, in the order in which they came. */
  #last: Promise<unknown> = Promise.resolve()
  readonly #onEnd = new Set<(why: AgentGymError | null) => void>()

  private constructor(environment: ServedEnvironment, lease: Lease, seat: HostedSeat) {
    this.environment = environment
    this.#lease = lease
    this.#seat = seat
  }

  /** Takes a share of the server and an isolate. Rejects with `capacity_reached`, or a fault of the scenario. */
  static async open(sessions: Sessions, environment: ServedEnvironment): Promise<EpisodeSession> {
    let session: EpisodeSession | undefined
    let early: AgentGymError | undefined
    const lease = sessions.lease(1, (why) => {
      early = why
      void session?.end(why)
    })
    try {
      session = new EpisodeSession(environment, lease, await environment.host.open('episode'))
    } catch (error) {
      lease.release()
      throw error
    }
    if (early !== undefined) {
      await session.end(early)
      throw early
    }
    return session
  }

  get id(): string {
    return this.#lease.id
  }

  get state(): EpisodeState {
    return this.#state
  }

  /** Notes that the client is there. */
  touch(): void {
    this.#lease.touch()
  }

  /** Called once, when the session ends: with the reason where the server ended it. */
  onEnd(listener: (why: AgentGymError | null) => void): void {
    this.#onEnd.add(listener)
  }

  /** Begins an episode, whatever was played before. Rejects with `request_invalid` for a task that does not exist. */
  reset(options: ResetOptions = {}): Promise<Turn> {
    return this.#next(async () => {
      const seed = options.seed ?? (options.index === undefined ? randomInt(2 ** 47) : 0)
      const { split, index, heldOut } = options
      const start =
        heldOut === undefined
          ? episodeStart(this.environment.description, { seed, split, index })
          : { seed, split: 'eval' as const, episode: heldOut, numbered: false }
      if (this.#fault !== null) await this.#reopen()
      const answer = await this.#ask({ do: 'begin', start })
      this.#state = {
        ...NO_EPISODE,
        episodeId: options.episodeId ?? this.id,
        ...{ seed, split: split ?? null, index: index ?? null },
      }
      return this.#take(answer, null)
    })
  }

  /** Plays one step. Rejects with `action_invalid`, which changes nothing, and `request_invalid` where no episode is running. */
  step(input: StepInput): Promise<Turn> {
    return this.#next(async () => {
      if (this.#fault !== null) throw this.#fault
      const seen = this.#seen
      if (seen === null) throw notRunning(this.#state)
      const { form } = this.environment
      const action =
        'action' in input
          ? form.row(input.action, seen)
          : 'tool' in input
            ? form.callRow(input.tool, input.arguments, seen)
            : form.replyRow(input.reply, seen)
      return this.#play({ do: 'step', action })
    })
  }

  /** Any legal action of the episode that is running, as JSON. */
  anyAction(random: Random): unknown {
    if (this.#seen === null) throw notRunning(this.#state)
    return anyAction(this.environment.description.action, this.#seen, random)
  }

  /**
   * The row of the action that a player of the scenario's own would choose now, and its time. Rejects with `request_invalid` where no
   * episode is running.
   */
  scripted(player: 'oracle' | 'rules'): Promise<ScriptedAnswer> {
    return this.#next(() => this.#askScripted(player))
  }

  /** Plays the step of the scenario's own player. For scenarios that have an oracle. */
  stepOracle(): Promise<Turn> {
    return this.#next(async () => this.#play({ do: 'step', action: (await this.#askScripted('oracle')).action }))
  }

  /** Legal choices, one list a categorical component; null where every action is legal, or no episode is running. */
  get legal(): boolean[][] | null {
    return this.#seen?.legal ?? null
  }

  /** What the client saw last of an episode that is running. */
  get turn(): Turn | null {
    return this.#turn
  }

  /** Gives everything back. Again: nothing. `why` where the server ends it. */
  async end(why: AgentGymError | null = null): Promise<void> {
    if (this.#over !== null) return
    this.#over = why ?? new AgentGymError({ code: 'session_not_found', message: 'The session has ended.' })
    this.#lease.release()
    for (const listener of this.#onEnd) listener(why)
    await this.#seat.close()
  }

  #next<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#lease.touch()
    const result = this.#last.then(async () => {
      if (this.#over !== null) throw this.#over
      return call()
    })
    this.#last = result.catch(() => {})
    return result
  }

  async #askScripted(player: 'oracle' | 'rules'): Promise<ScriptedAnswer> {
    if (this.#fault !== null) throw this.#fault
    if (this.#seen === null) throw notRunning(this.#state)
    const answer = await this.#asking(() => this.#seat.ask({ do: player }))
    return readAs(this.environment, () => scriptedAnswerSchema.parse(answer))
  }

  async #play(ask: EpisodeAsk): Promise<Turn> {
    const answer = await this.#ask(ask)
    const { steps, return: sum } = this.#state
    const reward = shortest(answer.reward)
    this.#state = { ...this.#state, steps: steps + 1, return: sum + reward, done: answer.end !== null }
    return this.#take(answer, reward)
  }

  async #reopen(): Promise<void> {
    await this.#seat.close()
    this.#seat = await this.environment.host.open('episode')
    this.#fault = null
    if (this.#over !== null) await this.#seat.close()
  }

  /** Asks the isolate. A fault loses the episode: it has no result, and the next reset begins in a new isolate. */
  #ask(ask: EpisodeAsk): Promise<Answer> {
    return this.#asking(async () => readAnswer(this.environment, await this.#seat.ask(ask)))
  }

  async #asking<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      this.#fault = error
      this.#seen = null
      this.#turn = null
      throw error
    } finally {
      this.#lease.touch()
    }
  }

  #take({ observation, legal, end, metrics }: Answer, reward: number | null): Turn {
    const { form } = this.environment
    const done = end !== null
    const seen = { observation, legal }
    const turn: Turn = {
      observation,
      text: form.text(observation),
      legalActions: done ? null : form.legalActions(seen),
      ...{ reward, done, truncated: end === 'truncated', metrics },
    }
    this.#seen = done ? null : seen
    this.#turn = done ? null : turn
    return turn
  }
}

type Answer = Omit<EpisodeAnswer, 'observation'> & { observation: Sample }

/** Throws `scenario_crashed` for what our code does not send. */
function readAnswer(environment: ServedEnvironment, received: unknown): Answer {
  return readAs(environment, () => {
    const answer = episodeAnswerSchema.parse(received)
    return { ...answer, observation: readSample(environment.description.observation, answer.observation) }
  })
}

/** What the process sends is data from a stranger. */
function readAs<Result>({ package: { name, version } }: ServedEnvironment, read: () => Result): Result {
  try {
    return read()
  } catch (cause) {
    const message = `${name}@${version} sent an answer that cannot be read.`
    const hint = 'Treat the scenario as hostile: it may have taken over its process.'
    throw new AgentGymError({ code: 'scenario_crashed', message, hint }, { cause })
  }
}

function notRunning({ done }: EpisodeState): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: done ? 'The episode has ended.' : 'No episode has begun.',
    hint: 'Reset the environment first.',
    data: { field: 'action' },
  })
}

/** The shortest decimal that is the same number in float32: 0.1 for 0.10000000149011612. */
function shortest(number: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(number.toPrecision(digits))
    if (Math.fround(rounded) === number) return rounded
  }
  return number
}

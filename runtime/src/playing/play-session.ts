import { readAgentWithModel } from '@agentgym/agent/engine'
import { AgentGymError, type RecordedEpisode, type TaskOrder } from '@agentgym/contract'
import { type BuiltScenario, identityOf } from '../sandbox/build-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import {
  type Player,
  type PlayJob,
  type PlayReply,
  type PlayRequest,
  playReplySchema,
  type SeenReply,
} from './play-messages.ts'

export type PlayOptions = {
  scenario: BuiltScenario
  /** Folder of an agent package, chance, or whoever calls `step` with actions. */
  player: { agent: string } | 'random' | 'person'
  /** An integer below 2^53; 0 if absent. With it, the number of an episode decides everything that is not the player's. */
  seed?: number
  taskOrder?: TaskOrder
  /** Reads what pictures need. Default: true. */
  look?: boolean
  limits?: Partial<JobLimits>
}

export type PlayOpened = Extract<PlayReply, { kind: 'opened' }>

/** What a step did. */
export type PlayedStep = NonNullable<SeenReply['step']>

/** One scenario, played a step at a time in a supervised process. Faults of the scenario reject every call. */
export class PlaySession {
  readonly opened: PlayOpened
  readonly #channel: Channel
  readonly #policy: RecordedEpisode['policy']
  readonly #view: RecordedEpisode['view']
  /** The episode so far; drawn from while it grows. A new object an episode. */
  episode: RecordedEpisode
  /** Legal choices of the next action, one list a categorical component; null where every action is legal. */
  legal: boolean[][] | null = null
  /** What the player would do next, if it has probabilities. */
  likely: SeenReply['likely']
  /** What the scenario logged with the last call. */
  logs: string[] = []
  /** Number of the episode. */
  number = 0

  /** Made by `openPlay`. */
  constructor(channel: Channel, opened: PlayOpened, { policy, view }: Pick<RecordedEpisode, 'policy' | 'view'>) {
    this.#channel = channel
    this.opened = opened
    this.#policy = policy
    this.#view = view
    this.episode = this.#blank()
  }

  /** Begins a held-out episode by its number, whatever was played before. */
  async begin(episode: number): Promise<void> {
    const reply = await this.#channel.ask({ do: 'begin', episode })
    this.number = episode
    this.episode = this.#blank()
    this.#take(reply)
  }

  /** Plays one step: the player's own, or the given row of an action. After the end of an episode comes `begin`. */
  async step(action: number[] | null = null): Promise<PlayedStep> {
    const reply = await this.#channel.ask({ do: 'step', action })
    if (reply.step === null) throw new Error('the job sent no step')
    const { action: played, reward, likely } = reply.step
    this.episode.steps.push({
      ...this.episode.last,
      ...{ action: played, reward },
      ...(likely === undefined ? {} : { likely }),
    })
    if (reply.step.end !== null) this.episode.end = reply.step.end
    this.#take(reply)
    return reply.step
  }

  async close(): Promise<void> {
    await this.#channel.close()
  }

  #blank(): RecordedEpisode {
    const { observation, action } = this.opened
    const last = { observation: [], texts: [] }
    return { format: 1, policy: this.#policy, view: this.#view, observation, action, steps: [], last, end: 'cut' }
  }

  #take({ seen, scene, legal, likely, logs }: SeenReply): void {
    this.episode.last = seen
    if (scene !== undefined) {
      this.episode.scene ??= { ...scene, shapes: [] }
      this.episode.scene.shapes.push(...scene.shapes)
    }
    this.legal = legal
    this.likely = likely
    this.logs = logs
  }
}

/** Requests and replies, one at a time. */
class Channel {
  readonly #abort = new AbortController()
  readonly #ended: Promise<unknown>
  #send: (message: unknown) => void = () => {}
  #waiting: PromiseWithResolvers<PlayReply> = Promise.withResolvers()
  readonly opened: Promise<PlayReply>

  constructor(job: PlayJob, scenario: BuiltScenario, limits: Partial<JobLimits> | undefined) {
    this.opened = this.#waiting.promise
    this.opened.catch(() => {})
    this.#ended = superviseJob({
      entry: new URL('./play.process.ts', import.meta.url),
      job,
      identity: identityOf(scenario),
      limits,
      signal: this.#abort.signal,
      environment: threadEnvironment(),
      onStart: (send) => {
        this.#send = send
      },
      onMessage: (message) => this.#waiting.resolve(playReplySchema.parse(message)),
    }).catch((error: unknown) => {
      const located = locateFault(error, scenario.sourceMap)
      this.#failure = located
      this.#waiting.reject(located)
    })
  }

  #failure: unknown = null

  async ask(request: PlayRequest): Promise<SeenReply> {
    if (this.#failure !== null) throw this.#failure
    this.#waiting = Promise.withResolvers()
    this.#send(request)
    const reply = await this.#waiting.promise
    if (reply.kind !== 'seen') throw new Error('the job sent another reply')
    return reply
  }

  async close(): Promise<void> {
    this.#waiting.promise.catch(() => {})
    this.#abort.abort()
    await this.#ended
  }
}

/** Opens a scenario to be played. Rejects with an AgentGymError where it or the agent cannot be. Close it afterwards. */
export async function openPlay(options: PlayOptions): Promise<PlaySession> {
  const { scenario, player, seed = 0, taskOrder = 'drawn', look = true } = options
  const view = scenario.package.agentgym.view ?? null
  const played = await playerOf(player, scenario)
  const job = { scenario: await scenarioCode(scenario), player: played, seed, taskOrder, view, look }
  const channel = new Channel(job, scenario, options.limits)
  try {
    const opened = await channel.opened
    if (opened.kind !== 'opened') throw new Error('the job did not open')
    return new PlaySession(channel, opened, { policy: played.kind, view })
  } catch (error) {
    await channel.close()
    throw error
  }
}

async function playerOf(player: PlayOptions['player'], scenario: BuiltScenario): Promise<Player> {
  if (typeof player === 'string') return { kind: player }
  const { manifest, model } = await readAgentWithModel(player.agent)
  const { name, version, hash } = manifest.scenario
  if (hash !== scenario.hash)
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `the agent was trained on ${name}@${version} (bundle ${hash.slice(0, 12)}), not on bundle ${scenario.hash.slice(0, 12)}`,
      hint: 'Play it on the build that it was trained on, or train it anew on this one.',
      data: { scenario: name, version, hash, given: scenario.hash },
    })
  return { kind: 'agent', policy: manifest.policy, model }
}

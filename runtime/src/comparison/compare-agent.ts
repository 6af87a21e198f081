import { cpus } from 'node:os'
import type { Agent } from '@agentgym/agent'
import { actionDescriber } from '@agentgym/agent/engine'
import { AgentGymError, type Comparison, type SuccessCriteria } from '@agentgym/contract'
import { createRng } from '@agentgym/scenario'
import { maskOf } from '../env-server/demonstrations/play-demonstration.ts'
import { EpisodeSession, type Turn } from '../env-server/episode-session.ts'
import { openEnvironment, type ServedEnvironment } from '../env-server/served-environment.ts'
import { Sessions } from '../env-server/sessions.ts'
import { judgeSuccess, mean, metricMeans } from '../evaluation/summarize.ts'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import { chooseAction } from './choose-action.ts'
import { meanInterval, median, shareInterval } from './intervals.ts'
import type { LanguageModel } from './language-model.ts'

/** A language model takes minutes for them. */
export const comparisonLimits = { episodes: 50, minutes: 10 }

type CompareOptions = {
  agent: Agent
  scenario: BuiltScenario
  model: LanguageModel
  /** Of the evaluation whose first episodes are played. */
  seed: number
  episodes: number
  /** What a core costs for an hour, in US dollars. */
  corePrice: number
  minutes?: number
  signal?: AbortSignal
  onProgress?(done: number, total: number): void
}

/**
 * Plays the first held-out episodes of an evaluation with an agent, at random, by the scenario's rules and with a language model, and
 * measures what a decision takes. The language model's time limits the episodes: one that it has not finished is left out. Rejects
 * with `language_model_timeout` where it finished none, and with the scenario's fault.
 */
export async function compareAgent(options: CompareOptions): Promise<Comparison> {
  const { agent, scenario, model, seed, corePrice, minutes = comparisonLimits.minutes } = options
  const environment = await openEnvironment(scenario)
  const sessions = new Sessions({ most: 1, idleMs: 3_600_000 })
  try {
    const session = await EpisodeSession.open(sessions, environment)
    const languagePlayer = new LanguagePlayer(environment, model)
    const planned = Math.min(options.episodes, comparisonLimits.episodes)
    const until = performance.now() + minutes * 60_000
    const play = (player: Player, episodes: number, more: Partial<PlayPlan> = {}) =>
      playEpisodes(session, { player, seed, episodes, signal: options.signal, ...more })
    const byModel = await play(languagePlayer, planned, { until, onProgress: options.onProgress })
    const episodes = byModel.length
    if (episodes === 0) throw tooSlow(model, minutes)
    const random = createRng(seed)
    const players: [PlayerName, PlayedEpisode[] | null][] = [
      ['agent', await play(agentPlayer(agent, environment), episodes)],
      ['random', await play(randomPlayer(random), episodes)],
      ['rules', environment.description.rules === true ? await rulesOrNone(play, environment, episodes) : null],
      ['language_model', byModel],
    ]
    const criteria = agent.manifest.scenario.success
    return {
      ...{ episodes, seed, core_price: corePrice },
      processor: cpus()[0]?.model.trim().slice(0, 120) || process.arch,
      language_model: {
        ...{ name: model.name, sha256: model.sha256, engine: model.engine },
        tokens_per_decision: rounded(languagePlayer.tokens / sum(byModel.map(({ ms }) => ms.length))),
      },
      players: players.flatMap(([player, played]) => (played === null ? [] : [summarized(player, played, criteria)])),
    }
  } finally {
    sessions.close()
    await environment.host.close()
  }
}

type PlayerName = Comparison['players'][number]['player']

/** What is chosen, as JSON, and how long the choice took. */
type Chosen = { action: unknown; ms: number }

/** Of one episode: it may remember. */
type Chooser = (session: EpisodeSession, turn: Turn) => Promise<Chosen>
type Player = { begin(): Chooser }

type PlayedEpisode = { return: number; metrics: Record<string, number>; ms: number[] }

type PlayPlan = {
  player: Player
  seed: number
  episodes: number
  signal?: AbortSignal
  /** By `performance.now()`: an episode that has not ended by then is left out, and those after it. */
  until?: number
  onProgress?(done: number, total: number): void
}

async function playEpisodes(session: EpisodeSession, plan: PlayPlan): Promise<PlayedEpisode[]> {
  const { player, seed, episodes, signal, until = Number.POSITIVE_INFINITY, onProgress } = plan
  const played: PlayedEpisode[] = []
  for (let heldOut = 0; heldOut < episodes; heldOut++) {
    const choose = player.begin()
    const ms: number[] = []
    let turn = await session.reset({ seed, heldOut })
    while (!turn.done) {
      signal?.throwIfAborted()
      if (performance.now() > until) return played
      const chosen = await choose(session, turn)
      ms.push(chosen.ms)
      turn = await session.step({ action: chosen.action })
    }
    played.push({ return: session.state.return, metrics: turn.metrics, ms })
    onProgress?.(played.length, episodes)
  }
  return played
}

/** Without training: it reads what the agent sees, in words, and picks among what is legal. It remembers nothing. */
class LanguagePlayer implements Player {
  readonly #environment: ServedEnvironment
  readonly #model: LanguageModel
  /** Read for all decisions. */
  tokens = 0

  constructor(environment: ServedEnvironment, model: LanguageModel) {
    this.#environment = environment
    this.#model = model
  }

  begin(): Chooser {
    const { description, form } = this.#environment
    return async (session, { observation, text }) => {
      let ms = 0
      const seen = { observation, legal: session.legal }
      const action = await chooseAction(description.action, seen, async (question, words) => {
        const chosen = await this.#model.choose(`${form.task}\n\n${text}`, question, words)
        ms += chosen.ms
        this.tokens += chosen.tokens
        return chosen.choice
      })
      return { action, ms }
    }
  }
}

/** Its likeliest actions, as in its evaluation. */
function agentPlayer(agent: Agent, { description }: ServedEnvironment): Player {
  return {
    begin: () => {
      let state: string | null = null
      return async (session, { observation }) => {
        const mask = maskOf(description.action, session.legal)
        const before = performance.now()
        const decision = agent.act(observation, { mask, state })
        const ms = performance.now() - before
        state = decision.state
        return { action: decision.action, ms }
      }
    },
  }
}

function randomPlayer(random: () => number): Player {
  return {
    begin: () => async (session) => {
      const before = performance.now()
      const action = session.anyAction(random)
      return { action, ms: performance.now() - before }
    },
  }
}

/** Rules that fail are left out: they are the author's fault, not the agent's. */
async function rulesOrNone(
  play: (player: Player, episodes: number) => Promise<PlayedEpisode[]>,
  { description }: ServedEnvironment,
  episodes: number,
): Promise<PlayedEpisode[] | null> {
  const describe = actionDescriber(description.action)
  const player: Player = {
    begin:
      () =>
      async (session, { observation }) => {
        const { action, ms } = await session.scripted('rules')
        return { action: describe(Float32Array.from(action), observation).action, ms }
      },
  }
  try {
    return await play(player, episodes)
  } catch (error) {
    if (error instanceof AgentGymError) return null
    throw error
  }
}

function summarized(
  player: PlayerName,
  episodes: PlayedEpisode[],
  criteria: SuccessCriteria,
): Comparison['players'][number] {
  const returns = episodes.map((episode) => episode.return)
  const metrics = metricMeans(episodes.map((episode) => episode.metrics))
  const return_mean = mean(returns) ?? 0
  const times = episodes.flatMap(({ ms }) => ms)
  const solved = Object.hasOwn(metrics, 'solved') ? metrics.solved : null
  return {
    ...{ player, decisions: times.length, decision_ms: rounded(median(times)) },
    ...{ return_mean, return_interval: meanInterval(returns) },
    ...(solved === null ? {} : { solved: { share: solved, interval: shareInterval(solved, episodes.length) } }),
    success: judgeSuccess(criteria, return_mean, metrics).ok,
  }
}

/** To three digits: what is measured has no more. */
function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function tooSlow({ name }: LanguageModel, minutes: number): AgentGymError {
  return new AgentGymError({
    code: 'language_model_timeout',
    message: `The language model ${name} finished no episode within ${minutes} minutes.`,
    hint: 'Episodes of this scenario have too many decisions for it: leave --baseline out.',
  })
}

import { defineScenario, type EpisodeContext, type ScenarioDefinition, type StepResult } from './define-scenario.ts'
import { max, nullObject, objectKeys } from './engine/primordials.ts'
import {
  actionSpaceOf,
  fail,
  type PlayedTool,
  readCost,
  readNumber,
  readTools,
  requireNumber,
  requireResult,
} from './read-tools.ts'
import type { ActionSpace, ActionSpaceRecord, Space } from './spaces.ts'
import { allLegal, toolMask } from './tool-mask.ts'
import type { Tool, ToolEpisode, ToolRewards, ToolScenarioDefinition } from './tool-scenario-types.ts'

const NO_ARGUMENTS = Object.freeze({})

type AnyDefinition<State> = ToolScenarioDefinition<Space, string, State>

function readRewards(rewards: ToolRewards | undefined): Required<ToolRewards> {
  return {
    right: readNumber(rewards?.right, 0, 'rewards.right'),
    wrong: readNumber(rewards?.wrong, 0, 'rewards.wrong'),
    tokenSaving: readNumber(rewards?.tokenSaving, 0, 'rewards.tokenSaving'),
    timeSaving: readNumber(rewards?.timeSaving, 0, 'rewards.timeSaving'),
  }
}

function readBaselines(definition: AnyDefinition<unknown>, rewards: Required<ToolRewards>) {
  const { baselines } = definition
  if (baselines === undefined) {
    if (rewards.tokenSaving !== 0 || rewards.timeSaving !== 0) {
      fail('rewards.tokenSaving and rewards.timeSaving need baselines: { tokens, seconds }')
    }
    return null
  }
  const tokens = readCost(baselines?.tokens, 0, 'baselines.tokens')
  const seconds = readCost(baselines?.seconds, 0, 'baselines.seconds')
  if (tokens === 0 || seconds === 0) fail('baselines must be { tokens, seconds }, both positive')
  return { tokens, seconds }
}

/** Plays the tools of one definition; the state of an episode is a ToolEpisode. */
class ToolScenario<State> {
  readonly #definition: AnyDefinition<State>
  readonly #tools: PlayedTool<State>[]
  readonly #rewards: Required<ToolRewards>
  readonly #baselines: { tokens: number; seconds: number } | null
  /** Whether an action is an object of tool and parameters. */
  readonly #parametric: boolean
  readonly space: ActionSpace
  readonly #parameterMasks = nullObject<unknown>()

  constructor(definition: AnyDefinition<State>) {
    this.#definition = definition
    this.#tools = readTools<State>(definition.tools)
    const { space, parametric } = actionSpaceOf(this.#tools)
    this.space = space
    this.#parametric = parametric
    this.#rewards = readRewards(definition.rewards)
    this.#baselines = readBaselines(definition, this.#rewards)
    if (space.type !== 'dict') return
    for (let i = 0; i < space.entries.length; i += 1) {
      this.#parameterMasks[space.entries[i].name] = allLegal(space.entries[i].space)
    }
  }

  reset(context: EpisodeContext): ToolEpisode<State> {
    const state = this.#definition.start(context)
    if (state === undefined) fail('start returned undefined; return the initial state of the episode')
    const progress = { step: 0, tokens: 0, seconds: 0, lastTool: -1 }
    return { state, progress, judged: 0, right: 0, outcome: null }
  }

  step(episode: ToolEpisode<State>, action: unknown, context: EpisodeContext): StepResult {
    const { state, progress } = episode
    const index = (this.#parametric ? (action as { tool: number }).tool : action) as number
    const tool = this.#tools[index]
    const args = tool.parameters === null ? NO_ARGUMENTS : (action as Record<string, object>)[tool.name]
    const result = requireResult(tool.run(state, args, context), tool.name)
    progress.step += 1
    progress.lastTool = index
    progress.tokens += readCost(result.tokens, tool.tokens, `tools.${tool.name}.run: tokens`)
    progress.seconds += readCost(result.seconds, tool.seconds, `tools.${tool.name}.run: seconds`)
    let reward = readNumber(result.reward, 0, `tools.${tool.name}.run: reward`)
    if (result.right !== undefined) {
      episode.judged += 1
      if (result.right) episode.right += 1
      reward += result.right ? this.#rewards.right : this.#rewards.wrong
    }
    const terminated = result.done === true || progress.step >= this.#definition.maxSteps
    if (terminated) reward += this.#settle(episode)
    return { reward, terminated }
  }

  /** The outcome and, where it is positive, what the savings are worth. */
  #settle(episode: ToolEpisode<State>): number {
    const { state, progress } = episode
    const outcome = requireNumber(this.#definition.outcome(state, progress), 'outcome')
    episode.outcome = outcome
    if (this.#baselines === null || !(outcome > 0)) return outcome
    const { tokenSaving, timeSaving } = this.#rewards
    const tokensSaved = max(0, 1 - progress.tokens / this.#baselines.tokens)
    const timeSaved = max(0, 1 - progress.seconds / this.#baselines.seconds)
    return outcome + tokenSaving * tokensSaved + timeSaving * timeSaved
  }

  observe(episode: ToolEpisode<State>): unknown {
    return this.#definition.observe(episode.state, episode.progress)
  }

  /** A mask limits the tools; every value of their parameters stays legal. */
  actionMask(episode: ToolEpisode<State>): unknown {
    const names = this.#definition.available?.(episode.state, episode.progress)
    const mask = toolMask(names, this.#tools)
    if (!this.#parametric) return mask
    const masks = nullObject<unknown>()
    const parametric = objectKeys(this.#parameterMasks)
    for (let i = 0; i < parametric.length; i += 1) masks[parametric[i]] = this.#parameterMasks[parametric[i]]
    masks.tool = mask
    return masks
  }

  metrics(episode: ToolEpisode<State>): Record<string, number> {
    const { state, progress, judged, right, outcome } = episode
    const metrics = nullObject<number>()
    metrics.solved = outcome !== null && outcome > 0 ? 1 : 0
    metrics.tool_calls = progress.step
    metrics.tokens = progress.tokens
    metrics.seconds = progress.seconds
    // An episode without a judged call has chosen nothing right.
    metrics.tool_reliability = judged > 0 ? right / judged : 0
    if (this.#baselines !== null) {
      metrics.cost_reduction = 1 - progress.tokens / this.#baselines.tokens
      metrics.time_savings = 1 - progress.seconds / this.#baselines.seconds
    }
    const own = this.#definition.metrics?.(state, progress) ?? {}
    const names = objectKeys(own)
    for (let i = 0; i < names.length; i += 1) metrics[names[i]] = own[names[i]]
    return metrics
  }
}

/** Returns the tool as it is; for the types of `args`: `tool({ parameters, run(state: State, args) { … } })`. */
export function tool<State, const Parameters extends ActionSpaceRecord>(
  definition: Tool<State, Parameters>,
): Tool<State, Parameters> {
  return definition
}

/**
 * Builds a scenario in which the agent reads a state and picks tools (and their parameters) until the work is done.
 * The metrics are `solved` (1 where the outcome is positive), `tool_calls`, `tokens`, `seconds`, `tool_reliability`
 * (right choices over judged choices) and, with `baselines`, `cost_reduction` (1 - tokens / baseline) and
 * `time_savings` (1 - seconds / baseline); then the author's own. Throws a TypeError for a definition that is wrong.
 */
export function defineToolScenario<Observation extends Space, Name extends string, State>(
  definition: ToolScenarioDefinition<Observation, Name, State>,
): ScenarioDefinition<Observation, ActionSpace, ToolEpisode<State>> {
  if (typeof definition !== 'object' || definition === null) fail('the argument must be an object: { tools, start, … }')
  const required = ['start', 'observe', 'outcome'] as const
  for (let i = 0; i < required.length; i += 1) {
    if (typeof definition[required[i]] !== 'function') fail(`${required[i]} is missing: it must be a function`)
  }
  const scenario = new ToolScenario<State>(definition as unknown as AnyDefinition<State>)
  const callbacks = {
    reset: (context: EpisodeContext) => scenario.reset(context),
    step: (episode: ToolEpisode<State>, action: unknown, context: EpisodeContext) =>
      scenario.step(episode, action, context),
    observe: (episode: ToolEpisode<State>) => scenario.observe(episode),
    metrics: (episode: ToolEpisode<State>) => scenario.metrics(episode),
  }
  const { observation, maxSteps, tasks, available } = definition
  const whole = { observation, action: scenario.space, maxSteps, tasks, ...callbacks }
  const masked =
    available === undefined
      ? whole
      : { ...whole, actionMask: (episode: ToolEpisode<State>) => scenario.actionMask(episode) }
  return defineScenario(masked as ScenarioDefinition<Observation, ActionSpace, ToolEpisode<State>>)
}

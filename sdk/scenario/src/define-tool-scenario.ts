import {
  type DefinedScenario,
  defineScenario,
  type EpisodeContext,
  type Level,
  type RulesContext,
  type ScenarioDefinition,
  type StepResult,
} from './define-scenario.ts'
import { describeValue } from './engine/faults.ts'
import { append, max, nullObject, objectKeys } from './engine/primordials.ts'
import type { Rng } from './engine/random-stream.ts'
import type { Script } from './engine/scripted-player.ts'
import type { Scene } from './scene.ts'
import type { ActionSpace, SampleOf, Space } from './spaces.ts'
import { idsIn, type ShownIds } from './tool-parameters.ts'
import {
  ALL,
  actionOf,
  actionSpaceOf,
  argumentsOf,
  fail,
  isMasked,
  maskArguments,
  NO_ARGUMENTS,
  type PlayedTool,
  readCost,
  readNumber,
  readTools,
  requireNumber,
  requireResult,
  type Tool,
  type ToolCall,
  toolMask,
} from './tools.ts'

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
  readonly masked: boolean
  readonly toolDescriptions: string[] = []

  constructor(definition: AnyDefinition<State>) {
    this.#definition = definition
    this.#tools = readTools<State>(definition.tools, definition.observation)
    for (let i = 0; i < this.#tools.length; i += 1)
      append(this.toolDescriptions, definition.tools[this.#tools[i].name].description)
    const { space, parametric } = actionSpaceOf(this.#tools)
    this.space = space
    this.#parametric = parametric
    this.#rewards = readRewards(definition.rewards)
    this.#baselines = readBaselines(definition, this.#rewards)
    this.masked = definition.available !== undefined || isMasked(this.#tools)
  }

  reset(context: EpisodeContext): ToolEpisode<State> {
    const state = this.#definition.start(context)
    if (state === undefined) fail('start returned undefined; return the initial state of the episode')
    const progress = { step: 0, tokens: 0, seconds: 0, lastTool: -1 }
    return { state, progress, judged: 0, right: 0, outcome: null, seen: undefined }
  }

  step(episode: ToolEpisode<State>, action: unknown, context: EpisodeContext): StepResult {
    const { state, progress } = episode
    const index = (this.#parametric ? (action as { tool: number }).tool : action) as number
    const tool = this.#tools[index]
    const args = tool.parameters.length === 0 ? NO_ARGUMENTS : argumentsOf(tool, action, shownIn(episode))
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
    // Kept, because pointers choose from what was shown.
    episode.seen = this.#definition.observe(episode.state, episode.progress)
    return episode.seen
  }

  /** A tool is legal if it is available and each of its parameters has an argument. */
  actionMask(episode: ToolEpisode<State>): unknown {
    const { state, progress } = episode
    const { available } = this.#definition
    const mask = toolMask(available === undefined ? ALL : this.#definition.available?.(state, progress), this.#tools)
    if (!this.#parametric) return mask
    const masks = nullObject<unknown>()
    for (let i = 0; i < this.#tools.length; i += 1) {
      const tool = this.#tools[i]
      if (tool.parameters.length === 0) continue
      const own = mask[i] ? maskArguments(tool, state, shownIn(episode)) : null
      mask[i] = own !== null
      masks[tool.name] = own ?? tool.unmasked
    }
    masks.tool = mask
    return masks
  }

  /** The oracle's call as an action, in the form that `step` receives. */
  oracle({ state, progress, seen }: ToolEpisode<State>, context: EpisodeContext): unknown {
    return this.#actionFor('oracle', this.#definition.oracle?.(state, context, progress), seen)
  }

  /** Likewise of the rules, which get names of tools in place of a mask. */
  rules(observation: unknown, { rng, mask }: RulesContext): unknown {
    const available: string[] = []
    const legal = this.#parametric ? (mask as { tool: boolean[] } | null)?.tool : (mask as boolean[] | null)
    for (let i = 0; i < this.#tools.length; i += 1) {
      if (legal === null || legal === undefined || legal[i]) append(available, this.#tools[i].name)
    }
    const call: unknown = this.#definition.rules?.(observation as never, { rng, available })
    return this.#actionFor('rules', call, observation)
  }

  #actionFor(who: Script, call: unknown, seen: unknown): unknown {
    if (typeof call !== 'object' || call === null)
      fail(`${who} must return { tool, arguments }, got ${describeValue(call)}`)
    const { tool: name, arguments: given = NO_ARGUMENTS } = call as { tool: unknown; arguments?: unknown }
    let index = 0
    while (index < this.#tools.length && this.#tools[index].name !== name) index += 1
    if (index === this.#tools.length) fail(`${who} returned the tool ${describeValue(name)}, which is no tool`)
    const tool = this.#tools[index]
    const chosen = actionOf(who, tool, given, (list) => idsIn(seen, list))
    if (!this.#parametric) return index
    const action = nullObject<unknown>()
    action.tool = index
    if (tool.parameters.length > 0) action[tool.name] = chosen
    return action
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

/**
 * Builds a scenario in which the agent reads a state and picks tools (and their parameters) until the work is done.
 * The metrics are `solved` (1 where the outcome is positive), `tool_calls`, `tokens`, `seconds`, `tool_reliability`
 * (right choices over judged choices) and, with `baselines`, `cost_reduction` (1 - tokens / baseline) and
 * `time_savings` (1 - seconds / baseline); then the author's own. Throws a TypeError for a definition that is wrong.
 */
export function defineToolScenario<Observation extends Space, Name extends string, State>(
  definition: ToolScenarioDefinition<Observation, Name, State>,
): DefinedScenario<Observation, ActionSpace, ToolEpisode<State>> {
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
  const actionMask = (episode: ToolEpisode<State>) => scenario.actionMask(episode)
  const oracle = (episode: ToolEpisode<State>, context: EpisodeContext) => scenario.oracle(episode, context)
  const rules = (observation: unknown, context: RulesContext) => scenario.rules(observation, context)
  const render = ({ state, progress }: ToolEpisode<State>) => definition.render?.(state, progress)
  const { observation, maxSteps, tasks, levels, memory } = definition
  const { space, toolDescriptions } = scenario
  const whole = { observation, action: space, toolDescriptions, maxSteps, tasks, levels, memory, ...callbacks }
  return defineScenario({
    ...whole,
    ...(scenario.masked ? { actionMask } : {}),
    ...(definition.oracle === undefined ? {} : { oracle }),
    ...(definition.rules === undefined ? {} : { rules }),
    ...(definition.render === undefined ? {} : { render }),
  } as ScenarioDefinition<Observation, ActionSpace, ToolEpisode<State>>)
}

/** What has been spent in the episode so far. */
export type ToolProgress = {
  /** Calls made. */
  readonly step: number
  readonly tokens: number
  readonly seconds: number
  /** Index of the tool called last; -1 before the first call. */
  readonly lastTool: number
}

/** How an episode is paid; every field is 0 unless given. */
export type ToolRewards = {
  /** A call with `right: true` or `right: false`. `wrong` is usually negative. */
  right?: number
  wrong?: number
  /** Paid at the end of an episode with a positive outcome, times the share of the baseline that was saved (0 to 1). */
  tokenSaving?: number
  timeSaving?: number
}

export type ToolScenarioDefinition<Observation extends Space, Name extends string, State> = {
  observation: Observation
  /** Longest episode in calls. Running out is the end: the outcome is paid then, and nothing comes after it. */
  maxSteps: number
  tasks?: { train: number; eval?: number }
  /** As in `defineScenario`: 2 to 16 variants, the easiest first. */
  levels?: readonly Level[]
  /** As in `defineScenario`: whether an agent must remember earlier observations. */
  memory?: boolean
  /** Starts an episode. Write it before `tools`, so that TypeScript knows the state in them. */
  start(context: EpisodeContext): State
  /** The tools, in the order of the action's index. A tool with parameters is best written with `tool({ … })`. */
  tools: { readonly [Each in Name]: Tool<State> }
  observe(state: State, progress: ToolProgress): SampleOf<Observation>
  /** Names of the tools that may be called now; all of them where this is left out. At least one. */
  available?(state: State, progress: ToolProgress): readonly NoInfer<Name>[]
  /**
   * The reward of the whole trajectory, asked for once, at its end; positive means solved. It is paid with the last
   * step: without discounting (gamma 1) the return of every step then holds it exactly once, which is what broadcasting
   * an outcome to every step of a trajectory means.
   */
  outcome(state: State, progress: ToolProgress): number
  rewards?: ToolRewards
  /** What an episode costs without the agent: the base of the savings. */
  baselines?: { tokens: number; seconds: number }
  /** Further metrics. */
  metrics?(state: State, progress: ToolProgress): { readonly [name: string]: number }
  /** As in `defineScenario`: a scripted player, which returns the call that it would make. */
  oracle?(state: State, context: EpisodeContext, progress: ToolProgress): ToolCall<NoInfer<Name>>
  /**
   * Rules that one would write instead of training: the call for an observation, by keywords and conditions. They see what an
   * agent sees and which tools are available, nothing else, and are played beside every agent in its evaluation.
   */
  rules?(
    observation: SampleOf<Observation>,
    context: { readonly rng: Rng; readonly available: readonly Name[] },
  ): ToolCall<NoInfer<Name>>
  /** As in `defineScenario`: draws a state as shapes. */
  render?(state: State, progress: ToolProgress): Scene
}

/** State of a tool scenario: the author's own, and the accounts of the episode. */
export type ToolEpisode<State> = {
  readonly state: State
  readonly progress: { step: number; tokens: number; seconds: number; lastTool: number }
  /** Calls judged by `right`, and how many of them were right. */
  judged: number
  right: number
  /** The outcome, once the episode has ended. */
  outcome: number | null
  /** What the agent has been shown last. */
  seen: unknown
}

function shownIn(episode: ToolEpisode<unknown>): ShownIds {
  return (list) => idsIn(episode.seen, list)
}

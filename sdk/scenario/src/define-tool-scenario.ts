import {
  type DefinedScenario,
  defineScenario,
  type EpisodeContext,
  type Level,
  type ScenarioDefinition,
  type StepResult,
} from './define-scenario.ts'
import { definitionError, describeValue } from './engine/faults.ts'
import { append, falses, isArray, max, nullObject, objectKeys } from './engine/primordials.ts'
import { isName } from './engine/read-space.ts'
import type { Scene } from './scene.ts'
import { type ActionSpace, branches, dict, discrete, type SampleOf, type Space } from './spaces.ts'
import {
  type AllowedOf,
  type ArgumentsOf,
  allLegal,
  idsIn,
  type ParameterRecord,
  type PlayedParameter,
  parameterMask,
  readAllowed,
  readParameters,
  type ShownIds,
} from './tool-parameters.ts'

const NO_ARGUMENTS = Object.freeze({})
/** In place of names of tools. */
const ALL = Object.freeze({})

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

  constructor(definition: AnyDefinition<State>) {
    this.#definition = definition
    this.#tools = readTools<State>(definition.tools, definition.observation)
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
    const call: unknown = this.#definition.oracle?.(state, context, progress)
    if (typeof call !== 'object' || call === null)
      fail(`oracle must return { tool, arguments }, got ${describeValue(call)}`)
    const { tool: name, arguments: given = NO_ARGUMENTS } = call as { tool: unknown; arguments?: unknown }
    let index = 0
    while (index < this.#tools.length && this.#tools[index].name !== name) index += 1
    if (index === this.#tools.length) fail(`oracle returned the tool ${describeValue(name)}, which is no tool`)
    const tool = this.#tools[index]
    const chosen = actionOf(tool, given, (list) => idsIn(seen, list))
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

/** Returns the tool as it is; for the types of `args`: `tool({ parameters, run(state: State, args) { … } })`. */
export function tool<State, const Parameters extends ParameterRecord = Record<never, never>>(
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
  const render = ({ state, progress }: ToolEpisode<State>) => definition.render?.(state, progress)
  const { observation, maxSteps, tasks, levels, memory } = definition
  const whole = { observation, action: scenario.space, maxSteps, tasks, levels, memory, ...callbacks }
  return defineScenario({
    ...whole,
    ...(scenario.masked ? { actionMask } : {}),
    ...(definition.oracle === undefined ? {} : { oracle }),
    ...(definition.render === undefined ? {} : { render }),
  } as ScenarioDefinition<Observation, ActionSpace, ToolEpisode<State>>)
}

/** What one call of a tool did. Everything is optional. */
export type ToolResult = {
  /** Whether this was a right choice of tool here: pays `rewards.right` or `rewards.wrong`, counts in `tool_reliability`. */
  right?: boolean
  /** Further reward of this step. */
  reward?: number
  /** Ends the episode. */
  done?: boolean
  /** Cost of this call, where it differs from the tool's `cost`. */
  tokens?: number
  seconds?: number
}

/** A call as an oracle writes it. */
export type ToolCall<Name extends string = string> = {
  readonly tool: Name
  /** By parameter, in the form that `run` receives; left out for a tool without parameters. */
  readonly arguments?: { readonly [parameter: string]: unknown }
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

/** A tool with a simulated back end. `Parameters` by name; the agent chooses an argument for each. */
export type Tool<State, Parameters extends ParameterRecord = ParameterRecord> = {
  description: string
  parameters?: Parameters
  /** What one call costs, unless `run` says otherwise. */
  cost?: { tokens?: number; seconds?: number }
  /**
   * The arguments that are legal now, for some parameters; every argument of the others is. If a parameter has none, the tool
   * cannot be called. Asked for only where the tool is available.
   */
  allowed?(state: State): AllowedOf<Parameters>
  /** Plays the call; may mutate `state`. Synchronous. */
  run(state: State, args: ArgumentsOf<Parameters>, context: EpisodeContext): ToolResult
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

/** A tool as it is played, whatever its parameters. */
type PlayedTool<State> = {
  name: string
  tokens: number
  seconds: number
  parameters: readonly PlayedParameter[]
  /** Its entry of the action's mask where nothing is masked. */
  unmasked: Record<string, unknown>
  allowed: ((state: State) => unknown) | null
  run: (state: State, args: object, context: EpisodeContext) => unknown
}

function fail(what: string): never {
  throw definitionError(`defineToolScenario: ${what}`)
}

function requireNumber(value: unknown, what: string): number {
  if (typeof value !== 'number' || value - value !== 0)
    fail(`${what} must be a finite number, got ${describeValue(value)}`)
  return value
}

/** A finite number, or `fallback` if it is undefined. */
function readNumber(value: unknown, fallback: number, what: string): number {
  return value === undefined ? fallback : requireNumber(value, what)
}

function readCost(value: unknown, fallback: number, what: string): number {
  const cost = readNumber(value, fallback, what)
  if (cost < 0) fail(`${what} must not be negative, got ${cost}`)
  return cost
}

function readTools<State>(tools: unknown, observation: Space): PlayedTool<State>[] {
  if (typeof tools !== 'object' || tools === null) fail('tools must be an object: { search: { description, run }, … }')
  const played: PlayedTool<State>[] = []
  const names = objectKeys(tools)
  if (names.length === 0) fail('tools is empty: an agent needs at least one')
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i]
    if (!isName(name) || name === 'tool') {
      fail(
        `tools: ${describeValue(name)} cannot name a tool: a letter, then letters, digits, _ or -, at most 64 in all, and not "tool"`,
      )
    }
    const tool = (tools as Record<string, Partial<Tool<State>> | null>)[name]
    if (typeof tool !== 'object' || tool === null) fail(`tools.${name} must be { description, run }`)
    const { description, parameters, cost, allowed, run } = tool
    if (typeof description !== 'string' || description === '')
      fail(`tools.${name}.description is missing: say what the tool does`)
    if (typeof run !== 'function') fail(`tools.${name}.run(state, args, { rng }) is missing: it must be a function`)
    if (allowed !== undefined && typeof allowed !== 'function') fail(`tools.${name}.allowed must be a function`)
    const own = readParameters(parameters ?? {}, observation, `defineToolScenario: tools.${name}.parameters`)
    append(played, {
      name,
      tokens: readCost(cost?.tokens, 0, `tools.${name}.cost.tokens`),
      seconds: readCost(cost?.seconds, 0, `tools.${name}.cost.seconds`),
      parameters: own,
      unmasked: allLegal(own),
      // Called as a method, so that \`this\` is the tool.
      allowed: allowed === undefined ? null : (state) => allowed.call(tool, state),
      run: run as PlayedTool<State>['run'],
    })
  }
  return played
}

function actionSpaceOf<State>(tools: readonly PlayedTool<State>[]): { space: ActionSpace; parametric: boolean } {
  const labels: string[] = []
  for (let i = 0; i < tools.length; i += 1) append(labels, tools[i].name)
  const tool = discrete({ n: tools.length, labels })
  const entries: { name: string; space: ActionSpace }[] = [{ name: 'tool', space: tool }]
  for (let i = 0; i < tools.length; i += 1) {
    const { name, parameters } = tools[i]
    if (parameters.length === 0) continue
    const spaces = nullObject<ActionSpace>()
    for (let j = 0; j < parameters.length; j += 1) spaces[parameters[j].name] = parameters[j].space
    append(entries, { name, space: dict(spaces) })
  }
  const parametric = entries.length > 1
  return { space: parametric ? branches('tool', entries) : tool, parametric }
}

function isMasked<State>(tools: readonly PlayedTool<State>[]): boolean {
  for (let i = 0; i < tools.length; i += 1) {
    if (tools[i].allowed !== null) return true
    for (let j = 0; j < tools[i].parameters.length; j += 1) if (tools[i].parameters[j].pointer) return true
  }
  return false
}

function shownIn(episode: ToolEpisode<unknown>): ShownIds {
  return (list) => idsIn(episode.seen, list)
}

/** What `run` is given: the action's part of the tool, with words and ids in place of their numbers. */
function argumentsOf<State>({ name, parameters }: PlayedTool<State>, action: unknown, shown: ShownIds): object {
  const chosen = (action as Record<string, Record<string, unknown>>)[name]
  const args = nullObject<unknown>()
  for (let i = 0; i < parameters.length; i += 1) {
    args[parameters[i].name] = parameters[i].argument(chosen[parameters[i].name], shown)
  }
  return args
}

/** The inverse of `argumentsOf`: each argument as the action space has it. */
function actionOf<State>({ name, parameters }: PlayedTool<State>, given: unknown, shown: ShownIds): object {
  if (typeof given !== 'object' || given === null)
    fail(`oracle: arguments of ${name} must be an object, got ${describeValue(given)}`)
  const action = nullObject<unknown>()
  for (let i = 0; i < parameters.length; i += 1) {
    const parameter = parameters[i]
    const value = (given as Record<string, unknown>)[parameter.name]
    if (value === undefined) fail(`oracle: ${name} needs the argument "${parameter.name}"`)
    const own = parameter.action(value, shown)
    if (own === -1 && value !== -1)
      fail(`oracle: ${name}.${parameter.name} cannot be ${describeValue(value)}: it is not among the choices`)
    action[parameter.name] = own
  }
  const names = objectKeys(given)
  for (let i = 0; i < names.length; i += 1) {
    if (action[names[i]] === undefined) fail(`oracle: ${name} has no parameter ${describeValue(names[i])}`)
  }
  return action
}

/** The mask of a tool's arguments; null where a parameter has none that is legal. */
function maskArguments<State>(tool: PlayedTool<State>, state: State, shown: ShownIds): Record<string, unknown> | null {
  const path = `defineToolScenario: tools.${tool.name}.allowed`
  const allowed =
    tool.allowed === null ? nullObject<unknown>() : readAllowed(tool.allowed(state), tool.parameters, path)
  const masks = nullObject<unknown>()
  for (let i = 0; i < tool.parameters.length; i += 1) {
    const parameter = tool.parameters[i]
    const given = allowed[parameter.name]
    if (given === undefined && !parameter.pointer) {
      masks[parameter.name] = tool.unmasked[parameter.name]
      continue
    }
    const mask = parameterMask(parameter, given, shown, `${path}: ${parameter.name}`)
    if (mask === null) return null
    masks[parameter.name] = mask
  }
  return masks
}

function requireResult(result: unknown, name: string): ToolResult {
  if (typeof result !== 'object' || result === null) {
    fail(`tools.${name}.run must return an object such as { right: true }, got ${describeValue(result)}`)
  }
  const { right, done } = result as ToolResult
  if (right !== undefined && typeof right !== 'boolean')
    fail(`tools.${name}.run: right must be a boolean, got ${describeValue(right)}`)
  if (done !== undefined && typeof done !== 'boolean')
    fail(`tools.${name}.run: done must be a boolean, got ${describeValue(done)}`)
  if (typeof (result as { then?: unknown }).then === 'function') fail(`tools.${name}.run must be synchronous`)
  return result
}

function toolMask<State>(names: unknown, tools: readonly PlayedTool<State>[]): boolean[] {
  const mask = falses(tools.length)
  if (names === ALL) {
    for (let i = 0; i < mask.length; i += 1) mask[i] = true
    return mask
  }
  if (!isArray(names)) fail(`available must return an array of tool names, got ${describeValue(names)}`)
  for (let i = 0; i < names.length; i += 1) {
    let index = 0
    while (index < tools.length && tools[index].name !== names[i]) index += 1
    if (index === tools.length) fail(`available returned ${describeValue(names[i])}, which is no tool`)
    mask[index] = true
  }
  return mask
}

import type { EpisodeContext } from './define-scenario.ts'
import type { ActionOf, ActionSpaceRecord, SampleOf, Space } from './spaces.ts'

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

/** What has been spent in the episode so far. */
export type ToolProgress = {
  /** Calls made. */
  readonly step: number
  readonly tokens: number
  readonly seconds: number
  /** Index of the tool called last; -1 before the first call. */
  readonly lastTool: number
}

/** A tool with a simulated back end. `Parameters` are action spaces by name; the agent chooses a value for each. */
export type Tool<State, Parameters extends ActionSpaceRecord = ActionSpaceRecord> = {
  description: string
  parameters?: Parameters
  /** What one call costs, unless `run` says otherwise. */
  cost?: { tokens?: number; seconds?: number }
  /** Plays the call; may mutate `state`. Synchronous. */
  run(
    state: State,
    args: { [Name in keyof Parameters]: ActionOf<Parameters[Name]> },
    context: EpisodeContext,
  ): ToolResult
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
}

import { definitionError } from './engine/faults.ts'
import type { Rng } from './engine/random-stream.ts'
import { readDefinition } from './engine/read-definition.ts'
import type { Scene } from './scene.ts'
import type { ActionMaskOf, ActionOf, ActionSpace, ChosenActionOf, SampleOf, Space } from './spaces.ts'

/**
 * The task of an episode. In training, `index` is drawn from the episode's own stream; in evaluation, episode k plays
 * task k modulo the number of tasks. A scenario without tasks gets index 0. Evaluation of a scenario that declares only
 * training tasks plays those, and says so in `split`.
 */
export type Task = { readonly split: 'train' | 'eval'; readonly index: number }

/** Given to `reset`, `step` and `oracle`; one object an episode. */
export type EpisodeContext = {
  readonly rng: Rng
  readonly task: Task
  /**
   * Index into `levels`; 0 without levels. In training it is drawn uniformly from a stream of its own; in evaluation, episode k
   * plays level k modulo the number of levels.
   */
  readonly level: number
}

/** A variant of the scenario, such as an opponent or a size, that evaluations report on its own. */
export type Level = {
  /** 1 to 40 characters, shown in tables; no two levels have the same. */
  readonly name: string
  /** At most 200 characters. */
  readonly description?: string
}

export type StepResult = {
  /** Finite, also in float32. */
  reward: number
  /** Whether the episode has really ended; running out of time is the engine's business. */
  terminated: boolean
}

/** One environment. The engine owns vectorising, seeding, the time limit, auto-reset and episode accounting. */
export type ScenarioDefinition<Observation extends Space, Action extends ActionSpace, State> = {
  observation: Observation
  action: Action
  /** The time limit in steps: an episode that reaches it is truncated, which is not termination. 1 to 1e9. */
  maxSteps: number
  /** Numbers of tasks for training and, held out, for evaluation. */
  tasks?: { train: number; eval?: number }
  /** 2 to 16 variants, the easiest first. The engine chooses one for each episode: see `EpisodeContext`. */
  levels?: readonly Level[]
  /**
   * Whether an agent must remember earlier observations of the episode to act well: training then uses a recurrent
   * network. Default: false.
   */
  memory?: boolean
  /** Starts an episode. May be async, but nothing can be waited for: a scenario has no timers and no I/O. */
  reset(context: EpisodeContext): State | PromiseLike<State>
  /** One step; may mutate `state`. */
  step(state: State, action: ActionOf<Action>, context: EpisodeContext): StepResult | PromiseLike<StepResult>
  /** What the agent sees of the state. */
  observe(state: State): SampleOf<Observation>
  /** Which actions are legal next: at least one a component. */
  actionMask?(state: State): ActionMaskOf<Action>
  /** Finite numbers by name (at most 32), read once at the episode's end. */
  metrics?(state: State): { readonly [name: string]: number }
  /**
   * A scripted player: the action that it would take, in the form that `step` receives. It may look at the whole state, and
   * must not change it. `rng` is its own. Shows that the scenario can be solved; training never sees it. Synchronous.
   */
  oracle?(state: State, context: EpisodeContext): ChosenActionOf<Action>
  /**
   * Rules that one would write instead of training: the action for an observation, by keywords and conditions. They see what an
   * agent sees, nothing else, and are played beside every agent in its evaluation. `mask` is what `actionMask` returned, null
   * without one; `rng` is their own. Synchronous.
   */
  rules?(observation: SampleOf<Observation>, context: RulesContext): ChosenActionOf<Action>
  /**
   * Draws a state as shapes, for pictures of episodes. Called only where somebody looks: it must not change the state, and
   * training never calls it.
   */
  render?(state: State): Scene
}

/** What rules know beside the observation. */
export type RulesContext = { readonly rng: Rng; readonly mask: unknown }

/** What a test passes to a callback; `level` may be left out where the scenario has no levels. */
export type CalledContext = Omit<EpisodeContext, 'level'> & { readonly level?: number }

/** A definition, with callbacks that tests may call. */
export type DefinedScenario<Observation extends Space, Action extends ActionSpace, State> = ScenarioDefinition<
  Observation,
  Action,
  State
> & {
  reset(context: CalledContext): State | PromiseLike<State>
  step(state: State, action: ActionOf<Action>, context: CalledContext): StepResult | PromiseLike<StepResult>
  oracle?(state: State, context: CalledContext): ChosenActionOf<Action>
}

/** Checks a definition and returns it. Throws a TypeError that names the field, what is wrong and how to fix it. */
export function defineScenario<Observation extends Space, Action extends ActionSpace, State>(
  definition: ScenarioDefinition<Observation, Action, State>,
): DefinedScenario<Observation, Action, State> {
  if (typeof definition !== 'object' || definition === null) {
    throw definitionError(
      'defineScenario: the argument must be an object: { observation, action, maxSteps, reset, step, observe }',
    )
  }
  readDefinition(definition)
  return definition
}

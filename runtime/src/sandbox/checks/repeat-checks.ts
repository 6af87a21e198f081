import { RandomActions } from '@agentgym/playing'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { SandboxedEnvironment, SandboxedEnvironmentOptions } from '../sandboxed-environment.ts'
import type { VectorEnvironment } from '../vector-environment.ts'
import { CheckFailure, type Finding } from './check-messages.ts'

/** Opens an environment with these options, passes it on and disposes of it. */
export type Use = <Result>(
  options: Partial<
    Pick<
      SandboxedEnvironmentOptions,
      'environments' | 'seed' | 'plan' | 'recordIntrinsics' | 'watchTexts' | 'watchScenes' | 'logs'
    >
  >,
  body: (environment: SandboxedEnvironment) => Result,
) => Result

/** Vector steps of the trajectories that are compared. */
const COMPARED_STEPS = 200
const ENDED = TERMINATED | TRUNCATED

export function checkDeterminism(use: Use): string {
  const record = () => use({}, (environment) => recordTrajectory(environment, COMPARED_STEPS))
  const difference = firstDifference(record(), record())
  if (difference === undefined) return `the same seed gives the same ${COMPARED_STEPS} steps, bit for bit`
  throw new CheckFailure(
    `Two runs with one seed differ: ${difference}. Draw randomness only from the rng that reset and step are given.`,
  )
}

export function checkIndependence(use: Use): string {
  const record = (environments: number) =>
    use({ environments }, (environment) => recordTrajectory(environment, COMPARED_STEPS))
  const difference = firstDifference(record(1), record(5))
  if (difference === undefined) return 'environment 0 plays alike alone and beside four others'
  throw new CheckFailure(
    `Environment 0 depends on the others: alone and beside four, ${difference}. Keep everything that changes in the state that reset returns, not in variables of the module.`,
  )
}

export function checkSeeds(use: Use): string {
  const record = (seed: number) => use({ seed }, (environment) => recordTrajectory(environment, 50))
  const difference = firstDifference(record(1), record(2))
  return difference === undefined
    ? 'two seeds play alike: this scenario draws no randomness'
    : 'two seeds give two trajectories'
}

/** What is looked at must be what is trained on. */
export function checkRender(use: Use, renders: boolean): string {
  if (!renders) return 'no render: episodes are drawn from their observations'
  const record = (looking: boolean) =>
    use({ environments: 1, watchScenes: true }, (environment) =>
      recordTrajectory(environment, COMPARED_STEPS, looking ? () => environment.scene('now') : undefined),
    )
  const difference = firstDifference(record(true), record(false))
  if (difference === undefined) return `draws ${COMPARED_STEPS} steps, and they are the same when nobody looks`
  throw new CheckFailure(
    `An episode changes when it is drawn: ${difference}. Let render read the state and leave it as it is.`,
  )
}

/** What resuming a run relies on: an episode replayed from its actions is the same episode. */
export function checkReplay(use: Use): Finding {
  return use({ environments: 1 }, (environment) => {
    const trajectory = recordTrajectory(environment, COMPARED_STEPS)
    const columns = environment.description.sizes.action
    const { episode, from, to } = longestReplay(trajectory.flags)
    const actions = trajectory.actions.slice(from, to)
    const flat = new Float32Array(actions.length * columns)
    actions.forEach((action, step) => {
      flat.set(action, step * columns)
    })
    const expected = trajectory.observations[to]
    return use({ environments: 1 }, (fresh) => {
      fresh.restore(0, episode, flat)
      const column = expected.findIndex((value, index) => !Object.is(value, fresh.buffers.observations[index]))
      if (column >= 0) {
        const values = `${expected[column]} first and ${fresh.buffers.observations[column]} again`
        throw new CheckFailure(
          `Episode ${episode} played again differs: observation ${column} was ${values}. Something is carried over from earlier episodes; keep it in the state that reset returns.`,
        )
      }
      if (actions.length > 0) {
        return { message: `episode ${episode} played again from its ${actions.length} actions is the same` }
      }
      return {
        message: `not shown: every episode ends with its first step, so only the reset of episode ${episode} was replayed. Check that episodes should be one step long.`,
        warning: true,
      }
    })
  })
}

/**
 * The most actions that a replay can be compared after: those of one episode up to an observation of that episode, whose
 * last one is not in the rows. A later episode rather than an earlier one: it shows what is carried over.
 */
function longestReplay(flags: readonly number[]): { episode: number; from: number; to: number } {
  let best = { episode: 0, from: 0, to: 0 }
  let from = 0
  let episode = 0
  for (let step = 0; step <= flags.length; step++) {
    const ended = step < flags.length && (flags[step] & ENDED) !== 0
    if (!ended && step < flags.length) continue
    if (step - from >= best.to - best.from) best = { episode, from, to: step }
    from = step + 1
    episode += 1
  }
  return best
}

/** Everything that came out of environment 0, a row a vector step. */
type Trajectory = {
  observations: Float32Array[]
  texts: Uint16Array[]
  rewards: number[]
  flags: number[]
  actions: Float32Array[]
}

/** Plays `steps` vector steps. Environment 0's actions do not depend on how many others there are. */
function recordTrajectory(environment: VectorEnvironment, steps: number, look = () => {}): Trajectory {
  const { buffers, description } = environment
  const policy = new RandomActions(description, 2)
  const policyOfOthers = new RandomActions(description, 3)
  const { observation: width, action: columns, text: units } = description.sizes
  const trajectory: Trajectory = { observations: [], texts: [], rewards: [], flags: [], actions: [] }
  const observe = () => {
    trajectory.observations.push(buffers.observations.slice(0, width))
    trajectory.texts.push(buffers.texts.slice(0, units))
    look()
  }
  environment.reset()
  observe()
  for (let step = 0; step < steps; step++) {
    policy.fillRow(buffers, 0)
    for (let row = 1; row < environment.environments; row++) policyOfOthers.fillRow(buffers, row)
    trajectory.actions.push(buffers.actions.slice(0, columns))
    environment.step()
    observe()
    trajectory.rewards.push(buffers.rewards[0])
    trajectory.flags.push(buffers.flags[0])
  }
  return trajectory
}

/** Where two trajectories part, in words; undefined where they are equal bit for bit. */
function firstDifference(one: Trajectory, other: Trajectory): string | undefined {
  const parted = (a: Float32Array, b: Float32Array) => a.findIndex((value, index) => !Object.is(value, b[index]))
  for (let step = 0; step < one.observations.length; step++) {
    const column = parted(one.observations[step], other.observations[step])
    if (column >= 0) {
      const values = `${one.observations[step][column]} and ${other.observations[step][column]}`
      return `observation ${column} at step ${step} was ${values}`
    }
    if (one.texts[step].some((unit, index) => unit !== other.texts[step][index]))
      return `a text at step ${step} differed`
    if (step === one.rewards.length) break
    if (!Object.is(one.rewards[step], other.rewards[step])) {
      return `the reward of step ${step + 1} was ${one.rewards[step]} and ${other.rewards[step]}`
    }
    if (one.flags[step] !== other.flags[step]) return `an episode ended at step ${step + 1} once and not the other time`
  }
  return undefined
}

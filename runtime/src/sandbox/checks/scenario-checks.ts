import {
  type AgentGymError,
  type SampleEpisode,
  type ScenarioView,
  type SuccessCriteria,
  viewProblem,
} from '@agentgym/contract'
import { IDLE, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { viewedSpaces } from '../episode-sampler.ts'
import type { SandboxedEnvironment, SandboxedEnvironmentOptions } from '../sandboxed-environment.ts'
import { describeSpace } from '../vector-environment.ts'
import { RandomActions } from './baseline-policies.ts'
import type { CheckId } from './check-messages.ts'
import {
  firstDifference,
  idleReturns,
  playRandomly,
  type RandomPlay,
  recordTrajectory,
  sampleRandomly,
} from './played-episodes.ts'

/** Opens the scenario with these options beside its source; the checks own no environment longer than they need it. */
export type OpenEnvironment = (
  options: Pick<SandboxedEnvironmentOptions, 'environments' | 'seed' | 'plan' | 'recordIntrinsics' | 'watchTexts'>,
) => SandboxedEnvironment

/** A check that failed without an error of the sandbox: what was seen, and how to mend it. */
export class CheckFailure extends Error {}

type ReportCheck = (id: CheckId, message: string) => void

export type ScenarioChecks = {
  success: SuccessCriteria
  view: ScenarioView | null
  open: OpenEnvironment
  /** Names the check that runs. */
  begin(id: CheckId): void
  pass: ReportCheck
  /** Takes an episode for pictures. */
  sample(episode: SampleEpisode): void
}

const TRAIN = { split: 'train' } as const
/** Vector steps of the trajectories that are compared. */
const COMPARED_STEPS = 200
const ENVIRONMENTS = 8

/**
 * Runs every check that needs the scenario itself, in order. The first that fails throws: an AgentGymError of the sandbox
 * or a CheckFailure.
 */
export function runScenarioChecks({ success, view, open, begin, pass, sample }: ScenarioChecks): void {
  const use = <Result>(
    options: Partial<Parameters<OpenEnvironment>[0]>,
    body: (environment: SandboxedEnvironment) => Result,
  ): Result => {
    const environment = open({ environments: ENVIRONMENTS, seed: 1, plan: TRAIN, ...options })
    try {
      return body(environment)
    } finally {
      environment.dispose()
    }
  }
  const check = (id: CheckId, body: () => string) => {
    begin(id)
    pass(id, body())
  }
  begin('loads')
  const startedMs = performance.now()
  use({ recordIntrinsics: true }, (environment) => {
    pass('loads', `loads in ${Math.round(performance.now() - startedMs)} ms`)
    check('spaces', () => describeSpaces(environment, view))
    check('reset', () => {
      environment.reset()
      return `${ENVIRONMENTS} environments start`
    })
    begin('steps')
    const play = playRandomly(environment, { episodes: 100, steps: 20_000, timeMs: 2_000 })
    const episode = use({ environments: 1, watchTexts: true }, (shown) => sampleRandomly(shown, view))
    if (episode !== null) sample(episode)
    passPlay(environment, play, pass)
    check('determinism', () => checkDeterminism(use))
    check('independence', () => checkIndependence(use))
    check('replay', () => checkReplay(use))
    check('seeds_differ', () => checkSeeds(use))
    check('held_out', () => checkHeldOut(environment, use))
    check('reward_varies', () => describeReturns(play))
    check('baselines', () => use({}, (idle) => compareBaselines(play.returns, idleReturns(idle), success.return_mean)))
    check('builtins', () => checkBuiltins(environment))
  })
  check('speed', () => use({ environments: 256 }, measureSpeed))
}

type Use = <Result>(
  options: Partial<Parameters<OpenEnvironment>[0]>,
  body: (environment: SandboxedEnvironment) => Result,
) => Result

function describeSpaces({ description }: SandboxedEnvironment, view: ScenarioView | null): string {
  const { observation, action, maxSteps } = description
  const problem = view === null ? null : viewProblem(view, viewedSpaces(description))
  if (problem !== null)
    throw new CheckFailure(
      `The view of agentgym.view in package.json ${problem}. Mend it, or leave it out: numbers are drawn as lines then.`,
    )
  return `observes ${describeSpace(observation)}, acts by ${describeSpace(action)}, at most ${maxSteps} steps`
}

/** One play covers several checks: a fault in it is blamed on the one that its code belongs to. */
function passPlay(environment: SandboxedEnvironment, play: RandomPlay, pass: ReportCheck): void {
  const { description } = environment
  pass('steps', `${play.steps} steps of a random policy, ${play.returns.length} episodes`)
  pass('observations', `${play.steps} observations fit their space and are finite in float32`)
  pass('rewards', `rewards from ${round(play.lowestReward)} to ${round(play.highestReward)}, all finite`)
  pass('masks', description.masked ? 'every mask leaves a legal action' : 'no actionMask: every action is always legal')
  pass('metrics', play.metrics.length > 0 ? `reports ${play.metrics.join(', ')}` : 'no metrics reported')
  pass('episode_ends', describeEnds(play, description.maxSteps))
}

function describeEnds(play: RandomPlay, maxSteps: number): string {
  if (play.returns.length === 0)
    return `no episode ended in ${play.steps} steps; the time limit ends it after ${maxSteps}`
  const lengths = `${Math.min(...play.lengths)} to ${Math.max(...play.lengths)} steps long`
  return `${play.terminated} episodes terminated, ${play.truncated} reached the time limit; ${lengths}`
}

function checkDeterminism(use: Use): string {
  const record = () => use({}, (environment) => recordTrajectory(environment, COMPARED_STEPS))
  const difference = firstDifference(record(), record())
  if (difference === undefined) return `the same seed gives the same ${COMPARED_STEPS} steps, bit for bit`
  throw new CheckFailure(
    `Two runs with one seed differ: ${difference}. Draw randomness only from the rng that reset and step are given.`,
  )
}

function checkIndependence(use: Use): string {
  const record = (environments: number) =>
    use({ environments }, (environment) => recordTrajectory(environment, COMPARED_STEPS))
  const difference = firstDifference(record(1), record(5))
  if (difference === undefined) return 'environment 0 plays alike alone and beside four others'
  throw new CheckFailure(
    `Environment 0 depends on the others: alone and beside four, ${difference}. Keep everything that changes in the state that reset returns, not in variables of the module.`,
  )
}

/** What resuming a run relies on: an episode played again from its actions is the same episode. */
function checkReplay(use: Use): string {
  return use({ environments: 1 }, (environment) => {
    const trajectory = recordTrajectory(environment, COMPARED_STEPS)
    const columns = environment.description.sizes.action
    const lastEnd = trajectory.flags.findLastIndex((bits) => (bits & (TERMINATED | TRUNCATED)) !== 0)
    const episode = trajectory.flags.filter((bits) => (bits & (TERMINATED | TRUNCATED)) !== 0).length
    const actions = trajectory.actions.slice(lastEnd + 1)
    const flat = new Float32Array(actions.length * columns)
    actions.forEach((action, step) => {
      flat.set(action, step * columns)
    })
    const expected = trajectory.observations[COMPARED_STEPS]
    return use({ environments: 1 }, (fresh) => {
      fresh.restore(0, episode, flat)
      const column = expected.findIndex((value, index) => !Object.is(value, fresh.buffers.observations[index]))
      if (column < 0) return `episode ${episode} played again from its ${actions.length} actions is the same`
      const values = `${expected[column]} first and ${fresh.buffers.observations[column]} again`
      throw new CheckFailure(
        `Episode ${episode} played again differs: observation ${column} was ${values}. Something is carried over from earlier episodes; keep it in the state that reset returns.`,
      )
    })
  })
}

function checkSeeds(use: Use): string {
  const record = (seed: number) => use({ seed }, (environment) => recordTrajectory(environment, 50))
  const difference = firstDifference(record(1), record(2))
  return difference === undefined
    ? 'two seeds play alike: this scenario draws no randomness'
    : 'two seeds give two trajectories'
}

function checkHeldOut({ description }: SandboxedEnvironment, use: Use): string {
  const { tasks } = description
  use({ environments: 4, plan: { split: 'eval', episodes: 8 } }, (environment) => {
    const actions = new RandomActions(description, 4)
    const endMs = performance.now() + 1_000
    environment.reset()
    while (performance.now() < endMs && environment.buffers.flags.some((bits) => (bits & IDLE) === 0)) {
      actions.fill(environment.buffers)
      environment.step()
    }
  })
  if (tasks.eval > 0) return `${tasks.eval} held-out tasks beside ${tasks.train} for training`
  if (tasks.train > 0) return `no held-out tasks: evaluation would use the ${tasks.train} of training; set tasks.eval`
  return 'no tasks: evaluation is held out by its seeds'
}

function describeReturns({ returns, lowestReward, highestReward }: RandomPlay): string {
  if (lowestReward === highestReward) {
    return `every reward was ${round(lowestReward)}: only the length of an episode can be learned`
  }
  if (returns.length === 0) return 'no episode ended, so there is no return to compare'
  const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length
  const range = `${round(Math.min(...returns))} to ${round(Math.max(...returns))}`
  return `a random policy returns ${round(mean)} on average (${range})`
}

/** What comes without learning: a scenario that counts it as success teaches nothing. */
function compareBaselines(random: number[], idle: number[], target: number | undefined): string {
  const means = [
    { policy: 'random actions', mean: mean(random) },
    { policy: 'always the first action', mean: mean(idle) },
  ]
  const enough = means.find(({ mean }) => target !== undefined && mean !== null && mean >= target)
  if (enough !== undefined) {
    throw new CheckFailure(
      `Success asks for a return of ${target}, and ${enough.policy} already return ${round(enough.mean ?? 0)}. Set success.return_mean to what only a trained agent reaches.`,
    )
  }
  const shown = means.map(({ policy, mean }) => `${policy} return ${mean === null ? 'nothing yet' : round(mean)}`)
  return `${shown.join(', ')}; success asks for ${target ?? 'no return'}`
}

function mean(values: number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

function checkBuiltins(environment: SandboxedEnvironment): string {
  const altered = environment.alteredIntrinsics()
  if (altered === '') return "the language's built-ins are as they were"
  throw new CheckFailure(
    `The scenario or one of its packages changes ${altered}. Leave built-ins alone: other code relies on them.`,
  )
}

function measureSpeed(environment: SandboxedEnvironment): string {
  const actions = new RandomActions(environment.description, 5)
  environment.reset()
  actions.fill(environment.buffers)
  let steps = 0
  let spentMs = 0
  while (spentMs < 300) {
    const startedMs = performance.now()
    environment.step()
    spentMs += performance.now() - startedMs
    steps += environment.environments
    actions.fill(environment.buffers)
  }
  const perSecond = (steps / spentMs) * 1000
  const rate = perSecond >= 1e6 ? `${(perSecond / 1e6).toFixed(1)} M` : Math.round(perSecond).toLocaleString('en')
  return `${rate} environment steps a second, sandboxed, on one core`
}

function round(value: number): number {
  return Number(value.toPrecision(4))
}

/** Which check a fault in random play belongs to. */
export function checkOfFault(running: CheckId, error: AgentGymError): CheckId {
  if (running !== 'steps') return running
  switch (error.code) {
    case 'observation_invalid':
      return 'observations'
    case 'reward_not_finite':
      return 'rewards'
    case 'mask_invalid':
    case 'no_legal_action':
      return 'masks'
    case 'metrics_invalid':
      return 'metrics'
    default:
      return running
  }
}

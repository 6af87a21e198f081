import {
  type AgentGymError,
  describeSpace,
  type EvaluationTasks,
  isFixedTaskSet,
  type SampleEpisode,
  type ScenarioLogs,
  type ScenarioView,
  type SuccessCriteria,
  viewProblem,
} from '@agentgym/contract'
import { RandomActions } from '@agentgym/playing'
import { viewedSpaces } from '../episode-sampler.ts'
import type { SandboxedEnvironment, SandboxedEnvironmentOptions } from '../sandboxed-environment.ts'
import { CheckFailure, type CheckId, type Finding } from './check-messages.ts'
import { COMPARED_ENVIRONMENTS, type ComparedEpisodes, playCompared } from './compared-episodes.ts'
import { compareBaselines, describeRules, describeUnevenSplits, playBaselines } from './difficulty-checks.ts'
import { checkDesign } from './doctor-check.ts'
import { checkOracle } from './oracle-check.ts'
import { playRandomly, type RandomPlay, sampleRandomly } from './played-episodes.ts'
import { checkDeterminism, checkIndependence, checkRender, checkReplay, checkSeeds, type Use } from './repeat-checks.ts'
import { levelReturn, type Played, round } from './whole-episodes.ts'

/** Opens the scenario with these options beside its source; the checks own no environment longer than they need it. */
export type OpenEnvironment = (
  options: Pick<
    SandboxedEnvironmentOptions,
    'environments' | 'seed' | 'plan' | 'recordIntrinsics' | 'watchTexts' | 'watchScenes' | 'logs'
  >,
) => SandboxedEnvironment

type ReportCheck = (id: CheckId, finding: Finding) => void

export type ScenarioChecks = {
  success: SuccessCriteria
  view: ScenarioView | null
  /** How long an episode may take to end, alone. */
  episodeMs: number
  open: OpenEnvironment
  /** Names the check that runs. */
  begin(id: CheckId): void
  pass: ReportCheck
  /** Takes an episode for pictures. */
  sample(episode: SampleEpisode): void
  /** Takes what the scenario logs in the first play, which most checks look at; the later ones log the same again. */
  logs(logs: ScenarioLogs): void
  /** Takes what a second process will play again. */
  compared(played: ComparedEpisodes): void
}

const TRAIN = { split: 'train' } as const
const ENVIRONMENTS = 8

/**
 * Runs every check that needs the scenario itself, in order. The first that fails throws: an AgentGymError of the sandbox
 * or a CheckFailure.
 */
export function runScenarioChecks(checks: ScenarioChecks): void {
  const { success, view, open, begin, pass } = checks
  const use: Use = (options, body) => {
    const environment = open({ environments: ENVIRONMENTS, seed: 1, plan: TRAIN, ...options })
    try {
      return body(environment)
    } finally {
      environment.dispose()
    }
  }
  const check = (id: CheckId, body: () => string | Finding) => {
    begin(id)
    const found = body()
    pass(id, typeof found === 'string' ? { message: found } : found)
  }
  begin('loads')
  const startedMs = performance.now()
  use({ recordIntrinsics: true, logs: { keep: true, take: checks.logs } }, (environment) => {
    environment.takeLogs()
    pass('loads', { message: `loads in ${Math.round(performance.now() - startedMs)} ms` })
    check('spaces', () => describeSpaces(environment, view))
    check('reset', () => {
      environment.reset()
      environment.takeLogs()
      return `${ENVIRONMENTS} environments start`
    })
    const play = checkPlay(environment, use, checks)
    check('render', () => checkRender(use, environment.description.renders === true))
    check('determinism', () => checkDeterminism(use))
    check('independence', () => checkIndependence(use))
    check('replay', () => checkReplay(use))
    check('seeds_differ', () => checkSeeds(use))
    begin('held_out')
    const baselines = playBaselines(use)
    check('held_out', () => checkHeldOut(environment, baselines))
    check('reward_varies', () => describeReturns(play))
    check('baselines', () => {
      const finding = compareBaselines(baselines, success)
      const rules = describeRules(use, success)
      return rules === null ? finding : { ...finding, message: `${finding.message}; ${rules}` }
    })
    let oracle: Played | null = null
    check('oracle', () => {
      const { finding, played } = checkOracle(use, success)
      oracle = played
      return finding
    })
    check('levels', () => describeLevels(environment, { random: baselines[0].eval, oracle }))
    check('doctor', () => checkDesign(use, success))
    check('builtins', () => checkBuiltins(environment))
  })
  check('speed', () => use({ environments: 256 }, measureSpeed))
  begin('processes')
  checks.compared(use({ environments: COMPARED_ENVIRONMENTS }, (environment) => playCompared(environment)))
}

/** One play covers several checks: a fault in it is blamed on the one that its code belongs to. */
function checkPlay(environment: SandboxedEnvironment, use: Use, checks: ScenarioChecks): RandomPlay {
  const { begin, pass, view, success, sample, episodeMs } = checks
  begin('steps')
  const played = playRandomly(environment, { episodes: 100, steps: 20_000, timeMs: 2_000 })
  environment.takeLogs()
  const play = played.returns.length > 0 ? played : playOneEpisode(use, episodeMs)
  const episode = use({ environments: 1, watchTexts: true, watchScenes: true }, (shown) => sampleRandomly(shown, view))
  if (episode !== null) sample(episode)
  const { description } = environment
  const passing = (id: CheckId, message: string) => pass(id, { message })
  passing('steps', `${play.steps} steps of a random policy, ${play.returns.length} episodes`)
  passing('observations', `${play.steps} observations fit their space and are finite in float32`)
  passing('rewards', `rewards from ${round(play.lowestReward)} to ${round(play.highestReward)}, all finite`)
  passing(
    'masks',
    description.masked ? 'every mask leaves a legal action' : 'no actionMask: every action is always legal',
  )
  begin('episode_ends')
  passing('episode_ends', describeEnds(play, description.maxSteps, episodeMs))
  begin('metrics')
  passing('metrics', describeMetrics(play, success))
  return play
}

/** For a scenario whose episodes are long: one environment, until its first episode has ended. */
function playOneEpisode(use: Use, timeMs: number): RandomPlay {
  return use({ environments: 1 }, (environment) => {
    environment.reset()
    return playRandomly(environment, { episodes: 1, steps: Number.POSITIVE_INFINITY, timeMs })
  })
}

function describeSpaces({ description }: SandboxedEnvironment, view: ScenarioView | null): string {
  const { observation, action, maxSteps } = description
  const problem = view === null ? null : viewProblem(view, viewedSpaces(description))
  if (problem !== null)
    throw new CheckFailure(
      `The view of agentgym.view in package.json ${problem}. Mend it, or leave it out: numbers are drawn as lines then.`,
    )
  return `observes ${describeSpace(observation)}, acts by ${describeSpace(action)}, at most ${maxSteps} steps`
}

function describeEnds(play: RandomPlay, maxSteps: number, episodeMs: number): string {
  if (play.returns.length === 0) {
    const rate = round(play.steps / (episodeMs / 1000))
    throw new CheckFailure(
      `No episode ended: ${play.steps} steps were played in ${episodeMs / 1000} s (${rate} a second), and the time limit ends an episode after ${maxSteps}. Nothing that is measured at an episode's end can be checked or evaluated. Make steps faster, or lower maxSteps.`,
    )
  }
  const lengths = `${Math.min(...play.lengths)} to ${Math.max(...play.lengths)} steps long`
  return `${play.terminated} episodes terminated, ${play.truncated} reached the time limit; ${lengths}`
}

/** A criterion on a metric that is never reported could never be met, or only by accident of its name. */
function describeMetrics({ metrics }: RandomPlay, success: SuccessCriteria): string {
  const missing = Object.keys(success).filter((name) => name !== 'return_mean' && !metrics.includes(name))
  if (missing.length === 0) return metrics.length > 0 ? `reports ${metrics.join(', ')}` : 'no metrics reported'
  const names = missing.map((name) => JSON.stringify(name)).join(', ')
  const reported = metrics.length > 0 ? `only ${metrics.join(', ')}` : 'none'
  throw new CheckFailure(
    `Success asks for ${names}, and no episode reports it; metrics reported: ${reported}. Return it from metrics(state), or name a reported metric or return_mean in agentgym.success.`,
  )
}

function checkHeldOut(
  { description }: SandboxedEnvironment,
  baselines: Parameters<typeof describeUnevenSplits>[0],
): Finding {
  const { tasks } = description
  const split = tasks.eval > 0 ? 'eval' : 'train'
  const drawn: EvaluationTasks | undefined =
    tasks[split] > 0 ? { split, size: tasks[split], order: 'drawn' } : undefined
  const fixed = isFixedTaskSet(drawn)
  const uneven = describeUnevenSplits(baselines)
  const set = describeTasks(tasks, fixed)
  const message = uneven === undefined ? set : `${set}; ${uneven}`
  return fixed || uneven !== undefined ? { message, warning: true } : { message }
}

function describeTasks(tasks: { train: number; eval: number }, fixed: boolean): string {
  const count = (n: number) => n.toLocaleString('en')
  if (tasks.train === 0) return 'no tasks: evaluation is held out by its seeds'
  if (tasks.eval === 0)
    return `no evaluation tasks: evaluation draws from the ${count(tasks.train)} of training. Set tasks.eval.`
  const set = `${count(tasks.eval)} evaluation tasks beside ${count(tasks.train)} for training`
  if (!fixed) return set
  return `${set}: a fixed set of ${count(tasks.eval)}, public, which an agent can learn by heart. Generate tasks from their number, and set tasks.eval to a million or more.`
}

/** What players without training reach on each level. */
function describeLevels(
  { description: { levels } }: SandboxedEnvironment,
  { random, oracle }: { random: Played | null; oracle: Played | null },
): Finding {
  if (levels === undefined) return { message: 'no levels' }
  const reached = (played: Played | null, level: number) =>
    played === null ? null : levelReturn(played, level, levels.length)
  const rows = levels.map((level, i) => ({ ...level, random: reached(random, i), oracle: reached(oracle, i) }))
  const shown = rows.map(({ name, ...returns }) => {
    const parts = Object.entries({ random: returns.random, oracle: returns.oracle }).filter(
      ([, value]) => value !== null,
    )
    return `${name}${parts.length === 0 ? '' : ` (${parts.map(([player, value]) => `${player} ${value}`).join(', ')})`}`
  })
  return { message: `${levels.length} levels, with mean returns: ${shown.join(', ')}`, levels: rows }
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

function checkBuiltins(environment: SandboxedEnvironment): string {
  const altered = environment.alteredIntrinsics()
  if (altered === '') return "the language's built-ins are as they were"
  throw new CheckFailure(
    `The scenario or one of its packages changes ${altered}. Leave built-ins alone: other code relies on them.`,
  )
}

/** Steps a second below which an author is warned. A million steps then take minutes without the learner. */
const SLOW_STEPS = 10_000

function measureSpeed(environment: SandboxedEnvironment): Finding {
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
  const message = `${rate} environment steps a second, sandboxed, on one core`
  const value = Math.round(perSecond)
  if (perSecond >= SLOW_STEPS) return { message, value }
  const slow = `less than ${SLOW_STEPS.toLocaleString('en')}, so training will take long`
  return {
    message: `${message}: ${slow}. See where the time goes with \`agentgym scenario profile\`.`,
    value,
    warning: true,
  }
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
    case 'scene_invalid':
      return 'render'
    default:
      return running
  }
}

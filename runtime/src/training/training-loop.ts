import type { AgentParent, ConfidenceMap, Evaluation, ProgressEvent, TrainingPlan } from '@agentgym/contract'
import { isBetter } from '../evaluation/summarize.ts'
import type { Learner } from '../learner/learner-types.ts'
import type { Algorithm, Iteration } from './algorithm.ts'
import { type Checkpoint, MAX_REPLAY_BYTES } from './checkpoint.ts'
import { isSampleDue } from './episode-samples.ts'
import type { EvaluationPurpose, HeldOutEvaluation, SampledEpisode } from './held-out-evaluations.ts'
import { isRankLost } from './joined-run.ts'
import { appendToCurve, type CurvePoint, EpisodeStatistics, type RunClock, startClock } from './run-statistics.ts'

/** Where a run stands: iterations done, and the environment steps that they took. */
export type RunPlace = { iteration: number; steps: number; seconds: number }

export type TrainingRun = {
  plan: TrainingPlan
  seed: number
  scenarioHash: string
  algorithm: Algorithm
  learner: Learner
  /** The weights that a KL penalty holds the policy to; null where there is none. */
  reference: Float32Array | null
  /**
   * Held-out evaluation of these weights; `clear` if it meets every criterion with a margin. `final` is published: it is
   * asked for once, of the weights that are kept.
   */
  evaluate(weights: Float32Array, purpose: EvaluationPurpose): Promise<HeldOutEvaluation>
  resume: Checkpoint | null
  /** The agent whose weights the learner starts with; null if they are random, or a resumed run's. */
  parent: AgentParent | null
  onProgress(event: ProgressEvent): void
  onEvaluation(evaluation: Evaluation, place: RunPlace, sampled: SampledEpisode | null): void
  /** Takes weights with which an episode is to be played: where no evaluation writes one down, at even distances. */
  onSampleDue?(weights: Float32Array, place: RunPlace): void
  onCheckpoint(checkpoint: Checkpoint): void
  /**
   * Environment steps at which the run is evaluated and ends with a checkpoint, as if it had been stopped; a run that ends
   * before pauses at its end. Null: it goes on to its end.
   */
  pauseAt: number | null
  /** True once a stop is requested: the loop then writes a checkpoint and ends. */
  stopped(): boolean
  /** Of several processes: what all do, from what each would. Left out: there is one. */
  agree?(own: NextSteps): Promise<NextSteps>
  /** Of several processes: takes a checkpoint once another is lost. */
  onSalvage?(checkpoint: Checkpoint): void
}

/** After an iteration. */
export type NextSteps = { stop: boolean; checkpoint: boolean }

export type TrainingResult = {
  weights: Float32Array
  evaluation: Evaluation
  /** Null: the agent is not calibrated. */
  confidence: ConfidenceMap | null
  /** Steps after which these weights were reached, and steps trained in all. */
  stepsOfWeights: number
  steps: number
  /** Iterations trained in all. */
  iterations: number
  seconds: number
  curve: CurvePoint[]
  /** The agent that the run started from, in whatever part of it; null: none. */
  parent: AgentParent | null
  /** Where training ended: a longer run continues from here. */
  checkpoint: Checkpoint
}

/** Iterations of an algorithm, with what happens between them. Null: stopped by the user, with a checkpoint. */
export async function runIterations(run: TrainingRun): Promise<TrainingResult | null> {
  const state = await startOrResume(run)
  try {
    return await iterate(run, state)
  } catch (error) {
    if (isRankLost(error)) run.onSalvage?.(await checkpointOf(run, state))
    throw error
  }
}

async function iterate(run: TrainingRun, state: RunState): Promise<TrainingResult | null> {
  const { algorithm, plan } = run
  const { settings } = plan
  while (state.steps < algorithm.stepsTotal) {
    const before = state.steps
    const iteration = await algorithm.iterate({ iteration: state.iteration, steps: before })
    state.iteration += 1
    state.steps += iteration.steps
    const ended = state.steps >= algorithm.stepsTotal

    for (const episode of iteration.episodes) state.statistics.add(episode)
    state.curve = appendToCurve(state.curve, { steps: state.steps, return_mean: state.statistics.returnMean })
    // An iteration that plays whole episodes may end a little beyond the steps of the plan.
    run.onProgress(
      progressEvent({ ...state, done: iteration, stepsTotal: Math.max(algorithm.stepsTotal, state.steps) }),
    )
    if (settings.evaluate_every === 0 && isSampleDue(before, state.steps, algorithm.stepsTotal))
      run.onSampleDue?.(run.learner.weights(), placeOf(state))

    if (run.pauseAt !== null && (ended || state.steps >= run.pauseAt)) {
      await evaluateWeights(run, state)
      run.onCheckpoint(await checkpointOf(run, state))
      return null
    }
    if (crosses(settings.evaluate_every, before, state.steps) && !ended) {
      const solved = await evaluateAndKeepBest(run, state)
      if (solved !== null) return finish(run, state, solved)
    }
    const own = { stop: run.stopped(), checkpoint: state.clock.secondsSinceMark() > 15 }
    const next = (await run.agree?.(own)) ?? own
    if (next.stop) {
      run.onCheckpoint(await checkpointOf(run, state))
      return null
    }
    if (!ended && (crosses(settings.checkpoint_every, before, state.steps) || next.checkpoint)) {
      run.onCheckpoint(await checkpointOf(run, state))
      state.clock.mark()
    }
  }
  return finish(run, state, await chooseWeights(run, state))
}

/** What the loop changes, besides what the learner and the environments hold. */
type RunState = {
  /** Updates done, and the environment steps that they learned from. */
  iteration: number
  steps: number
  statistics: EpisodeStatistics
  clock: RunClock
  curve: CurvePoint[]
  best: Checkpoint['best']
}

async function startOrResume(run: TrainingRun): Promise<RunState> {
  const { resume, learner, algorithm } = run
  const statistics = new EpisodeStatistics()
  if (resume === null) {
    const state = { iteration: 0, steps: 0, statistics, clock: startClock(0), curve: [], best: null }
    return run.parent === null ? state : { ...state, best: await evaluateParent(run, state) }
  }
  learner.setWeights(resume.weights)
  learner.setState(resume.learnerState)
  await algorithm.restore(resume.episodes)
  statistics.restore(resume.recent, resume.episodesTotal)
  const { iteration, steps, seconds, curve, best } = resume
  return { iteration, steps, statistics, clock: startClock(seconds), curve, best }
}

/** The parent's weights are the first to beat: what a run publishes is no worse, on the episodes that select weights. */
async function evaluateParent(run: TrainingRun, state: RunState): Promise<Checkpoint['best']> {
  const { weights, evaluation } = await evaluateWeights(run, state)
  return { weights, evaluation, steps: 0 }
}

async function checkpointOf(run: TrainingRun, state: RunState): Promise<Checkpoint> {
  const { scenarioHash, seed, plan, learner, algorithm, reference } = run
  const { iteration, steps, statistics, clock, curve, best } = state
  const episodes = await algorithm.snapshot()
  const replay = learner.remembered().bytes <= MAX_REPLAY_BYTES
  return {
    ...{ scenarioHash, seed, plan, iteration, steps, curve, best, episodes, reference },
    parent: parentOf(run) ?? undefined,
    seconds: clock.seconds(),
    episodesTotal: statistics.total,
    recent: statistics.recent,
    weights: learner.weights(),
    learnerState: learner.state({ replay }),
    ...(replay ? {} : { dropped: ['replay_buffer'] }),
  }
}

function parentOf({ parent, resume }: TrainingRun): AgentParent | null {
  return resume?.parent ?? parent
}

type Chosen = { weights: Float32Array; steps: number }

/** Evaluates the weights as they are; returns them if they end the run: success on two sets of episodes. */
async function evaluateAndKeepBest(run: TrainingRun, state: RunState): Promise<Chosen | null> {
  const { steps } = state
  const { weights, evaluation } = await evaluateWeights(run, state)
  if (state.best === null || !isBetter(state.best.evaluation, evaluation)) state.best = { weights, evaluation, steps }
  if (!run.plan.settings.stop_at_success || evaluation.success.ok !== true) return null
  const confirmed = await run.evaluate(weights, 'confirmation')
  return confirmed.clear === true ? { weights, steps } : null
}

async function evaluateWeights({ learner, evaluate, onEvaluation }: TrainingRun, state: RunState) {
  const weights = learner.weights()
  const { evaluation, sampled } = await evaluate(weights, 'selection')
  onEvaluation(evaluation, placeOf(state), sampled)
  return { weights, evaluation }
}

function placeOf({ iteration, steps, clock }: RunState): RunPlace {
  return { iteration, steps, seconds: clock.seconds() }
}

/** The last weights, or earlier ones that an evaluation on the way found better. */
async function chooseWeights(run: TrainingRun, state: RunState): Promise<Chosen> {
  const { best, steps } = state
  if (best === null) return { weights: run.learner.weights(), steps }
  const { weights, evaluation } = await evaluateWeights(run, state)
  return isBetter(best.evaluation, evaluation) ? best : { weights, steps }
}

async function finish(run: TrainingRun, state: RunState, chosen: Chosen): Promise<TrainingResult> {
  const checkpoint = await checkpointOf(run, state)
  const { evaluation, confidence } = await run.evaluate(chosen.weights, 'final')
  return {
    weights: chosen.weights,
    evaluation,
    confidence,
    stepsOfWeights: chosen.steps,
    steps: state.steps,
    iterations: state.iteration,
    seconds: state.clock.seconds(),
    curve: state.curve,
    parent: parentOf(run),
    checkpoint,
  }
}

/** Whether a multiple of `every` lies beyond `before`, up to `steps`. */
function crosses(every: number, before: number, steps: number): boolean {
  return every > 0 && Math.floor(steps / every) > Math.floor(before / every)
}

/** The line that a training iteration reports. */
function progressEvent(now: {
  iteration: number
  steps: number
  stepsTotal: number
  clock: RunClock
  statistics: EpisodeStatistics
  done: Iteration
}): ProgressEvent {
  const { statistics, steps, done } = now
  const { metrics } = done
  const seconds = now.clock.seconds()
  return {
    event: 'progress',
    iteration: now.iteration,
    steps,
    steps_total: now.stepsTotal,
    steps_per_second: seconds > 0 ? steps / seconds : 0,
    seconds,
    collect_seconds: done.collectSeconds,
    update_seconds: done.updateSeconds,
    episodes: done.episodes.length,
    episodes_total: statistics.total,
    return_mean: statistics.returnMean,
    length_mean: statistics.lengthMean,
    metrics: statistics.metricMeans,
    learner: {
      policy_loss: metrics.policyLoss,
      value_loss: metrics.valueLoss,
      entropy: metrics.entropy,
      approximate_kl: metrics.approximateKl,
      clip_fraction: metrics.clipFraction,
      explained_variance: metrics.explainedVariance,
      kl_to_reference: metrics.klToReference,
      zero_variance_groups: metrics.zeroVarianceGroups,
      ...(metrics.valueMean === null ? {} : { value_mean: metrics.valueMean }),
      ...(metrics.entropyCoefficient === null ? {} : { entropy_coefficient: metrics.entropyCoefficient }),
      ...(done.explorationRate === undefined ? {} : { exploration_rate: done.explorationRate }),
      gradient_norm: metrics.gradientNorm,
      learning_rate: done.learningRate,
    },
  }
}

import type { Evaluation, PpoSettings, ProgressEvent } from '@agentgym/contract'
import { isBetter } from '../evaluation/success.ts'
import type { Learner, PpoUpdate, RolloutSegment, UpdateMetrics } from '../learner/learner-types.ts'
import type { Checkpoint, EpisodeSnapshot } from './checkpoint.ts'
import { type EpisodeResult, EpisodeStatistics } from './episode-statistics.ts'
import { appendToCurve, type CurvePoint } from './learning-curve.ts'

/** What the loop needs of the rollout pool. */
export type Collector = {
  /** Plays `rollout_steps` steps in every environment; `startStep` is the run's step number of the first of them. */
  collect(weights: Float32Array, startStep: number): Promise<{ segments: RolloutSegment[]; episodes: EpisodeResult[] }>
  snapshot(): Promise<EpisodeSnapshot[]>
  restore(episodes: EpisodeSnapshot[]): Promise<void>
}

export type PpoRun = {
  settings: PpoSettings
  seed: number
  scenarioHash: string
  collector: Collector
  learner: Learner
  /** Held-out evaluation of these weights; `purpose` keeps the episodes that choose apart from those that are sold. */
  evaluate(weights: Float32Array, purpose: 'selection' | 'final'): Promise<Evaluation>
  resume: Checkpoint | null
  onProgress(event: ProgressEvent): void
  onEvaluation(steps: number, evaluation: Evaluation): void
  onCheckpoint(checkpoint: Checkpoint, steps: number): void
  /** True once the user asked to stop: the loop then writes a checkpoint and ends. */
  stopped(): boolean
}

export type PpoResult = {
  weights: Float32Array
  evaluation: Evaluation
  /** Steps after which these weights were reached, and steps trained in all. */
  stepsOfWeights: number
  steps: number
  seconds: number
  curve: CurvePoint[]
}

/** Whole rollouts only, as CleanRL does; a run shorter than one rollout shortens the rollout instead. */
export function planRollouts(settings: PpoSettings): { rolloutSteps: number; batch: number; iterations: number } {
  const rolloutSteps = Math.min(settings.rollout_steps, Math.max(1, Math.floor(settings.steps / settings.environments)))
  const batch = rolloutSteps * settings.environments
  return { rolloutSteps, batch, iterations: Math.max(1, Math.floor(settings.steps / batch)) }
}

/** Proximal Policy Optimisation (Schulman et al. 2017), in the shape of CleanRL's ppo.py. Null: stopped by the user. */
export async function trainPpo(run: PpoRun): Promise<PpoResult | null> {
  const { settings, collector, learner } = run
  const { batch, iterations } = planRollouts(settings)
  const statistics = new EpisodeStatistics()
  const clock = startClock(run.resume?.seconds ?? 0)
  let curve: CurvePoint[] = []
  let best: Checkpoint['best'] = null
  let iteration = 0

  if (run.resume !== null) {
    const { resume } = run
    learner.setWeights(resume.weights)
    learner.setState(resume.learnerState)
    await collector.restore(resume.episodes)
    statistics.restore(resume.recent, resume.episodesTotal)
    ;({ curve, best, iteration } = resume)
  }

  const checkpoint = async (): Promise<void> => {
    const episodes = await collector.snapshot()
    const state = {
      weights: learner.weights(),
      learnerState: learner.state(),
      episodes,
      recent: statistics.recent,
      episodesTotal: statistics.total,
    }
    run.onCheckpoint(
      {
        scenarioHash: run.scenarioHash,
        seed: run.seed,
        settings,
        iteration,
        seconds: clock.seconds(),
        curve,
        best,
        ...state,
      },
      iteration * batch,
    )
  }
  const finish = async (
    weights: Float32Array,
    stepsOfWeights: number,
    evaluation?: Evaluation,
  ): Promise<PpoResult> => ({
    weights,
    evaluation: evaluation ?? (await run.evaluate(weights, 'final')),
    stepsOfWeights,
    steps: iteration * batch,
    seconds: clock.seconds(),
    curve,
  })

  while (iteration < iterations) {
    // Annealing: from the setting down to (almost) nothing over the whole run, also when it was interrupted.
    const remaining = 1 - iteration / iterations
    const update = updateOf(settings, remaining, updateSeed(run.seed, iteration))

    const rollout = await collector.collect(learner.weights(), iteration * batch)
    const losses = await learner.update(rollout.segments, update)
    iteration += 1
    const steps = iteration * batch

    for (const episode of rollout.episodes) statistics.add(episode)
    curve = appendToCurve(curve, { steps, return_mean: statistics.returnMean })
    run.onProgress(
      progressEvent({ steps, iterations, batch, clock, statistics, ended: rollout.episodes.length, losses, update }),
    )

    if (crosses(settings.evaluate_every, steps, batch) && iteration < iterations) {
      const weights = learner.weights()
      const evaluation = await run.evaluate(weights, 'selection')
      run.onEvaluation(steps, evaluation)
      if (best === null || !isBetter(best.evaluation, evaluation)) best = { weights, evaluation, steps }
      if (settings.stop_at_success && evaluation.success.ok === true) {
        // Chosen on one set of episodes, confirmed on another: luck on the first does not end the run.
        const confirmed = await run.evaluate(weights, 'final')
        if (confirmed.success.ok === true) return finish(weights, steps, confirmed)
      }
    }
    if (run.stopped()) {
      await checkpoint()
      return null
    }
    if (iteration < iterations && (crosses(settings.checkpoint_every, steps, batch) || clock.secondsSinceMark() > 15)) {
      await checkpoint()
      clock.mark()
    }
  }

  const weights = learner.weights()
  if (best !== null) {
    const evaluation = await run.evaluate(weights, 'selection')
    run.onEvaluation(iteration * batch, evaluation)
    if (isBetter(best.evaluation, evaluation)) return finish(best.weights, best.steps)
  }
  return finish(weights, iteration * batch)
}

function updateOf(settings: PpoSettings, remaining: number, seed: number): PpoUpdate {
  return {
    gamma: settings.gamma,
    gaeLambda: settings.gae_lambda,
    epochs: settings.epochs,
    minibatchSize: settings.minibatch_size,
    learningRate: settings.learning_rate * (settings.learning_rate_schedule === 'linear' ? remaining : 1),
    clipRange: settings.clip_range * (settings.clip_range_schedule === 'linear' ? remaining : 1),
    clipRangeValue: settings.clip_range_value,
    entropyCoefficient: settings.entropy_coefficient,
    valueCoefficient: settings.value_coefficient,
    maxGradientNorm: settings.max_gradient_norm,
    targetKl: settings.target_kl,
    normalizeAdvantage: settings.normalize_advantage,
    normalizeObservation: settings.normalize_observation,
    normalizeReward: settings.normalize_reward,
    seed,
  }
}

/** A seed of its own for every update, from the run's seed and the update's number alone (murmur3's finaliser). */
function updateSeed(seed: number, iteration: number): number {
  let h = (seed ^ Math.imul(iteration + 1, 0x9e3779b9)) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Whether a multiple of `every` lies within the last `batch` steps. */
function crosses(every: number, steps: number, batch: number): boolean {
  return every > 0 && Math.floor(steps / every) > Math.floor((steps - batch) / every)
}

type Clock = ReturnType<typeof startClock>

function startClock(secondsBefore: number) {
  const started = performance.now()
  let marked = started
  return {
    /** Training time of the run, earlier parts of a resumed one included. */
    seconds: () => secondsBefore + (performance.now() - started) / 1000,
    mark: () => {
      marked = performance.now()
    },
    secondsSinceMark: () => (performance.now() - marked) / 1000,
  }
}

function progressEvent(now: {
  steps: number
  iterations: number
  batch: number
  clock: Clock
  statistics: EpisodeStatistics
  ended: number
  losses: UpdateMetrics
  update: PpoUpdate
}): ProgressEvent {
  const { statistics, losses, steps } = now
  const seconds = now.clock.seconds()
  return {
    event: 'progress',
    steps,
    steps_total: now.iterations * now.batch,
    steps_per_second: seconds > 0 ? steps / seconds : 0,
    seconds,
    episodes: now.ended,
    episodes_total: statistics.total,
    return_mean: statistics.returnMean,
    length_mean: statistics.lengthMean,
    metrics: statistics.metricMeans,
    learner: {
      policy_loss: losses.policyLoss,
      value_loss: losses.valueLoss,
      entropy: losses.entropy,
      approximate_kl: losses.approximateKl,
      clip_fraction: losses.clipFraction,
      explained_variance: losses.explainedVariance,
      gradient_norm: losses.gradientNorm,
      learning_rate: now.update.learningRate,
    },
  }
}

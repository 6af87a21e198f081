import type { Evaluation, PpoSettings, ProgressEvent } from '@agentgym/contract'
import { isBetter } from '../evaluation/success.ts'
import type { Learner, RolloutSegment } from '../learner/learner-types.ts'
import type { Checkpoint, EpisodeSnapshot } from './checkpoint.ts'
import { appendToCurve, type CurvePoint } from './curve.ts'
import { type EpisodeResult, EpisodeStatistics } from './episode-statistics.ts'
import { updateOf, updateSeed } from './ppo-update.ts'
import { progressEvent } from './progress-event.ts'
import { type RunClock, startClock } from './run-clock.ts'

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
  const state = await startOrResume(run)

  while (state.iteration < iterations) {
    // Annealing: from the setting down to (almost) nothing over the whole run, also when it was interrupted.
    const remaining = 1 - state.iteration / iterations
    const update = updateOf(settings, remaining, updateSeed(run.seed, state.iteration))

    const rollout = await collector.collect(learner.weights(), state.iteration * batch)
    const losses = await learner.update(rollout.segments, update)
    state.iteration += 1
    const steps = state.iteration * batch
    const ended = state.iteration === iterations

    for (const episode of rollout.episodes) state.statistics.add(episode)
    state.curve = appendToCurve(state.curve, { steps, return_mean: state.statistics.returnMean })
    run.onProgress(
      progressEvent({
        ...state,
        steps,
        stepsTotal: iterations * batch,
        ended: rollout.episodes.length,
        losses,
        update,
      }),
    )

    if (crosses(settings.evaluate_every, steps, batch) && !ended) {
      const solved = await evaluateAndKeepBest(run, state, steps)
      if (solved !== null) return finish(run, state, batch, solved)
    }
    if (run.stopped()) {
      await saveCheckpoint(run, state, steps)
      return null
    }
    if (!ended && (crosses(settings.checkpoint_every, steps, batch) || state.clock.secondsSinceMark() > 15)) {
      await saveCheckpoint(run, state, steps)
      state.clock.mark()
    }
  }
  return finish(run, state, batch, await chooseWeights(run, state, state.iteration * batch))
}

/** What the loop changes, besides what the learner and the environments hold. */
type RunState = {
  /** Updates done. */
  iteration: number
  statistics: EpisodeStatistics
  clock: RunClock
  curve: CurvePoint[]
  best: Checkpoint['best']
}

async function startOrResume({ resume, learner, collector }: PpoRun): Promise<RunState> {
  const statistics = new EpisodeStatistics()
  if (resume === null) return { iteration: 0, statistics, clock: startClock(0), curve: [], best: null }
  learner.setWeights(resume.weights)
  learner.setState(resume.learnerState)
  await collector.restore(resume.episodes)
  statistics.restore(resume.recent, resume.episodesTotal)
  const { iteration, seconds, curve, best } = resume
  return { iteration, statistics, clock: startClock(seconds), curve, best }
}

async function saveCheckpoint(run: PpoRun, state: RunState, steps: number): Promise<void> {
  const { scenarioHash, seed, settings, learner, collector } = run
  const { iteration, statistics, clock, curve, best } = state
  const episodes = await collector.snapshot()
  run.onCheckpoint(
    {
      ...{ scenarioHash, seed, settings, iteration, curve, best, episodes },
      seconds: clock.seconds(),
      episodesTotal: statistics.total,
      recent: statistics.recent,
      weights: learner.weights(),
      learnerState: learner.state(),
    },
    steps,
  )
}

type Chosen = { weights: Float32Array; steps: number; evaluation: Evaluation | null }

/** Evaluates the weights as they are; gives them back where they end the run: success, seen on two sets of episodes. */
async function evaluateAndKeepBest(run: PpoRun, state: RunState, steps: number): Promise<Chosen | null> {
  const weights = run.learner.weights()
  const evaluation = await run.evaluate(weights, 'selection')
  run.onEvaluation(steps, evaluation)
  if (state.best === null || !isBetter(state.best.evaluation, evaluation)) state.best = { weights, evaluation, steps }
  if (!run.settings.stop_at_success || evaluation.success.ok !== true) return null
  const confirmed = await run.evaluate(weights, 'final')
  return confirmed.success.ok === true ? { weights, steps, evaluation: confirmed } : null
}

/** The last weights, or earlier ones that an evaluation on the way found better. */
async function chooseWeights(
  { learner, evaluate, onEvaluation }: PpoRun,
  { best }: RunState,
  steps: number,
): Promise<Chosen> {
  const last = { weights: learner.weights(), steps, evaluation: null }
  if (best === null) return last
  const evaluation = await evaluate(last.weights, 'selection')
  onEvaluation(steps, evaluation)
  return isBetter(best.evaluation, evaluation) ? { ...best, evaluation: null } : last
}

async function finish(run: PpoRun, state: RunState, batch: number, chosen: Chosen): Promise<PpoResult> {
  return {
    weights: chosen.weights,
    evaluation: chosen.evaluation ?? (await run.evaluate(chosen.weights, 'final')),
    stepsOfWeights: chosen.steps,
    steps: state.iteration * batch,
    seconds: state.clock.seconds(),
    curve: state.curve,
  }
}

/** Whether a multiple of `every` lies within the last `batch` steps. */
function crosses(every: number, steps: number, batch: number): boolean {
  return every > 0 && Math.floor(steps / every) > Math.floor((steps - batch) / every)
}

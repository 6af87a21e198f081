import { Evaluator } from '../evaluation/evaluator.ts'
import { createLearner } from '../learner/learner.ts'
import { loadAddon } from '../learner/native-learner.ts'
import { exportModel } from '../policy/policy-graph.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { RolloutPool } from '../rollout/rollout-pool.ts'
import { type JobChannel, serveJob } from '../sandbox/job-process.ts'
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts'
import { planRollouts, trainPpo } from './ppo.ts'
import type { TrainingJob, TrainingMessage, TrainingOutcome } from './training-job.ts'

/**
 * Held-out episodes that choose the best weights and end training early are not those of the final evaluation, whose
 * seed is 0 unless the user says otherwise: a figure that was selected for would flatter.
 */
const SELECTION_SEED = 0x5e1ec7
const FINAL_SEED = 0

/** Progress lines a second at most, beyond the first ten. */
const PROGRESS_INTERVAL_MS = 50

serveJob<TrainingJob, TrainingOutcome>(async (job, channel) => {
  const { settings, seed, scenario, success } = job
  loadAddon()
  const pool = await RolloutPool.spawn(settings.rollout_workers, channel.watchBoard)
  const evaluator = await Evaluator.spawn((board) => channel.watchBoard(settings.rollout_workers, board))
  channel.lockDown()

  const { rolloutSteps } = planRollouts(settings)
  const { environments, execution_provider } = settings
  const description = await pool.open({ scenario, environments, seed, limits: channel.limits })
  const policy = buildPolicySpec(description, {
    hidden: settings.hidden,
    activation: settings.activation,
    embedding: settings.embedding,
    normalizeObservation: settings.normalize_observation,
  })
  await pool.configure({ spec: policy, rolloutSteps, executionProvider: execution_provider })
  const learner = createLearner(policy, {
    seed,
    device: execution_provider,
    threads: settings.learner_threads,
    path: job.learnerPath,
  })

  const result = await trainPpo({
    settings,
    seed,
    scenarioHash: scenario.identity.hash,
    collector: pool,
    learner,
    evaluate: (weights, purpose) => {
      const model = exportModel(policy, weights)
      const evaluationSeed = purpose === 'final' ? FINAL_SEED : SELECTION_SEED
      const episodes = settings.evaluation_episodes
      return evaluator.evaluate({
        scenario,
        success,
        policy,
        model,
        episodes,
        seed: evaluationSeed,
        limits: channel.limits,
      })
    },
    resume: job.checkpoint === null ? null : decodeCheckpoint(job.checkpoint, 'given'),
    ...messages(channel),
    stopped: channel.stopRequested,
  })
  if (result === null) return null
  return { description, policy, model: exportModel(policy, result.weights), ...result }
})

function messages(channel: JobChannel) {
  const send = (message: TrainingMessage) => void channel.send(message)
  let sent = 0
  let last = 0
  return {
    onProgress: (event: Extract<TrainingMessage, { type: 'progress' }>['event']) => {
      channel.progress()
      const now = performance.now()
      if (sent >= 10 && now - last < PROGRESS_INTERVAL_MS && event.steps < event.steps_total) return
      sent += 1
      last = now
      send({ type: 'progress', event })
    },
    onEvaluation: (steps: number, evaluation: Extract<TrainingMessage, { type: 'evaluation' }>['evaluation']) =>
      send({ type: 'evaluation', steps, evaluation }),
    onCheckpoint: (checkpoint: Parameters<typeof encodeCheckpoint>[0], steps: number) =>
      send({ type: 'checkpoint', steps, bytes: encodeCheckpoint(checkpoint) }),
  }
}

import { Evaluator } from '../evaluation/evaluator.ts'
import { createLearner } from '../learner/learner.ts'
import type { Learner } from '../learner/learner-types.ts'
import { loadAddon } from '../learner/native-learner.ts'
import { exportModel } from '../policy/policy-graph.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { RolloutPool } from '../rollout/rollout-pool.ts'
import { type JobChannel, serveJob } from '../sandbox/job-process.ts'
import type { Algorithm, RolloutObserver } from './algorithm.ts'
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts'
import { assertContinues } from './continue-run.ts'
import { planRollouts, ppo } from './ppo.ts'
import { environmentsOf } from './settings.ts'
import type { TrainingJob, TrainingMessage, TrainingOutcome } from './training-job.ts'
import { type RunPlace, runIterations, type TrainingRun } from './training-loop.ts'
import { TrajectorySampler } from './trajectory-sampler.ts'

/**
 * Held-out episodes that choose the best weights and end training early are not those of the final evaluation, whose
 * seed is 0 unless the user says otherwise: a figure that was selected for would flatter.
 */
const SELECTION_SEED = 0x5e1ec7
const FINAL_SEED = 0

/** Milliseconds between progress lines, beyond the first ten. */
const PROGRESS_INTERVAL_MS = 50

serveJob<TrainingJob, TrainingOutcome>(async (job, channel) => {
  const { plan, seed, scenario, success } = job
  const { settings } = plan
  loadAddon()
  const pool = await RolloutPool.spawn(settings.rollout_workers, channel.watchBoard)
  const evaluator = await Evaluator.spawn((board) => channel.watchBoard(settings.rollout_workers, board))
  channel.lockDown()

  const resume = readCheckpoint(job)
  const description = await pool.open({ scenario, environments: environmentsOf(plan), seed, limits: channel.limits })
  const policy = buildPolicySpec(description, {
    hidden: settings.hidden,
    activation: settings.activation,
    embedding: settings.embedding,
    normalizeObservation: settings.normalize_observation,
  })
  const learner = createLearner(policy, {
    seed,
    device: settings.execution_provider,
    threads: settings.learner_threads,
    path: job.learnerPath,
  })
  const send = (message: TrainingMessage) => void channel.send(message)
  const result = await runIterations({
    ...{ plan, seed, learner, resume },
    scenarioHash: scenario.identity.hash,
    algorithm: await algorithmOf(job, { pool, policy, learner, observe: trajectories(job, resume, send) }),
    reference: null,
    evaluate: (weights, purpose) =>
      evaluator.evaluate({
        ...{ scenario, success, policy },
        model: exportModel(policy, weights),
        ownModel: true,
        episodes: settings.evaluation_episodes,
        seed: purpose === 'final' ? FINAL_SEED : SELECTION_SEED,
        limits: channel.limits,
      }),
    onProgress: progress(job, channel, send),
    onEvaluation: (evaluation, place) => send({ type: 'evaluation', evaluation, place }),
    onCheckpoint: (checkpoint) =>
      send({ type: 'checkpoint', bytes: encodeCheckpoint(checkpoint), place: placeOf(checkpoint) }),
    stopped: channel.stopRequested,
  })
  if (result === null) return null
  return { plan, seed, description, policy, model: exportModel(policy, result.weights), ...result }
})

function readCheckpoint({ checkpoint, scenario, plan, seed }: TrainingJob): Checkpoint | null {
  if (checkpoint === null) return null
  const decoded = decodeCheckpoint(checkpoint, 'given')
  assertContinues(decoded, { scenario: scenario.identity, plan, seed }, { path: 'given', anyMachine: true })
  return decoded
}

type AlgorithmParts = {
  pool: RolloutPool
  policy: ReturnType<typeof buildPolicySpec>
  learner: Learner
  observe: RolloutObserver
}

async function algorithmOf({ plan, seed }: TrainingJob, parts: AlgorithmParts): Promise<Algorithm> {
  const { pool, policy, learner, observe } = parts
  if (plan.algorithm === 'grpo') throw new Error('GRPO comes next')
  const { settings } = plan
  const { rolloutSteps } = planRollouts(settings)
  await pool.configure({ spec: policy, rolloutSteps, executionProvider: settings.execution_provider })
  return ppo({ settings, seed, collector: pool, learner, observe })
}

function trajectories(
  { trajectories, plan }: TrainingJob,
  resume: Checkpoint | null,
  send: (message: TrainingMessage) => void,
): RolloutObserver {
  if (trajectories === null) return () => {}
  const underWay = plan.algorithm === 'ppo' && (resume?.episodes[0].actions.length ?? 0) > 0
  const sampler = new TrajectorySampler(trajectories.every, !underWay, (trajectory) =>
    send({ type: 'trajectory', trajectory }),
  )
  return (segments, iteration) => sampler.observe(segments, iteration)
}

function progress(
  { everyIteration }: TrainingJob,
  channel: JobChannel,
  send: (message: TrainingMessage) => void,
): TrainingRun['onProgress'] {
  let sent = 0
  let last = 0
  return (event) => {
    channel.progress()
    const now = performance.now()
    const soon = sent >= 10 && now - last < PROGRESS_INTERVAL_MS && event.steps < event.steps_total
    if (soon && !everyIteration) return
    sent += 1
    last = now
    send({ type: 'progress', event })
  }
}

function placeOf({ iteration, steps, seconds }: Checkpoint): RunPlace {
  return { iteration, steps, seconds }
}

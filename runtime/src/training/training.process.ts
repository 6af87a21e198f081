import {
  type EncoderSet,
  type EncodingCounts,
  type ExecutionProvider,
  LOG_STD_RANGE,
  obtainEncoders,
} from '@agentgym/agent/engine'
import {
  AgentGymError,
  isOffPolicy,
  type PolicySpec,
  type ProgressEvent,
  type ScenarioLogs,
  type TrainingPlan,
} from '@agentgym/contract'
import { Evaluator } from '../evaluation/evaluator.ts'
import { LinkThread } from '../external/environment-link.ts'
import { isExternal } from '../external/external-source.ts'
import { createLearner, loadPath } from '../learner/learner.ts'
import type { Learner } from '../learner/learner-types.ts'
import { Ranks } from '../learner/ranks.ts'
import { fixedStatistics } from '../policy/fixed-statistics.ts'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { exportModel } from '../policy/policy-graph.ts'
import { loadProvider } from '../policy/policy-session.ts'
import { RolloutPool } from '../rollout/rollout-pool.ts'
import { type JobChannel, serveJob } from '../sandbox/job-process.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import { descriptors } from '../sandbox/walls.ts'
import { a2c } from './a2c.ts'
import type { Algorithm, RolloutObserver } from './algorithm.ts'
import { assertContinues, type Checkpoint, decodeCheckpoint, encodeCheckpoint, settingsOf } from './checkpoint.ts'
import { type Available, chooseDevices } from './choose-devices.ts'
import { chooseDefaults, MEASURED_STEPS, type Measurement, measureRewards, withChosen } from './chosen-defaults.ts'
import { dqn } from './dqn.ts'
import { EpisodeSamples } from './episode-samples.ts'
import { grpo } from './grpo.ts'
import { evaluateHeldOut, type HeldOutEpisodes, sampleHeldOut } from './held-out-evaluations.ts'
import { type JoinedRun, joinRun } from './joined-run.ts'
import { policyOfPlan } from './policy-of-plan.ts'
import { planRollouts, ppo } from './ppo.ts'
import { payWatch } from './processes-pay.ts'
import { sac } from './sac.ts'
import { environmentsOf } from './settings.ts'
import type { TrainingJob, TrainingMessage, TrainingOutcome } from './training-job.ts'
import { type RunPlace, runIterations, type TrainingRun } from './training-loop.ts'
import { TrajectorySampler } from './trajectory-sampler.ts'
import { assertStartsFrom } from './warm-start.ts'

/** Milliseconds between progress lines, beyond the first ten. */
const PROGRESS_INTERVAL_MS = 50

serveJob<TrainingJob, TrainingOutcome>(async (job, channel) => {
  const { seed, scenario, success } = job
  const { settings } = job.plan
  // Of several processes the first of each machine speaks for all.
  const speaks = job.ranks === null || job.ranks.place.local === 0
  const send = (message: TrainingMessage) => void (speaks && channel.send(message))
  const joined = joinOthers(job, send)
  const links = isExternal(scenario) ? await LinkThread.spawn() : null
  const connect = links === null ? undefined : () => links.connect()
  const threads = Promise.all([
    RolloutPool.spawn(settings.rollout_workers, channel.watchBoard, logReader(job, send)),
    Evaluator.spawn((board) => channel.watchBoard(settings.rollout_workers, board), connect),
  ])
  // While the threads start.
  const available = loadDevices(job)
  const [pool, evaluator] = await threads
  channel.lockDown()

  const resume = readCheckpoint(job)
  const groupSize = job.plan.algorithm === 'grpo' ? job.plan.settings.group_size : undefined
  const { environments, firstEnvironment } = ownEnvironments(job)
  const description = await pool.open({
    ...{ scenario, connect, environments, firstEnvironment, groupSize, seed, limits: channel.limits },
    keepLogs: job.logs,
  })
  const policy = policyOfPlan(job.plan, description, resume === null ? settings : settingsOf(resume.plan))
  const devices = chooseDevices(job.plan, policy, available)
  for (const message of devices.reasons) {
    send({ type: 'notice', notice: { message, hint: 'Choose with learner_device and rollout_provider.' } })
  }
  const learner = createLearner(policy, {
    seed,
    device: devices.learner,
    threads: settings.learner_threads,
    path: job.learnerPath,
    statistics: policy.normalizeObservation ? fixedStatistics(policy, description.observation) : undefined,
    ranks: joined?.ranks.native,
  })
  if (resume === null && job.start !== null) beginFrom(job.start, policy, learner)
  noticeMissingMemory(job.plan, description, policy, send)
  const encoders = await obtainEncoders(policy, channel.encoder)
  const parts = { pool, policy, learner, encoders, executionProvider: devices.rollouts, joined }
  const plan = await completedPlan(job, resume, description, { measure: () => measure(job.plan, parts), send })
  const { initial_log_std } = plan.settings
  if (resume === null && job.start === null && initial_log_std !== null) {
    setInitialDeviations(policy, learner, initial_log_std)
  }
  const rolloutSteps = plan.algorithm === 'grpo' ? description.maxSteps : planRollouts(plan.settings).rolloutSteps
  await pool.configure({ spec: policy, rolloutSteps, executionProvider: devices.rollouts, encoders })
  const observe = trajectories(job, policy, resume, send)
  const heldOut = {
    ...{ evaluator, scenario, success, policy, encoders, description, settings },
    ...{ limits: channel.limits, sample: job.sample },
  }
  const samples = episodeSamples(job, heldOut, send)
  const algorithm = algorithmOf(plan, seed, policy, { collector: pool, learner, observe })
  const result = await runIterations({
    ...{ plan, seed, learner, resume },
    parent: job.start?.parent ?? null,
    scenarioHash: scenario.identity.hash,
    algorithm: joined?.algorithm(algorithm) ?? algorithm,
    reference: referenceOf(job, resume, learner),
    evaluate: (weights, purpose) => {
      const evaluate = () => samples.settled().then(() => evaluateHeldOut(heldOut, weights, purpose))
      return joined?.ranks.fromFirst(evaluate) ?? evaluate()
    },
    onProgress: progress(job, channel, (event) =>
      send({ type: 'progress', event: { ...event, ...textEncoding(pool.encoding) } }),
    ),
    onEvaluation: (evaluation, place, sampled) => send({ type: 'evaluation', evaluation, place, sampled }),
    onSampleDue: (weights, place) => samples.add(weights, place),
    onCheckpoint: (checkpoint) => void (speaks && send(checkpointMessage(checkpoint))),
    ...{ pauseAt: job.pauseAt, stopped: channel.stopRequested, agree: joined?.agree },
    onSalvage: (checkpoint) => void channel.send({ ...checkpointMessage(checkpoint), salvaged: true }),
  })
  await samples.settled()
  if (result === null || !speaks) return null
  const checkpoint = encodeCheckpoint(result.checkpoint)
  return { plan, seed, description, policy, model: exportModel(policy, result.weights), ...result, checkpoint }
})

/** Played by the evaluator, which plays one at a time; of several processes by the first. */
function episodeSamples(
  { ranks }: TrainingJob,
  heldOut: HeldOutEpisodes,
  send: (message: TrainingMessage) => void,
): EpisodeSamples<RunPlace> {
  const isFirst = ranks === null || ranks.place.rank === 0
  return new EpisodeSamples(
    async (weights) => (isFirst ? sampleHeldOut(heldOut, weights) : null),
    (sampled, place) => send({ type: 'sample', sampled, place }),
  )
}

/** Loads what the plan's devices need. With `auto`, says what there is; a GPU that cannot be used is none. */
function loadDevices({ plan: { settings }, learnerPath, gpu }: TrainingJob): Available {
  const { learner_device: device, rollout_provider: provider } = settings
  loadPath(device, learnerPath)
  if (provider === 'cuda') loadProvider(provider)
  return {
    gpu,
    learner: gpu && device === 'auto' && isUsable(() => loadPath('cuda')),
    rollouts: gpu && provider === 'auto' && isUsable(() => loadProvider('cuda')),
  }
}

function isUsable(load: () => void): boolean {
  try {
    load()
    return true
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'execution_provider_unavailable') return false
    throw error
  }
}

function readCheckpoint({ checkpoint, scenario, plan, seed }: TrainingJob): Checkpoint | null {
  if (checkpoint === null) return null
  const decoded = decodeCheckpoint(checkpoint, 'given')
  assertContinues(decoded, { scenario: scenario.identity, plan, seed }, 'given')
  return decoded
}

/** A new run begins with an agent's weights instead of random ones. */
function beginFrom(start: NonNullable<TrainingJob['start']>, policy: PolicySpec, learner: Learner): void {
  assertStartsFrom(start.policy, policy)
  learner.startFrom(start.weights, start.observations)
}

/** A resumed run has chosen already. */
async function completedPlan(
  { plan }: TrainingJob,
  resume: Checkpoint | null,
  description: ScenarioDescription,
  { measure, send }: { measure: () => Promise<Measurement>; send: (message: TrainingMessage) => void },
): Promise<TrainingPlan> {
  if (resume !== null) return withChosen(plan, resume.plan.settings)
  const defaults = await chooseDefaults(plan, description, measure)
  if (defaults === null) return plan
  send({ type: 'defaults', defaults })
  return withChosen(plan, defaults.settings)
}

/** What the untrained policy plays, which is nearly random. Training then begins with the same episodes. */
async function measure(
  plan: TrainingPlan,
  {
    pool,
    policy,
    learner,
    encoders,
    executionProvider,
    joined,
  }: {
    pool: RolloutPool
    policy: PolicySpec
    learner: Learner
    encoders: EncoderSet
    executionProvider: ExecutionProvider
    joined: JoinedRun | null
  },
): Promise<Measurement> {
  const steps = Math.min(MEASURED_STEPS, plan.settings.steps)
  const rolloutSteps = Math.max(1, Math.floor(steps / environmentsOf(plan)))
  await pool.configure({ spec: policy, rolloutSteps, executionProvider, encoders })
  const { segments } = await pool.collect(learner.weights(), 0)
  if (joined === null) return measureRewards(segments)
  const played = segments.map(({ steps, environments, rewards, flags }) => ({ steps, environments, rewards, flags }))
  return measureRewards((await joined.ranks.share(played)).flat())
}

/** Connects the job to the other processes of its run; null where it trains alone. */
function joinOthers({ plan, ranks }: TrainingJob, send: (message: TrainingMessage) => void): JoinedRun | null {
  if (ranks === null) return null
  const measured = payWatch(plan.settings, ranks.alone, (message, hint) =>
    send({ type: 'notice', notice: { message, hint } }),
  )
  // PPO and A2C count the steps of all environments, which their settings say.
  return joinRun(new Ranks(descriptors.memory, ranks.place), { stepsAreOwn: plan.algorithm === 'grpo', measured })
}

/** What this process plays. */
function ownEnvironments({ plan, ranks }: TrainingJob) {
  return ranks?.place ?? { environments: environmentsOf(plan), firstEnvironment: 0 }
}

/** Passes on what the scenario logs, or notices once that it does: nothing is dropped in silence. */
function logReader({ logs }: TrainingJob, send: (message: TrainingMessage) => void): (logs: ScenarioLogs) => void {
  let noticed = false
  return (taken) => {
    if (logs) return send({ type: 'logs', logs: taken })
    if (noticed) return
    noticed = true
    const message = 'the scenario logs to the console'
    send({ type: 'notice', notice: { message, hint: 'Show its logs with --verbose.' } })
  }
}

function noticeMissingMemory(
  { algorithm }: TrainingPlan,
  description: ScenarioDescription,
  policy: PolicySpec,
  send: (message: TrainingMessage) => void,
): void {
  if (description.memory !== true || policy.memory !== undefined) return
  const message = 'the scenario needs memory, and this policy has none: it acts on the current observation alone'
  const hint = isOffPolicy(algorithm)
    ? `${algorithm.toUpperCase()} learns from single steps: use --algorithm ppo, a2c or grpo.`
    : 'Remove memory=none.'
  send({ type: 'notice', notice: { message, hint } })
}

/** The layout's own start is log σ = 0, far too wide for a range of ±1. */
function setInitialDeviations(policy: PolicySpec, learner: Learner, initial: number): void {
  const gaussian = policy.head === 'squashed_gaussian'
  const name = gaussian ? 'actor.out.bias' : 'log_std'
  const parameter = parameterLayout(policy).parameters.find((parameter) => parameter.name === name)
  if (parameter === undefined) return
  const weights = learner.weights()
  const first = gaussian ? parameter.size / 2 : 0
  weights.fill(gaussian ? outputOf(initial) : initial, parameter.offset + first, parameter.offset + parameter.size)
  learner.setWeights(weights)
}

/** The output of a squashed Gaussian's network that gives a log standard deviation. */
function outputOf(logStd: number): number {
  const { low, high } = LOG_STD_RANGE
  const share = (2 * logStd - low - high) / (high - low)
  return Math.atanh(Math.min(0.999, Math.max(-0.999, share)))
}

function algorithmOf(
  plan: TrainingPlan,
  seed: number,
  policy: PolicySpec,
  parts: { collector: RolloutPool; learner: Learner; observe: RolloutObserver },
): Algorithm {
  switch (plan.algorithm) {
    case 'ppo':
      return ppo({ settings: plan.settings, seed, ...parts })
    case 'grpo':
      return grpo({ settings: plan.settings, seed, ...parts })
    case 'a2c':
      return a2c({ settings: plan.settings, seed, ...parts })
    case 'dqn':
      return dqn({ settings: plan.settings, seed, ...parts })
    case 'sac': {
      const actionColumns = policy.action.reduce((sum, leaf) => sum + leaf.size, 0)
      return sac({ settings: plan.settings, actionColumns, seed, ...parts })
    }
  }
}

/** The weights that the run started with, where a KL penalty holds the policy to them. */
function referenceOf({ plan }: TrainingJob, resume: Checkpoint | null, learner: Learner): Float32Array | null {
  if (plan.algorithm !== 'grpo' || plan.settings.kl_coefficient === 0) return null
  const reference = resume?.reference ?? learner.weights()
  learner.setReference(reference)
  return reference
}

function trajectories(
  { trajectories, plan }: TrainingJob,
  policy: PolicySpec,
  resume: Checkpoint | null,
  send: (message: TrainingMessage) => void,
): RolloutObserver {
  if (trajectories === null) return () => {}
  const underWay = plan.algorithm !== 'grpo' && (resume?.episodes[0].actions.length ?? 0) > 0
  const sampler = new TrajectorySampler(policy, trajectories.every, !underWay, (trajectory) =>
    send({ type: 'trajectory', trajectory }),
  )
  return (segments, iteration) => sampler.observe(segments, iteration)
}

function progress(
  { everyIteration }: TrainingJob,
  channel: JobChannel,
  send: (event: ProgressEvent) => void,
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
    send(event)
  }
}

function textEncoding({ texts, encoded }: EncodingCounts): Pick<ProgressEvent, 'text_encoding'> {
  return texts === 0 ? {} : { text_encoding: { texts, encoded, hit_rate: 1 - encoded / texts } }
}

function checkpointMessage(checkpoint: Checkpoint) {
  return { type: 'checkpoint' as const, bytes: encodeCheckpoint(checkpoint), place: placeOf(checkpoint) }
}

function placeOf({ iteration, steps, seconds, dropped }: Checkpoint): RunPlace & Pick<Checkpoint, 'dropped'> {
  return { iteration, steps, seconds, ...(dropped === undefined ? {} : { dropped }) }
}

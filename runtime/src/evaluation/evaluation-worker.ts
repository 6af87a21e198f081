import { type MessagePort, parentPort } from 'node:worker_threads'
import {
  checkPolicySpaces,
  type EncoderSet,
  greedyActions,
  likelyChoices,
  loadModelSession,
  TextVectors,
} from '@agentgym/agent/engine'
import {
  AgentGymError,
  type ErrorReport,
  type EvaluationTasks,
  type PolicySpec,
  type RecordedStep,
  type SampleEpisode,
  type ScenarioLogs,
  type ScenarioView,
  sampleEpisodeLimits,
  type TaskOrder,
} from '@agentgym/contract'
import type { PlayedEpisodes } from '@agentgym/scenario/engine'
import { type EnvironmentSource, isExternal } from '../external/external-source.ts'
import { openEnvironment } from '../external/open-environment.ts'
import { forgetEnded } from '../policy/policy-session.ts'
import { encodeObservations } from '../rollout/encode-observations.ts'
import { EpisodeSampler } from '../sandbox/episode-sampler.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { createSandboxedEnvironment, type SandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import { choosingEpisodes } from './calibration.ts'
import { choiceRecorder } from './choice-recorder.ts'
import { type BaselineOutcomes, playBaselines } from './play-baselines.ts'
import { type EpisodeOutcome, EVALUATION_ENVIRONMENTS, playEpisodes } from './play-episodes.ts'

export type EvaluationRequest = {
  scenario: EnvironmentSource
  /** To the thread of the sockets; null where the scenario runs in the sandbox. */
  link: MessagePort | null
  policy: PolicySpec
  model: Uint8Array
  ownModel?: boolean
  /** For the texts that a sentence encoder reads. */
  encoders: EncoderSet
  episodes: number
  /** Default: `EVALUATION_ENVIRONMENTS`. */
  environments?: number
  seed: number
  taskOrder: TaskOrder
  /** Plays held-out episodes that none of these evaluations plays. */
  apartFrom?: readonly PlayedEpisodes[]
  /** Records the probability of each choice, where the policy picks one of several. */
  choices?: boolean
  /** Plays the same episodes without the agent, too, if they have choices to compare, or the scenario has rules. */
  baselines?: boolean
  limits: JobLimits
  /** Writes down the first episode, to be drawn so; absent: none. */
  sample?: { view: ScenarioView | null }
  /** Sends what the scenario logs. */
  logs?: boolean
}

export type EvaluationReply =
  | { type: 'ready' }
  /** Shared memory in which the engine notes what it runs. */
  | { type: 'board'; board: Int32Array }
  | { type: 'episodes'; done: number }
  /** `tasks` is null if the scenario has no numbered tasks. */
  | {
      type: 'outcomes'
      outcomes: EpisodeOutcome[]
      tasks: EvaluationTasks | null
      /** Names of the levels; null if the scenario has none. */
      levels: string[] | null
      baselines: BaselineOutcomes[]
      sample: SampleEpisode | null
    }
  | { type: 'logs'; logs: ScenarioLogs }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

/** Of the evaluations before: the trainer evaluates one policy after another on the same episodes. */
let vectors: TextVectors | undefined

function evaluate(request: EvaluationRequest, reply: Reply): Extract<EvaluationReply, { type: 'outcomes' }> {
  const { scenario, policy, episodes, taskOrder } = request
  vectors ??= new TextVectors(request.encoders)
  const guest = isExternal(scenario) ? null : openGuest(request, scenario, reply)
  const played = guest ?? openEnvironment(scenario, request.link, optionsOf(request, reply))
  checkPolicySpaces(policy, played.description)
  const environment = encodeObservations(played, vectors)
  const rows = environment.environments
  const session = loadModelSession(request.model, policy, { batch: rows, walk: request.ownModel !== true })
  try {
    const { buffers, description } = environment
    const masks = description.masked ? buffers.masks : null
    const act = () => {
      // Flags are those of the step before.
      forgetEnded(session, buffers.flags)
      session.run(buffers.observations)
      greedyActions({ spec: policy, distribution: session.distribution, masks, rows }, buffers.actions)
    }
    const likely = () => likelyChoices(policy, session.distribution, masks)
    // What draws itself is drawn in an environment of its own: no picture may change what is evaluated.
    const sampler =
      guest === null || request.sample === undefined
        ? undefined
        : description.renders
          ? new ActionRecord(guest, likely)
          : new EpisodeSampler(guest, { policy: 'agent', ...request.sample, likely })
    let reported = performance.now()
    const onEpisode = (done: number) => {
      if (performance.now() - reported < 100) return
      reported = performance.now()
      reply({ type: 'episodes', done })
    }
    const recorder = request.choices ? choiceRecorder(session, environment) : undefined
    const outcomes = playEpisodes(environment, episodes, act, onEpisode, { sampler, recorder })
    // Those before a fault come with it.
    played.takeLogs()
    const tasks = tasksOf(description, taskOrder)
    const levels = description.levels?.map(({ name }) => name) ?? null
    const sample =
      sampler instanceof ActionRecord && !isExternal(scenario)
        ? drawAgain(request, scenario, sampler.decisions, reply)
        : sampler instanceof EpisodeSampler
          ? sampler.episode()
          : null
    const baselines = guest === null ? [] : baselinesOf(request, outcomes, guest, reply)
    return { type: 'outcomes', outcomes, tasks, levels, baselines, sample }
  } finally {
    session.dispose()
    environment.dispose()
  }
}

type Reply = (message: EvaluationReply) => void

/** Environments that play the episodes of the evaluation side by side. */
function optionsOf(request: EvaluationRequest, reply: Reply) {
  const { scenario, episodes, environments = EVALUATION_ENVIRONMENTS, seed, taskOrder, apartFrom, limits } = request
  return {
    environments: isExternal(scenario) ? scenario.evaluationEnvironments : environments,
    ...{ seed, limits, plan: { split: 'eval', episodes, taskOrder, apartFrom } as const },
    watchTexts: request.sample !== undefined,
    ...(request.logs ? { logs: { keep: true, take: (logs: ScenarioLogs) => reply({ type: 'logs', logs }) } } : {}),
    onBoard: (board: Int32Array) => reply({ type: 'board', board }),
  }
}

function openGuest(request: EvaluationRequest, scenario: ScenarioCode, reply: Reply): SandboxedEnvironment {
  return createSandboxedEnvironment({ ...scenario, ...optionsOf(request, reply) })
}

/** Without what is drawn or logged of the agent's episodes. External environments cannot be played a second time. */
function baselinesOf(
  request: EvaluationRequest,
  outcomes: EpisodeOutcome[],
  { description }: SandboxedEnvironment,
  reply: Reply,
): BaselineOutcomes[] {
  const { scenario, episodes } = request
  const compared = choosingEpisodes(outcomes) !== null || description.rules === true
  if (!request.baselines || !compared || isExternal(scenario)) return []
  const plain = { ...request, sample: undefined, logs: false }
  return playBaselines(episodes, () => openGuest(plain, scenario, reply))
}

type Likely = RecordedStep['likely']
type Decision = { action: Float32Array; likely: Likely }

/** The first actions of the first row, bit for bit: as many as a sample may have. */
class ActionRecord {
  readonly decisions: Decision[] = []
  readonly #guest: SandboxedEnvironment
  readonly #likely: () => Likely
  #ended = false

  constructor(guest: SandboxedEnvironment, likely: () => Likely) {
    this.#guest = guest
    this.#likely = likely
  }

  before(): void {
    if (this.#ended || this.decisions.length === sampleEpisodeLimits.steps) return
    const { buffers, description } = this.#guest
    this.decisions.push({ action: buffers.actions.slice(0, description.sizes.action), likely: this.#likely() })
  }

  after(): void {
    this.#ended ||= this.#guest.buffers.flags[0] !== 0
  }
}

/** The sample of an evaluation's first episode from its decisions; null where the scenario fails at drawing it. */
function drawAgain(
  request: EvaluationRequest,
  scenario: ScenarioCode,
  decisions: readonly Decision[],
  reply: Reply,
): SampleEpisode | null {
  const { seed, taskOrder, limits, sample } = request
  const plan = { split: 'eval', episodes: 1, taskOrder } as const
  let guest: SandboxedEnvironment | undefined
  try {
    guest = createSandboxedEnvironment({
      ...scenario,
      ...{ environments: 1, seed, plan, limits, watchTexts: true, watchScenes: true },
      onBoard: (board) => reply({ type: 'board', board }),
    })
    let current: Likely
    const sampler = new EpisodeSampler(guest, { policy: 'agent', view: sample?.view ?? null, likely: () => current })
    guest.reset()
    for (const { action, likely } of decisions) {
      current = likely
      guest.buffers.actions.set(action)
      sampler.before()
      guest.step()
      sampler.after()
    }
    sampler.cut()
    return sampler.episode()
  } catch (error) {
    // The evaluation itself has succeeded.
    if (error instanceof AgentGymError) return null
    throw error
  } finally {
    guest?.dispose()
  }
}

/** The tasks that an evaluation chooses from, as the engine does; null without numbered tasks. */
function tasksOf({ tasks }: ScenarioDescription, order: TaskOrder): EvaluationTasks | null {
  if (tasks.eval > 0) return { split: 'eval', size: tasks.eval, order }
  return tasks.train > 0 ? { split: 'train', size: tasks.train, order } : null
}

if (parentPort !== null) {
  const port = parentPort
  const reply = (message: EvaluationReply) => port.postMessage(message)
  port.on('message', (request: EvaluationRequest) => {
    try {
      reply(evaluate(request, reply))
    } catch (error) {
      if (error instanceof AgentGymError) reply({ type: 'fault', error: error.toReport() })
      else reply({ type: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : 'unknown' })
    }
  })
  reply({ type: 'ready' })
}

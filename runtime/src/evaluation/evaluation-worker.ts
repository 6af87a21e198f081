import { parentPort } from 'node:worker_threads'
import {
  checkPolicySpaces,
  type EncoderSet,
  greedyActions,
  loadModelSession,
  TextVectors,
} from '@agentgym/agent/engine'
import {
  AgentGymError,
  type ErrorReport,
  type EvaluationTasks,
  type PolicySpec,
  type SampleEpisode,
  type ScenarioLogs,
  type ScenarioView,
  sampleEpisodeLimits,
  type TaskOrder,
} from '@agentgym/contract'
import { forgetEnded } from '../policy/policy-session.ts'
import { encodeObservations } from '../rollout/encode-observations.ts'
import { EpisodeSampler } from '../sandbox/episode-sampler.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { createSandboxedEnvironment, type SandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import { type EpisodeOutcome, EVALUATION_ENVIRONMENTS, playEpisodes } from './play-episodes.ts'

export type EvaluationRequest = {
  scenario: ScenarioCode
  policy: PolicySpec
  model: Uint8Array
  ownModel?: boolean
  /** For the texts that a sentence encoder reads. */
  encoders: EncoderSet
  episodes: number
  seed: number
  taskOrder: TaskOrder
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
      sample: SampleEpisode | null
    }
  | { type: 'logs'; logs: ScenarioLogs }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

/** Of the evaluations before: the trainer evaluates one policy after another on the same episodes. */
let vectors: TextVectors | undefined

function evaluate(
  request: EvaluationRequest,
  reply: (message: EvaluationReply) => void,
): Extract<EvaluationReply, { type: 'outcomes' }> {
  const { scenario, policy, episodes, seed, taskOrder, limits } = request
  const plan = { split: 'eval', episodes, taskOrder } as const
  vectors ??= new TextVectors(request.encoders)
  const guest = createSandboxedEnvironment({
    ...scenario,
    environments: EVALUATION_ENVIRONMENTS,
    seed,
    plan,
    limits,
    watchTexts: request.sample !== undefined,
    ...(request.logs ? { logs: { keep: true, take: (logs) => reply({ type: 'logs', logs }) } } : {}),
    onBoard: (board) => reply({ type: 'board', board }),
  })
  checkPolicySpaces(policy, guest.description)
  const environment = encodeObservations(guest, vectors)
  const session = loadModelSession(request.model, policy, {
    batch: EVALUATION_ENVIRONMENTS,
    walk: request.ownModel !== true,
  })
  try {
    const { buffers, description } = environment
    const masks = description.masked ? buffers.masks : null
    const act = () => {
      // Flags are those of the step before.
      forgetEnded(session, buffers.flags)
      session.run(buffers.observations)
      greedyActions(
        { spec: policy, distribution: session.distribution, masks, rows: EVALUATION_ENVIRONMENTS },
        buffers.actions,
      )
    }
    // What draws itself is drawn in an environment of its own: no picture may change what is evaluated.
    const sampler = request.sample && (description.renders ? new ActionRecord(guest) : inline(guest, request.sample))
    let reported = performance.now()
    const onEpisode = (done: number) => {
      if (performance.now() - reported < 100) return
      reported = performance.now()
      reply({ type: 'episodes', done })
    }
    const outcomes = playEpisodes(environment, episodes, act, onEpisode, sampler)
    // Those before a fault come with it.
    guest.takeLogs()
    const tasks = tasksOf(description, taskOrder)
    const levels = description.levels?.map(({ name }) => name) ?? null
    const sample = sampler instanceof ActionRecord ? drawAgain(request, sampler.actions, reply) : sampler?.episode()
    return { type: 'outcomes', outcomes, tasks, levels, sample: sample ?? null }
  } finally {
    session.dispose()
    environment.dispose()
  }
}

function inline(guest: SandboxedEnvironment, sample: { view: ScenarioView | null }): EpisodeSampler {
  return new EpisodeSampler(guest, { policy: 'agent', ...sample })
}

/** The first actions of the first row, bit for bit: as many as a sample may have. */
class ActionRecord {
  readonly actions: Float32Array[] = []
  readonly #guest: SandboxedEnvironment
  #ended = false

  constructor(guest: SandboxedEnvironment) {
    this.#guest = guest
  }

  before(): void {
    if (this.#ended || this.actions.length === sampleEpisodeLimits.steps) return
    const { buffers, description } = this.#guest
    this.actions.push(buffers.actions.slice(0, description.sizes.action))
  }

  after(): void {
    this.#ended ||= this.#guest.buffers.flags[0] !== 0
  }
}

/** The sample of an evaluation's first episode from its actions; null where the scenario fails at drawing it. */
function drawAgain(
  request: EvaluationRequest,
  actions: readonly Float32Array[],
  reply: (message: EvaluationReply) => void,
): SampleEpisode | null {
  const { scenario, seed, taskOrder, limits, sample } = request
  const plan = { split: 'eval', episodes: 1, taskOrder } as const
  let guest: SandboxedEnvironment | undefined
  try {
    guest = createSandboxedEnvironment({
      ...scenario,
      ...{ environments: 1, seed, plan, limits, watchTexts: true, watchScenes: true },
      onBoard: (board) => reply({ type: 'board', board }),
    })
    const sampler = new EpisodeSampler(guest, { policy: 'agent', view: sample?.view ?? null })
    guest.reset()
    for (const action of actions) {
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

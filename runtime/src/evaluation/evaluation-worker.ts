import { parentPort } from 'node:worker_threads'
import {
  AgentGymError,
  type ErrorReport,
  type PolicySpec,
  type SampleEpisode,
  type ScenarioView,
} from '@agentgym/contract'
import { greedyActions } from '../policy/action-sampling.ts'
import { loadModelSession } from '../policy/policy-session.ts'
import { checkPolicySpaces } from '../policy/policy-spec.ts'
import { EpisodeSampler } from '../sandbox/episode-sampler.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { createSandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import { type EpisodeOutcome, playEpisodes } from './play-episodes.ts'

/**
 * Environments of every evaluation, also of one with fewer episodes: the batch is always the same size, so inference
 * rounds the same way and the trajectory hash does not depend on the number of episodes.
 */
const EVALUATION_ENVIRONMENTS = 64

export type EvaluationRequest = {
  scenario: ScenarioCode
  policy: PolicySpec
  model: Uint8Array
  ownModel?: boolean
  episodes: number
  seed: number
  limits: JobLimits
  /** Writes down the first episode, to be drawn so; absent: none. */
  sample?: { view: ScenarioView | null }
}

export type EvaluationReply =
  | { type: 'ready' }
  /** Shared memory in which the engine notes what it runs. */
  | { type: 'board'; board: Int32Array }
  | { type: 'episodes'; done: number }
  | { type: 'outcomes'; outcomes: EpisodeOutcome[]; sample: SampleEpisode | null }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

function evaluate(
  request: EvaluationRequest,
  reply: (message: EvaluationReply) => void,
): Extract<EvaluationReply, { type: 'outcomes' }> {
  const { scenario, policy, episodes, seed, limits } = request
  const plan = { split: 'eval', episodes } as const
  const environment = createSandboxedEnvironment({
    ...scenario,
    environments: EVALUATION_ENVIRONMENTS,
    seed,
    plan,
    limits,
    watchTexts: request.sample !== undefined,
    onBoard: (board) => reply({ type: 'board', board }),
  })
  checkPolicySpaces(policy, environment.description)
  const session = loadModelSession(request.model, policy, { batch: EVALUATION_ENVIRONMENTS, walked: request.ownModel })
  try {
    const { buffers, description } = environment
    const masks = description.masked ? buffers.masks : null
    const act = () => {
      session.run(buffers.observations)
      greedyActions(
        { spec: policy, distribution: session.distribution, masks, rows: EVALUATION_ENVIRONMENTS },
        buffers.actions,
      )
    }
    const sampler = request.sample && new EpisodeSampler(environment, { policy: 'agent', ...request.sample })
    let reported = performance.now()
    const onEpisode = (done: number) => {
      if (performance.now() - reported < 100) return
      reported = performance.now()
      reply({ type: 'episodes', done })
    }
    const outcomes = playEpisodes(environment, episodes, act, onEpisode, sampler)
    return { type: 'outcomes', outcomes, sample: sampler?.episode() ?? null }
  } finally {
    session.dispose()
    environment.dispose()
  }
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

import { readAgent } from '@agentgym/agent/engine'
import {
  AgentGymError,
  compareEvaluations,
  type EvaluationResultRequest,
  type LeasedEvaluation,
} from '@agentgym/contract'
import { type EvaluateOptions, playEvaluation } from '../evaluation/evaluate-agent.ts'
import type { PlayedEvaluation } from '../evaluation/evaluator.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { cut, hasDied, publicReport, withoutFolders } from './failure-report.ts'

type Task = LeasedEvaluation['evaluation']['tasks'][number]
type TaskResult = EvaluationResultRequest['results'][number]

/** What all tasks of a job have in common. `folder` is not named in results. */
export type Stage = Pick<EvaluateOptions, 'agent' | 'scenario' | 'limits' | 'onSample'> & {
  folder: string
  signal: AbortSignal
}

/** Episodes of a held-out run that are played twice. */
const repeatedEpisodes = 8

/** Evaluates one task; a failure is part of its result. A process that died is retried once: the machine may be to blame. */
export async function playTask(task: Task, { folder, onSample, ...stage }: Stage): Promise<TaskResult> {
  const { id, episodes, seed, task_order: taskOrder } = task
  const options = { ...stage, episodes, seed, taskOrder }
  for (let attempt = 1; ; attempt++) {
    try {
      // An episode of the held-out set would tell how its tasks are drawn.
      const played = await playEvaluation({ ...options, onSample: id === 'held_out' ? undefined : onSample })
      const count = await episodesToRepeat(task, played, stage)
      const repeat = count === 0 ? null : await repeatEpisodes(played, { ...options, episodes: count }, folder)
      return { id, evaluation: played.evaluation, error: null, episode_returns: played.returns, repeat }
    } catch (error) {
      if (stage.signal.aborted || !(error instanceof AgentGymError)) throw error
      if (attempt === 1 && hasDied(error)) continue
      // By the author's files, without their code: the agent's owner may not read it.
      const located = locateFault(error, stage.scenario?.sourceMap, { frames: false })
      return { id, evaluation: null, error: publicReport(located, [folder]), episode_returns: null, repeat: null }
    }
  }
}

/** All of a claim that was not reproduced: is the agent wrong, or the scenario? And the first of the held-out ones. */
async function episodesToRepeat(
  task: Task,
  played: PlayedEvaluation,
  { agent }: Pick<Stage, 'agent'>,
): Promise<number> {
  if (task.id === 'held_out') return Math.min(repeatedEpisodes, task.episodes)
  if (task.id !== 'claim') return 0
  const { evaluation: claim } = await readAgent(agent)
  return compareEvaluations(claim, played.evaluation).length === 0 ? 0 : task.episodes
}

/** Plays the first episodes again in a process with another stack and heap. What goes wrong there is no fault of the agent. */
async function repeatEpisodes(
  first: PlayedEvaluation,
  options: EvaluateOptions & { episodes: number },
  folder: string,
): Promise<NonNullable<TaskResult['repeat']>> {
  try {
    const second = await playEvaluation({ ...options, otherSizes: true })
    const parted = second.digests.findIndex((digest, episode) => digest !== first.digests[episode])
    if (parted < 0) return { same: true, message: null }
    const message = `Episode ${parted} was another one in a second process with different stack and heap sizes: the scenario, or the machine, is not deterministic.`
    return { same: false, message }
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof AgentGymError)) throw error
    const message = `The episodes could not be played a second time: ${error.message}`
    return { same: false, message: cut(withoutFolders(message, [folder]), 4_000) }
  }
}

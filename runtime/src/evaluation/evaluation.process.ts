import type { Evaluation } from '@agentgym/contract'
import { serveJob } from '../sandbox/job-process.ts'
import { type EvaluationTask, Evaluator } from './evaluator.ts'

export type EvaluationJob = Omit<EvaluationTask, 'limits' | 'onEpisodes'>
export type EvaluationMessage = { done: number }

serveJob<EvaluationJob, Evaluation>(async (job, channel) => {
  const evaluator = await Evaluator.spawn((board) => channel.watchBoard(0, board))
  channel.lockDown()
  const onEpisodes = (done: number) => void channel.send({ done } satisfies EvaluationMessage)
  return evaluator.evaluate({ ...job, limits: channel.limits, onEpisodes })
})

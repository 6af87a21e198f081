import { obtainEncoders } from '@agentgym/agent/engine'
import type { SampleEpisode, ScenarioLogs } from '@agentgym/contract'
import { serveJob } from '../sandbox/job-process.ts'
import { type EvaluationTask, Evaluator, type PlayedEvaluation } from './evaluator.ts'

export type EvaluationJob = Omit<EvaluationTask, 'encoders' | 'limits' | 'onEpisodes' | 'onSample' | 'onLogs'>
export type EvaluationMessage = { done: number } | { sample: SampleEpisode } | { logs: ScenarioLogs }

serveJob<EvaluationJob, PlayedEvaluation>(async (job, channel) => {
  const evaluator = await Evaluator.spawn((board) => channel.watchBoard(0, board))
  channel.lockDown()
  const onEpisodes = (done: number) => void channel.send({ done } satisfies EvaluationMessage)
  const onSample = (sample: SampleEpisode) => void channel.send({ sample } satisfies EvaluationMessage)
  const onLogs = (logs: ScenarioLogs) => void channel.send({ logs } satisfies EvaluationMessage)
  const encoders = await obtainEncoders(job.policy, channel.encoder)
  return evaluator.evaluate({ ...job, encoders, limits: channel.limits, onEpisodes, onSample, onLogs })
})

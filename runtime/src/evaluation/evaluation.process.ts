import { obtainEncoders } from '@agentgym/agent/engine'
import type { SampleEpisode, ScenarioLogs } from '@agentgym/contract'
import { LinkThread } from '../external/environment-link.ts'
import { isExternal } from '../external/external-source.ts'
import { serveJob } from '../sandbox/job-process.ts'
import { type EvaluationTask, Evaluator, type PlayedEvaluation } from './evaluator.ts'

export type EvaluationJob = Omit<EvaluationTask, 'encoders' | 'limits' | 'onEpisodes' | 'onSample' | 'onLogs'>
export type EvaluationMessage = { done: number } | { sample: SampleEpisode } | { logs: ScenarioLogs }

serveJob<EvaluationJob, PlayedEvaluation>(async (job, channel) => {
  const links = isExternal(job.scenario) ? await LinkThread.spawn() : null
  const connect = links === null ? undefined : () => links.connect()
  const evaluator = await Evaluator.spawn((board) => channel.watchBoard(0, board), connect)
  channel.lockDown()
  const onEpisodes = (done: number) => void channel.send({ done } satisfies EvaluationMessage)
  const onSample = (sample: SampleEpisode) => void channel.send({ sample } satisfies EvaluationMessage)
  const onLogs = (logs: ScenarioLogs) => void channel.send({ logs } satisfies EvaluationMessage)
  const encoders = await obtainEncoders(job.policy, channel.encoder)
  const played = await evaluator.evaluate({ ...job, encoders, limits: channel.limits, onEpisodes, onSample, onLogs })
  const { evaluation, returns, digests, clear } = played
  return { evaluation, returns, digests, clear }
})

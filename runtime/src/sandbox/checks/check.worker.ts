import { parentPort } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import { createSandboxedEnvironment } from '../sandboxed-environment.ts'
import type { ThreadJob } from '../serve-in-worker.ts'
import { CheckFailure, type CheckId, type CheckJob, type CheckReply } from './check-messages.ts'
import { COMPARED_ENVIRONMENTS, playCompared } from './compared-episodes.ts'
import { checkOfFault, runScenarioChecks } from './scenario-checks.ts'

const port = parentPort
if (port === null) throw new Error('runs as a worker thread')
const reply = (message: CheckReply) => port.postMessage(message)

type WorkerJob = ThreadJob<CheckJob>

port.on('message', (job: WorkerJob) => {
  let running: CheckId = job.comparedSteps === null ? 'loads' : 'processes'
  const begin = (id: CheckId) => {
    running = id
    reply({ kind: 'running', id })
  }
  try {
    if (job.comparedSteps !== null) playAgain(job, job.comparedSteps)
    else
      runScenarioChecks({
        success: job.success,
        view: job.view,
        episodeMs: job.episodeMs,
        open: (options) => createSandboxedEnvironment({ ...job, ...options }),
        begin,
        pass: (id, finding) => reply({ kind: 'check', check: { id, ok: true, ...finding } }),
        compared: (played) => reply({ kind: 'compared', played }),
        sample: (episode) => reply({ kind: 'sample', episode }),
        logs: (logs) => reply({ kind: 'logs', logs }),
      })
  } catch (error) {
    if (error instanceof CheckFailure)
      reply({ kind: 'check', check: { id: running, ok: false, message: error.message } })
    else if (error instanceof AgentGymError) {
      reply({ kind: 'failed', id: checkOfFault(running, error), report: error.toReport() })
    } else throw error
  }
  reply({ kind: 'done' })
})

/** The second process of the check `processes`. */
function playAgain(job: WorkerJob, steps: number): void {
  reply({ kind: 'running', id: 'processes' })
  const options = { environments: COMPARED_ENVIRONMENTS, seed: 1, plan: { split: 'train' } } as const
  const environment = createSandboxedEnvironment({ ...job, ...options })
  reply({ kind: 'compared', played: playCompared(environment, steps) })
  environment.dispose()
}

reply({ kind: 'ready' })

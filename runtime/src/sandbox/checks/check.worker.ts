import { parentPort } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import type { JobLimits } from '../limits.ts'
import { createSandboxedEnvironment } from '../sandboxed-environment.ts'
import type { CheckId, CheckJob, CheckReply } from './check-messages.ts'
import { CheckFailure, checkOfFault, runScenarioChecks } from './scenario-checks.ts'

const port = parentPort
if (port === null) throw new Error('runs as a worker thread')
const reply = (message: CheckReply) => port.postMessage(message)

port.on('message', (job: CheckJob & { limits: JobLimits; board: SharedArrayBuffer }) => {
  let running: CheckId = 'loads'
  const begin = (id: CheckId) => {
    running = id
    reply({ kind: 'running', id })
  }
  try {
    runScenarioChecks({
      success: job.success,
      view: job.view,
      open: (options) => createSandboxedEnvironment({ ...job, ...options }),
      begin,
      pass: (id, message) => reply({ kind: 'check', check: { id, ok: true, message } }),
      sample: (episode) => reply({ kind: 'sample', episode }),
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
reply({ kind: 'ready' })

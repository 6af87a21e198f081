import { parentPort } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import type { Use } from '../checks/repeat-checks.ts'
import { createSandboxedEnvironment, type SandboxedEnvironmentOptions } from '../sandboxed-environment.ts'
import type { ThreadJob } from '../serve-in-worker.ts'
import { examineScenario } from './examine-scenario.ts'
import { profileScenario } from './profile-scenario.ts'
import { recordTrajectories } from './record-trajectories.ts'
import type { InspectionJob } from './run-inspection.ts'

const port = parentPort
if (port === null) throw new Error('runs as a worker thread')

port.on('message', async (job: ThreadJob<InspectionJob>) => {
  try {
    port.postMessage({ kind: 'found', result: await inspect(job) })
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    port.postMessage({ kind: 'failed', report: error.toReport() })
  }
  port.postMessage({ kind: 'done' })
})

async function inspect(job: ThreadJob<InspectionJob>): Promise<unknown> {
  const { inspection } = job
  const open = (options: Partial<SandboxedEnvironmentOptions>) =>
    createSandboxedEnvironment({ ...job, environments: 1, seed: 1, plan: { split: 'train' }, ...options })
  const use: Use = (options, body) => {
    const environment = open(options)
    try {
      return body(environment)
    } finally {
      environment.dispose()
    }
  }
  if (inspection.kind === 'record') return recordTrajectories(use)
  if (inspection.kind === 'doctor') return examineScenario(use, inspection.success, inspection.budgetMs)
  return profileScenario((environments) => open({ environments, profile: true }))
}

port.postMessage({ kind: 'ready' })

import { AgentGymError, type LeasedCalls } from '@agentgym/contract'
import { readAgentWithModel } from '../evaluation/read-agent.ts'
import { inFolder, obtainPackage } from '../worker/obtain-package.ts'
import { publicReport } from '../worker/public-report.ts'
import { agentFiles } from '../worker/unpack-package.ts'
import type { AgentWithModel } from './agent-process.ts'
import type { CallLease } from './call-lease.ts'

/**
 * Downloads an agent, holds it to its integrity, its model to the hash in agent.json, and walks the model. Nothing of it stays
 * on the disk. Throws `integrity_mismatch`, and what `readAgentWithModel` does for an agent that must not be run.
 */
export function obtainAgent(lease: CallLease, agent: LeasedCalls['agent']): Promise<AgentWithModel> {
  return inFolder(async (folder) => {
    await obtainPackage(lease, agent, folder, agentFiles)
    return readAgentWithModel(folder).catch((error: unknown) => {
      throw error instanceof AgentGymError ? new AgentGymError(publicReport(error, [folder])) : error
    })
  })
}

/** Of the agent's own making: it fails on every machine alike. */
export function isAgentsFault(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError)) return false
  return error.code.startsWith('model_') || ['agent_invalid', 'manifest_invalid'].includes(error.code)
}

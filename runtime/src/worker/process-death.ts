import type { AgentGymError } from '@agentgym/contract'

/**
 * Whether a job's process ended without a word, or never began: something that need not happen again, unlike what the job
 * itself reported or its supervisor ended it for.
 */
export function hasDied({ data }: AgentGymError): boolean {
  return data.not_started === true || (data.signal !== undefined && data.exit_status !== undefined)
}

/** Of a SIGKILL, which may be anybody's: the kernel's, short of memory, or an operator's. */
export function wasKilled({ data }: AgentGymError): boolean {
  return data.not_started === true || data.signal === 'SIGKILL'
}

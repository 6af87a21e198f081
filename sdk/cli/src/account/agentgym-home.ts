import { homedir } from 'node:os'
import { join } from 'node:path'

/** The configuration folder: `AGENTGYM_HOME`, or `.agentgym` in the user's home. */
export function agentGymHome(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.AGENTGYM_HOME || join(homedir(), '.agentgym')
}

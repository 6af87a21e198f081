import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where a program runs: its environment variables and its working folder. */
export type Surroundings = { environment: Readonly<Record<string, string | undefined>>; cwd: string }

export function ownSurroundings(): Surroundings {
  return { environment: process.env, cwd: process.cwd() }
}

/** Where AgentGym keeps its files on this machine: `AGENTGYM_HOME`, or `.agentgym` in the user's home. */
export function agentGymHome({ environment, cwd } = ownSurroundings()): string {
  return resolve(cwd, environment.AGENTGYM_HOME || join(environment.HOME || homedir(), '.agentgym'))
}

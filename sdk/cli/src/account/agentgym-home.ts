import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CommandIo } from '../command-io.ts'

/** The configuration folder: `AGENTGYM_HOME`, or `.agentgym` in the user's home. */
export function agentGymHome({ environment, cwd }: Pick<CommandIo, 'environment' | 'cwd'>): string {
  return resolve(cwd, environment.AGENTGYM_HOME || join(environment.HOME || homedir(), '.agentgym'))
}

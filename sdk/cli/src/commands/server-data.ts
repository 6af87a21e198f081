import type { CommandContext } from '../command-context.ts'

/** For commands that open a server's data themselves. */
export const dataOption = ['--data <DIR>', 'data folder of the server (default: server in AGENTGYM_HOME)'] as const

export type DataFlags = { data?: string }

/** The settings that `agentgym serve` would read. */
export function settingsOf({ data }: DataFlags, context: CommandContext) {
  return {
    environment: context.io.environment,
    ...(data === undefined ? {} : { data: context.resolve(data) }),
  }
}

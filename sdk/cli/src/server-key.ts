import { isLoopback } from '@agentgym/agent/own-server'
import { AgentGymError } from '@agentgym/contract'
import type { CommandContext } from './command-context.ts'

/**
 * The key that clients of a server must send, from an environment variable; undefined if it is not set. Throws `config_invalid` if the
 * server would then be open to other machines, unless `withoutKey` says so.
 */
export function serverKey(
  variable: string,
  host: string,
  { io }: CommandContext,
  withoutKey = false,
): string | undefined {
  const key = io.environment[variable]?.trim() || undefined
  if (key !== undefined || withoutKey || isLoopback(host)) return key
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--host is ${host}, which other machines reach, and ${variable} is not set`,
    hint: `Set ${variable} to a secret that clients send as their API key, or leave out --host.`,
    data: { field: variable },
  })
}

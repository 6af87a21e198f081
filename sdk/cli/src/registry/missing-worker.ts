import { AgentGymError, serverStatusSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { callApi } from './call-api.ts'

/**
 * Prints that no worker is connected, for commands that then wait for one. Silent where the server does not tell: its status
 * takes the scope `training:view`.
 */
export async function noteMissingWorker(connection: Connection, context: CommandContext): Promise<void> {
  const { paint, symbols } = context.terminal
  try {
    const { workers } = await callApi(connection, { path: '/v1/status', answer: serverStatusSchema })
    if (workers.some(({ state }) => state !== 'silent')) return
  } catch (error) {
    if (error instanceof AgentGymError) return
    throw error
  }
  const command = `AGENTGYM_TOKEN=${symbols.ellipsis} agentgym worker`
  context.print(`${symbols.warning} No worker is connected, so this waits. Start one: ${paint.accent(command)}`)
}

import { stat } from 'node:fs/promises'
import { AgentGymError } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { shellQuote } from '../terminal/text.ts'

/** The absolute path of a file as the user typed it. Throws `file_not_found` where there is none. */
export async function requireFile(typed: string, context: Pick<CommandContext, 'resolve'>): Promise<string> {
  const path = context.resolve(typed)
  const entry = await stat(path).catch(() => undefined)
  if (entry !== undefined && !entry.isDirectory()) return path
  throw new AgentGymError({
    code: 'file_not_found',
    message:
      entry === undefined ? `${shellQuote(typed)} does not exist` : `${shellQuote(typed)} is a folder, not a file`,
    hint: 'Check the path.',
    data: { path },
  })
}

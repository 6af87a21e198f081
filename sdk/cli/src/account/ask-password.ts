import { AgentGymError } from '@agentgym/contract'
import { isCancel, password } from '@clack/prompts'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'

/** The password from `AGENTGYM_PASSWORD`, else from a prompt that shows none of it. Never from the command line. */
export async function askPassword(
  message: string,
  { repeat }: { repeat: boolean },
  { io }: CommandContext,
): Promise<string> {
  const given = io.environment.AGENTGYM_PASSWORD
  if (given) return given
  if (!io.stdin.isTTY || !io.stdout.isTTY) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'there is no terminal to ask for the password',
      hint: 'Set AGENTGYM_PASSWORD, or run the command in a terminal.',
    })
  }
  const typed = await ask(message, io)
  if (repeat && (await ask('The same once more', io)) !== typed) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'the two passwords differ; nothing was done',
      hint: 'Run the command again.',
    })
  }
  return typed
}

async function ask(message: string, { stdin, stdout }: CommandIo): Promise<string> {
  const typed = await password({
    message,
    validate: (value) => (value ? undefined : 'Type a password'),
    input: stdin,
    output: stdout,
  })
  if (!isCancel(typed)) return typed
  throw new AgentGymError({
    code: 'usage_invalid',
    message: 'no password was given; nothing was done',
    hint: 'Run the command again, or set AGENTGYM_PASSWORD.',
  })
}

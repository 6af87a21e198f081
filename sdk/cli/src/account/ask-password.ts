import { AgentGymError } from '@agentgym/contract'
import { isCancel, password } from '@clack/prompts'

/** The password from `AGENTGYM_PASSWORD`, else from a prompt that shows none of it. Never from the command line. */
export async function askPassword(message: string, { repeat }: { repeat: boolean }): Promise<string> {
  const given = process.env.AGENTGYM_PASSWORD
  if (given) return given
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'there is no terminal to ask for the password',
      hint: 'Set AGENTGYM_PASSWORD, or run the command in a terminal.',
    })
  }
  const typed = await ask(message)
  if (repeat && (await ask('The same once more')) !== typed) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'the two passwords differ; nothing was done',
      hint: 'Run the command again.',
    })
  }
  return typed
}

async function ask(message: string): Promise<string> {
  const typed = await password({ message, validate: (value) => (value ? undefined : 'Type a password') })
  if (!isCancel(typed)) return typed
  throw new AgentGymError({
    code: 'usage_invalid',
    message: 'no password was given; nothing was done',
    hint: 'Run the command again, or set AGENTGYM_PASSWORD.',
  })
}

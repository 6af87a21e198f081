import { AgentGymError } from '@agentgym/contract'
import { confirm as askYesNo, isCancel, password } from '@clack/prompts'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'
import { safeText, wrapText } from './text.ts'

type Consent = {
  /** Given beforehand: `--yes`. */
  given: boolean
  /** What is asked, such as `Buy it for $12.50?`. */
  question: string
  /** What stands for yes where nobody can be asked: `--yes buys it without asking`. */
  otherwise: string
}

/**
 * Asks before something that cannot be taken back. False where the user says no. Throws `usage_invalid` where nobody can
 * be asked: no terminal, or `--json`, whose output is not for people.
 */
export async function confirm({ given, question, otherwise }: Consent, context: CommandContext): Promise<boolean> {
  if (given) return true
  if (context.json || !context.io.stdin.isTTY || !context.terminal.live) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `there is nobody to ask: ${question}`,
      hint: `${otherwise}. Nothing was done.`,
      data: { question },
    })
  }
  const answer = await askYesNo({
    message: question,
    initialValue: false,
    input: context.io.stdin,
    output: context.io.stdout,
  })
  return !isCancel(answer) && answer
}

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
  const typed = await askForPassword(message, io)
  if (repeat && (await askForPassword('The same once more', io)) !== typed) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'the two passwords differ; nothing was done',
      hint: 'Run the command again.',
    })
  }
  return typed
}

async function askForPassword(message: string, { stdin, stdout }: CommandIo): Promise<string> {
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

/** A sentence or two for people, in lines that fit the terminal. */
export function sayWrapped(text: string, { say, terminal }: CommandContext): void {
  for (const line of wrapText(safeText(text, 2_000), Math.min(terminal.columns(), 100) - 1)) say(line)
}

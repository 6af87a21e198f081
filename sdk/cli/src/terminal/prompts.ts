import { AgentGymError } from '@agentgym/contract'
import { confirm as askYesNo, isCancel, password, text } from '@clack/prompts'
import type { CommandContext } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'
import { safeText, wrapText } from './text.ts'

type Consent = {
  /** Given on the command line: `--yes`. */
  given: boolean
  /** Shown to the user, such as `Buy it for $12.50?`. */
  question: string
  /** What to do without a terminal, such as `use --yes to skip the prompt`. */
  otherwise: string
}

/**
 * Asks before something that cannot be undone. False when the user declines. Throws `usage_invalid` when there is no
 * terminal to ask on, and under `--json`.
 */
export async function confirm({ given, question, otherwise }: Consent, context: CommandContext): Promise<boolean> {
  if (given) return true
  if (context.json || !context.io.stdin.isTTY || !context.terminal.live) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `this command needs confirmation: ${question}`,
      hint: `${otherwise}. Nothing was changed.`,
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

/** The password from `AGENTGYM_PASSWORD`, else from a prompt that does not echo it. Never from the command line. */
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
      message: 'cannot ask for the password without a terminal',
      hint: 'Set AGENTGYM_PASSWORD, or run the command in a terminal.',
    })
  }
  const typed = await askForPassword(message, io)
  if (repeat && (await askForPassword('Confirm the password', io)) !== typed) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'the passwords do not match; nothing was changed',
      hint: 'Run the command again.',
    })
  }
  return typed
}

/** A code of the second factor: `AGENTGYM_CODE`, else from a prompt. */
export async function askCode({ io }: CommandContext): Promise<string> {
  const given = io.environment.AGENTGYM_CODE
  if (given) return given
  const { stdin, stdout } = io
  if (!stdin.isTTY || !stdout.isTTY)
    throw new AgentGymError({
      code: 'second_factor_required',
      message: 'this account has a second factor, and there is no terminal to ask for its code',
      hint: 'Set AGENTGYM_CODE to a code from your authenticator app or to a recovery code, or run the command in a terminal.',
    })
  const typed = await text({
    message: 'Code from your authenticator app, or a recovery code',
    validate: (value) => (value ? undefined : 'Enter a code'),
    input: stdin,
    output: stdout,
  })
  if (!isCancel(typed)) return typed
  throw new AgentGymError({ code: 'usage_invalid', message: 'no code entered', hint: 'Run the command again.' })
}

async function askForPassword(message: string, { stdin, stdout }: CommandIo): Promise<string> {
  const typed = await password({
    message,
    validate: (value) => (value ? undefined : 'Enter a password'),
    input: stdin,
    output: stdout,
  })
  if (!isCancel(typed)) return typed
  throw new AgentGymError({
    code: 'usage_invalid',
    message: 'no password entered; nothing was changed',
    hint: 'Run the command again, or set AGENTGYM_PASSWORD.',
  })
}

/** Prints text in lines that fit the terminal. */
export function printWrapped(text: string, { print, terminal }: CommandContext): void {
  for (const line of wrapText(safeText(text, 2_000), Math.min(terminal.columns(), 100) - 1)) print(line)
}

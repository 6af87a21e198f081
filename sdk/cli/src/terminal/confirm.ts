import { AgentGymError } from '@agentgym/contract'
import { confirm as ask, isCancel } from '@clack/prompts'
import type { CommandContext } from '../command-context.ts'

export type Consent = {
  /** Given beforehand: `--yes`. */
  given: boolean
  /** What is asked, such as `Buy it for 12.50 USD?`. */
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
  const answer = await ask({
    message: question,
    initialValue: false,
    input: context.io.stdin,
    output: context.io.stdout,
  })
  return !isCancel(answer) && answer
}

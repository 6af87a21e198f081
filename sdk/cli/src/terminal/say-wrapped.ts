import type { CommandContext } from '../command-context.ts'
import { wrapText } from './fit-text.ts'
import { safeText } from './safe-text.ts'

/** A sentence or two for people, in lines that fit the terminal. */
export function sayWrapped(text: string, { say, terminal }: CommandContext): void {
  for (const line of wrapText(safeText(text, 2_000), Math.min(terminal.columns(), 100) - 1)) say(line)
}

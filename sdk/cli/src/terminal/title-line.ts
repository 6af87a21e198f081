import { fitText } from './fit-text.ts'
import { safeText } from './safe-text.ts'
import type { Terminal } from './terminal.ts'

/** `Price of NAME`: a line with a name in it, which stands out; never wider than the terminal. Cut at its end. */
export function titleLine(before: string, name: string, terminal: Terminal, after = ''): string {
  const { paint, symbols } = terminal
  const start = before === '' ? '' : `${before} `
  const label = safeText(name, 240)
  const cut = fitText(`${start}${label}${safeText(after, 240)}`, terminal.columns() - 1, symbols.ellipsis)
  const end = start.length + label.length
  return cut.slice(0, start.length) + paint.bold(cut.slice(start.length, end)) + cut.slice(end)
}

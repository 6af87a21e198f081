import { fitText, padText, wrapText } from './fit-text.ts'
import { safeText } from './safe-text.ts'
import type { Terminal } from './terminal.ts'

const leastRoom = 10

/** Names and values below each other; long values are wrapped beside their name. */
export function fieldLines(pairs: [string, string][], terminal: Terminal): string[] {
  // On the narrowest terminals names give way to what they name.
  const longest = Math.min(32, Math.max(4, terminal.columns() - leastRoom - 5))
  const nameWidth = Math.min(longest, Math.max(...pairs.map(([name]) => name.length)))
  const room = Math.max(leastRoom, terminal.columns() - nameWidth - 5)
  return pairs.flatMap(([name, value]) => {
    const [first, ...rest] = wrapText(safeText(value, 1000), room)
    const label = terminal.paint.dim(
      padText(fitText(safeText(name, 60), nameWidth, terminal.symbols.ellipsis), nameWidth),
    )
    return [`  ${label}  ${first}`, ...rest.map((line) => `${' '.repeat(nameWidth + 4)}${line}`)]
  })
}

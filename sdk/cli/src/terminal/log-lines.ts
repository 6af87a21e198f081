import type { ScenarioLogs } from '@agentgym/contract'
import { formatCount } from './format-values.ts'
import type { Terminal } from './terminal.ts'
import { safeText, wrapText } from './text.ts'

/** Where `entries` leave some out: see `scenarioLogsSchema`. */
const keptFirst = 50
const linesOfOne = 4

/** What a scenario logged, each with the place; of more than `most` calls the first and the last. */
export function logLines({ calls, entries }: ScenarioLogs, terminal: Terminal, most: number): string[] {
  const whole = calls === entries.length && calls <= most
  const first = whole ? entries : entries.slice(0, Math.min(keptFirst, most / 2))
  const last = entries.slice(Math.max(first.length, entries.length - most / 2))
  const omitted = calls - first.length - last.length
  const { paint, symbols } = terminal
  const more = `${symbols.ellipsis} ${formatCount(omitted)} more`
  return [
    ...first.flatMap((entry) => entryLines(entry, terminal)),
    ...(omitted > 0 ? [`  ${paint.dim('|')} ${paint.dim(more)}`] : []),
    ...last.flatMap((entry) => entryLines(entry, terminal)),
  ]
}

type Entry = ScenarioLogs['entries'][number]

function entryLines(entry: Entry, { paint, columns }: Terminal): string[] {
  const mark = entry.level === 'error' ? paint.fail('|') : entry.level === 'warn' ? paint.warn('|') : paint.dim('|')
  const place = placeText(entry)
  const width = Math.max(20, Math.min(columns(), 140) - place.length - 6)
  const [head, ...rest] = wrapText(safeText(entry.text, 600), width).slice(0, linesOfOne)
  const indent = ' '.repeat(place.length + 2)
  return [`  ${mark} ${paint.dim(place)}  ${head}`, ...rest.map((line) => `  ${mark} ${indent}${line}`)]
}

/** `step 17 of environment 3`, `reset of environment 3` or `load` */
function placeText({ phase, environment, step }: Entry): string {
  if (environment === undefined) return phase
  return `${phase}${phase === 'reset' ? '' : ` ${step}`} of environment ${environment}`
}

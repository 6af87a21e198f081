import type { WorkerEvent } from '@agentgym/runtime'
import { formatCount, formatDuration, formatValue } from './format-figures.ts'
import { safeText } from './safe-text.ts'
import type { Terminal } from './terminal.ts'

const verbs = { check: 'Check', evaluate: 'Evaluate', train: 'Train on' }

/** What a worker is at, in one line; undefined for what only a program wants to know. */
export function workerLine(event: WorkerEvent, { paint, symbols }: Terminal): string | undefined {
  const ok = paint.accent(symbols.ok)
  if (event.event === 'waiting') return paint.dim('  Nothing to do; waiting.')
  if (event.event === 'unreachable') {
    const again = formatDuration(event.retry_ms / 1_000)
    return `${symbols.warning} ${safeText(event.error.message, 200)} Again in ${again}.`
  }
  const name = paint.bold(safeText(event.subject, 240))
  const run = event.run === undefined ? '' : paint.dim(` ${event.run.slice(0, 8)}`)
  switch (event.event) {
    case 'leased':
      return `${symbols.next} ${verbs[event.kind]} ${name}${run}${again(event.attempt)}`
    case 'progress': {
      const share = Math.floor((100 * event.steps) / event.steps_total)
      const steps = `${formatCount(event.steps)} steps (${share}%)`
      return paint.dim(`  ${safeText(event.subject, 240)}${run}  ${steps}, return ${formatValue(event.return_mean)}`)
    }
    case 'checkpoint':
      return undefined
    case 'restarted':
      return `${symbols.warning} The trainer of ${name}${run} ended; it goes on from iteration ${event.iteration}: ${safeText(event.error.message, 300)}`
    case 'finished':
      if (event.ok) return `${ok} ${name} ${event.kind === 'check' ? 'passes its checks' : 'is evaluated'}`
      return `${paint.fail(symbols.failed)} ${name} fails: ${safeText(event.failed.join(', '), 300)}`
    case 'ended':
      return endLine(event, `${name}${run}`, { paint, symbols })
    case 'released':
      return `${symbols.next} ${name}${run} is given back`
    case 'lost':
      return `${symbols.warning} ${name}${run} has gone to another worker`
    case 'failed':
      return `${symbols.warning} ${name}${run} could not be done, and is tried again: ${safeText(event.error.message, 300)}`
  }
}

function endLine(
  { state, error }: Extract<WorkerEvent, { event: 'ended' }>,
  name: string,
  { paint, symbols }: Pick<Terminal, 'paint' | 'symbols'>,
): string {
  switch (state) {
    case 'completed':
      return `${paint.accent(symbols.ok)} ${name} is trained`
    case 'failed':
      return `${paint.fail(symbols.failed)} ${name} fails: ${safeText(error?.message ?? '', 300)}`
    case 'budget_exceeded':
      return `${symbols.warning} ${name} has used up its budget; its checkpoint is kept`
    default:
      return `${symbols.next} ${name} is ${state}`
  }
}

function again(attempt: number | undefined): string {
  return attempt === undefined || attempt === 1 ? '' : `, attempt ${attempt}`
}

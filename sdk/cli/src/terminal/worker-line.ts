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
  if (event.event === 'calls_unsupported') return paint.dim('  This server hosts no agents: no calls to answer.')
  const name = paint.bold(safeText(event.subject, 240))
  if (isCallEvent(event)) return callLine(event, name, { paint, symbols })
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

type AgentEvent = Extract<WorkerEvent, { event: 'agent_loaded' | 'calls_answered' | 'agent_failed' | 'calls_dropped' }>

function isCallEvent(event: WorkerEvent): event is AgentEvent {
  return ['agent_loaded', 'calls_answered', 'agent_failed', 'calls_dropped'].includes(event.event)
}

function callLine(event: AgentEvent, name: string, { paint, symbols }: Pick<Terminal, 'paint' | 'symbols'>): string {
  switch (event.event) {
    case 'agent_loaded':
      return `${symbols.next} Run ${name}`
    case 'calls_answered': {
      const failed = event.failed === 0 ? '' : `, ${formatCount(event.failed)} with an error`
      const calls = event.calls === 1 ? 'call' : 'calls'
      return paint.dim(`  ${safeText(event.subject, 240)}  ${formatCount(event.calls)} ${calls} answered${failed}`)
    }
    case 'agent_failed':
      return `${paint.fail(symbols.failed)} ${name} fails: ${safeText(event.error.message, 300)}`
    case 'calls_dropped':
      return `${symbols.warning} Calls of ${name} are left to the next worker: ${safeText(event.error.message, 300)}`
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

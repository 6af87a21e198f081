import { watchRun } from '@agentgym/client'
import { formatAmount, type Run, type RunEvent } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { clientOf, explained } from '../registry/call-api.ts'
import { shortId } from '../registry/find-by-id.ts'
import { formatAge, formatBytes, formatCount, formatDuration, formatValue } from '../terminal/format-values.ts'
import { fieldLines } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, safeText, wrapText } from '../terminal/text.ts'
import { costText, parentText, remoteText } from '../training-view/run-state.ts'
import { evaluationLines } from '../training-view/summary-lines.ts'
import { curveLines, type ReturnCurve } from './curve-lines.ts'

type ReportOptions = { verbose: boolean; nowMs: number }

const eventsShown = 12

/** Everything about a run: fields, curve, result, events. No line is wider than the terminal. */
export function runReport(run: Run, history: RunHistory, terminal: Terminal, options: ReportOptions): string[] {
  const { paint, symbols } = terminal
  const width = Math.min(terminal.columns(), 100)
  const note = run.note === null ? [] : wrapText(safeText(run.note, 200), width)
  return [
    `${paint.bold(`Run ${shortId(run.id)}`)} ${symbols.dot} ${runStateText(run, terminal)}`,
    ...note,
    ...failureLines(run, terminal, width - 2),
    ...fieldLines(fields(run, options), terminal),
    ...curveLines(history.curve, curveRange(run), terminal),
    ...(run.evaluation === null ? [] : ['Result', ...evaluationLines(run.evaluation, terminal)]),
    ...eventLines(run, history, terminal),
    ...(options.verbose ? ['Settings', ...fieldLines(settingPairs(run), terminal)] : []),
  ]
}

function failureLines({ error }: Run, { paint, symbols }: Terminal, width: number): string[] {
  if (error === null) return []
  const text = (line: string) => line.split(/\r?\n/).flatMap((part) => wrapText(safeText(part, 2_000), width))
  const [first, ...rest] = text(error.message).slice(0, 20)
  const hint = error.hint === undefined ? [] : text(error.hint).slice(0, 10)
  return [
    `${paint.fail(symbols.failed)} ${first}`,
    ...rest.map((line) => `  ${line}`),
    ...hint.map((line, index) => `${index === 0 ? symbols.next : ' '} ${line}`),
    `  ${paint.dim(error.code)}`,
  ]
}

function fields(run: Run, { nowMs }: ReportOptions): [string, string][] {
  const { cost, progress, agent } = run
  const price = cost.price_minor_per_hour
  const hourly = price ? `, at ${formatAmount(price, cost.currency)} per hour` : ''
  const pairs: [string, string | null][] = [
    ['id', run.id],
    ['scenario', `${run.scenario.name}@${run.scenario.version}`],
    ['started from', run.parent ? parentText(run.parent) : null],
    ['algorithm', `${run.algorithm}, seed ${run.seed}`],
    ['account', run.created_by === run.owner ? run.owner : `${run.owner}, started by ${run.created_by}`],
    ['submitted', `${momentText(run.created_at)}, ${formatAge(run.created_at, nowMs)} ago`],
    ['duration', run.ended_at === null || run.started_at === null ? null : tookText(run.started_at, run.ended_at)],
    ['GPU', gpuText(run)],
    ['worker', run.worker === null ? null : `${run.worker}${run.attempt > 1 ? ` (attempt ${run.attempt})` : ''}`],
    ['progress', progress === null ? null : progressText(progress)],
    [
      'checkpoint',
      run.checkpoint &&
        `iteration ${formatCount(run.checkpoint.iteration)}, ${formatCount(run.checkpoint.steps)} steps`,
    ],
    ['cost', `${costText(run) ?? 'free'}${hourly}`],
    ['agent', agent && `${formatBytes(agent.size)}, ${agent.integrity}`],
    ['package', agent?.package ? `${agent.package.name}@${agent.package.version}` : null],
  ]
  return pairs.filter((pair): pair is [string, string] => pair[1] !== null)
}

/** `1 of 24 GB or more, 91% busy`; null if the run needs none. */
function gpuText({ gpu, gpu_usage: usage }: Run): string | null {
  if (!gpu) return null
  const memory = gpu.memory_bytes === 0 ? '' : ` of ${formatBytes(gpu.memory_bytes)} or more`
  const busy = usage?.busy == null ? '' : `, ${Math.round(usage.busy * 100)}% busy`
  return `${gpu.count}${memory}${busy}`
}

function progressText({
  steps,
  steps_total: total,
  steps_per_second: rate,
  episodes_total,
}: NonNullable<Run['progress']>): string {
  return `${formatCount(steps)} of ${formatCount(total)} steps, ${formatCount(rate)} steps/s, ${formatCount(episodes_total)} episodes`
}

function curveRange(run: Run): { target: number | undefined; stepsEnd: number | undefined } {
  const criterion = run.evaluation?.success.criteria.find(({ metric }) => metric === 'return_mean')
  return { target: criterion?.target, stepsEnd: run.ended_at === null ? run.progress?.steps_total : undefined }
}

function eventLines(run: Run, { events }: RunHistory, terminal: Terminal): string[] {
  const lines = events.flatMap((event) => {
    const text = eventText(run, event)
    return text === undefined ? [] : [{ at: event.at, text }]
  })
  if (lines.length === 0) return []
  const shown = lines.slice(-eventsShown)
  const left = lines.length - shown.length
  const checkpoints = events.filter(({ type }) => type === 'checkpoint').length
  const title = `Events${left > 0 ? `, ${formatCount(left)} earlier events omitted` : ''}`
  return [
    checkpoints > 0 ? `${title}; ${formatCount(checkpoints)} checkpoint${checkpoints === 1 ? '' : 's'}` : title,
    ...shown.map(
      ({ at, text }) =>
        `  ${terminal.paint.dim(momentText(at))}  ${fitText(text, Math.max(10, terminal.columns() - 24), terminal.symbols.ellipsis)}`,
    ),
  ]
}

function eventText(run: Run, event: RunHistory['events'][number]): string | undefined {
  switch (event.type) {
    case 'evaluation':
      return `Evaluation: return ${formatValue(event.data.evaluation.return_mean)} at ${formatCount(event.data.steps)} steps`
    case 'completed':
      return `Completed, ${formatCount(event.data.steps)} steps in ${formatDuration(event.data.seconds)}`
    case 'failed':
      return `Failed: ${safeText(event.data.error.message, 300)}`
    case 'cancelled':
      return 'Canceled'
    case 'paused':
      return `Paused at ${formatCount(event.data.steps)} steps`
    case 'budget_exceeded':
      return `Budget used up: ${formatAmount(event.data.spent_minor, run.cost.currency)} spent`
    default:
      return remoteText({ run, event })
  }
}

function settingPairs({ settings }: Run): [string, string][] {
  return Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value) ?? '-'])
}

/** `2026-11-28 03:20:04`, in UTC. */
function momentText(moment: string): string {
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}

function tookText(from: string, to: string): string {
  return `${formatDuration(Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000))}`
}

export type RunHistory = {
  /** Events of the run in order, without its iterations, which are the curve. */
  events: Exclude<RunEvent, { type: 'progress' }>[]
  /** Mean return of the last 100 episodes after each iteration; none before an episode has ended. */
  curve: ReturnCurve
}

/** All events of a run so far. */
export async function readHistory(connection: Connection, run: Run): Promise<RunHistory> {
  const history: RunHistory = { events: [], curve: [] }
  await explained(connection, async () => {
    if (run.last_event === 0) return
    for await (const event of watchRun(clientOf(connection), run.id)) {
      if (event.type !== 'progress') history.events.push(event)
      else if (event.data.return_mean !== null) {
        history.curve.push({ steps: event.data.steps, return_mean: event.data.return_mean })
      }
      if (event.seq >= run.last_event) return
    }
  })
  return history
}

/** A run's state, with its symbol. */
export function runStateText({ state, ahead, unserved, cancel_requested: ending }: Run, { symbols }: Terminal): string {
  switch (state) {
    case 'completed':
      return `${symbols.ok} completed`
    case 'failed':
      return `${symbols.failed} failed`
    case 'cancelled':
      return `${symbols.warning} canceled`
    case 'budget_exceeded':
      return `${symbols.warning} out of budget`
    case 'paused':
      return `${symbols.warning} paused`
    case 'queued':
      if (unserved) return `${symbols.warning} queued, its workers or GPU are not connected`
      return ahead ? `queued, ${ahead} ahead` : 'queued'
    case 'running':
      return ending ? 'canceling' : 'running'
  }
}

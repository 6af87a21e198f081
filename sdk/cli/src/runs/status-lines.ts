import type { ServerStatus } from '@agentgym/contract'
import { fitText } from '../terminal/fit-text.ts'
import { formatAge } from '../terminal/format-age.ts'
import { formatAmount } from '../terminal/format-amount.ts'
import { formatCount } from '../terminal/format-figures.ts'
import { progressBar } from '../terminal/progress-bar.ts'
import { safeText } from '../terminal/safe-text.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Worker = ServerStatus['workers'][number]

const barWidth = 8
const kinds = [
  ['train', 'training'],
  ['evaluate', 'evaluation'],
  ['check', 'checks'],
] as const

/** The server at a glance: queue, workers, and whose runs are asked for. No line is wider than the terminal. */
export function statusLines(server: string, status: ServerStatus, terminal: Terminal, nowMs: number): string[] {
  const { paint, symbols } = terminal
  const heard = status.workers.filter(({ state }) => state !== 'silent').length
  const title = `${safeText(server, 200)} ${symbols.dot} ${formatCount(heard)} worker${heard === 1 ? '' : 's'}`
  return [
    paint.bold(fitText(title, terminal.columns() - 1, symbols.ellipsis)),
    ...queueLines(status, terminal),
    '',
    ...workerLines(status, terminal, nowMs),
    '',
    `Your runs: ${formatCount(status.runs.running)} running, ${formatCount(status.runs.queued)} queued`,
    status.runs.running + status.runs.queued > 0
      ? `${symbols.next} Look at them: ${paint.accent('agentgym runs list')}`
      : `${symbols.next} Start one: ${paint.accent('agentgym train @acme/cart-pole --remote --watch')}`,
  ]
}

function queueLines({ queue }: ServerStatus, terminal: Terminal): string[] {
  const columns: Column[] = [
    { title: 'Queue' },
    { title: 'running', align: 'right' },
    { title: 'waiting', align: 'right' },
  ]
  const rows = kinds.map(([kind, name]) => [name, formatCount(queue[kind].running), formatCount(queue[kind].queued)])
  return renderTable(columns, rows, terminal)
}

function workerLines({ workers, currency }: ServerStatus, terminal: Terminal, nowMs: number): string[] {
  const { paint, symbols } = terminal
  if (workers.length === 0) {
    const start = `AGENTGYM_TOKEN=${symbols.ellipsis} agentgym worker`
    return [
      'No worker has been heard of: runs wait until one comes.',
      `${symbols.next} Start one: ${paint.accent(start)}`,
    ]
  }
  const gpus = workers.some((worker) => worker.gpus.length > 0)
  const columns: Column[] = [
    { title: 'Worker', shrink: true },
    { title: 'State' },
    { title: 'Jobs', align: 'right' },
    { title: 'Cores', align: 'right' },
    { title: 'CPU' },
    { title: 'Memory' },
    ...(gpus ? [{ title: 'GPU' }] : []),
    { title: 'An hour', align: 'right' },
    ...(gpus ? [{ title: 'GPUs', shrink: true }] : []),
  ]
  const rows = workers.map((worker) => [
    safeText(worker.name, 80),
    stateText(worker, nowMs),
    `${worker.running} of ${worker.slots}`,
    formatCount(worker.cores),
    loadText(worker.usage.cpu, terminal),
    `${loadText(worker.usage.memory, terminal)} of ${formatMemory(worker.memory_bytes)}`,
    ...(gpus ? [worker.gpus.length === 0 ? '-' : loadText(worker.usage.gpu, terminal)] : []),
    worker.price_minor_per_hour === 0 ? 'free' : formatAmount(worker.price_minor_per_hour, currency),
    ...(gpus ? [gpuText(worker)] : []),
  ])
  return renderTable(columns, rows, terminal, (text, row, column) => {
    if (workers[row].state === 'silent') return paint.dim(text)
    return column === 0 ? paint.bold(text) : text
  })
}

function stateText({ state, seen_at }: Worker, nowMs: number): string {
  return state === 'silent' ? `silent ${formatAge(seen_at, nowMs)}` : state
}

/** A bar with its share in figures; plain text, for a table measures it. */
function loadText(share: number | null, terminal: Terminal): string {
  if (share === null) return '-'
  const plain = { ...terminal, paint: { ...terminal.paint, accent: same, dim: same } }
  return `${progressBar(share, barWidth, plain)} ${`${Math.round(share * 100)}%`.padStart(4)}`
}

const same = (text: string) => text

/** `2 × NVIDIA H100, 80 GB`: equal ones together. */
function gpuText({ gpus }: Worker): string {
  if (gpus.length === 0) return '-'
  const counts = new Map<string, number>()
  for (const { name, memory_bytes } of gpus) {
    const label = `${safeText(name, 80)}, ${formatMemory(memory_bytes)}`
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  return [...counts].map(([label, count]) => (count === 1 ? label : `${count} x ${label}`)).join('; ')
}

/** Memory is sold in powers of two. */
function formatMemory(bytes: number): string {
  const gib = bytes / 2 ** 30
  return `${gib >= 10 ? Math.round(gib) : gib.toFixed(1)} GiB`
}

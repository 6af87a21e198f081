import { formatAmount, type ServerStatus } from '@agentgym/contract'
import type { Command } from 'commander'
import { findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { readStatus } from '../runs/run-api.ts'
import { formatAge, formatCount } from '../terminal/format-values.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { columnsOf, fitText, safeText, wrapText } from '../terminal/text.ts'

export function addStatusCommand(program: Command, action: MakeAction): void {
  program.command('status').description("show the server's queue, its workers and your runs").action(action(status))
}

/** `agentgym status`: the server's queue, its workers, and the user's runs. */
export async function status(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const answer: ServerStatus = await readStatus(connection)
  context.printJson({ server: connection.server, ...answer })
  if (context.json) return
  for (const line of statusLines(connection.server, answer, context.terminal, Date.now())) context.print(line)
}

type Worker = ServerStatus['workers'][number]

const barWidth = 8
const kinds = [
  ['train', 'training'],
  ['evaluate', 'evaluation'],
  ['check', 'checks'],
  ['replay', 'kept episodes'],
] as const

/** The server's queue and workers, and the user's runs. No line is wider than the terminal. */
export function statusLines(server: string, status: ServerStatus, terminal: Terminal, nowMs: number): string[] {
  const { paint, symbols } = terminal
  const active = status.workers.filter(({ state }) => state !== 'silent').length
  const title = `${safeText(server, 200)} ${symbols.dot} ${formatCount(active)} worker${active === 1 ? '' : 's'}`
  return [
    paint.bold(fitText(title, terminal.columns() - 1, symbols.ellipsis)),
    ...queueLines(status, terminal),
    '',
    ...workerLines(status, terminal, nowMs),
    ...holdLines(status, terminal),
    '',
    `Your runs: ${formatCount(status.runs.running)} running, ${formatCount(status.runs.queued)} queued`,
    ...unservedLines(status, terminal),
    status.runs.running + status.runs.queued > 0
      ? `${symbols.next} List them: ${paint.accent('agentgym runs list')}`
      : `${symbols.next} Start one: ${paint.accent('agentgym train @acme/cart-pole --remote --watch')}`,
  ]
}

/** Runs that wait for a GPU which no connected worker has, or for more workers. */
function unservedLines({ runs: { unserved = 0 } }: ServerStatus, { paint, symbols }: Terminal): string[] {
  if (unserved === 0) return []
  const which = unserved === 1 ? '1 of them waits' : `${formatCount(unserved)} of them wait`
  return [paint.warn(`${symbols.warning} ${which} for a GPU or a number of workers that are not connected`)]
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
    return ['No workers. Runs wait until one connects.', `${symbols.next} Start one: ${paint.accent(start)}`]
  }
  const columns: Column[] = [
    { title: 'Worker', shrink: true },
    { title: 'State' },
    { title: 'Jobs', align: 'right' },
    { title: 'Per hour', align: 'right' },
  ]
  const rows = workers.map((worker) => [
    safeText(worker.name, 80),
    stateText(worker, nowMs),
    `${worker.running} of ${worker.slots}`,
    worker.price_minor_per_hour === 0 ? 'free' : formatAmount(worker.price_minor_per_hour, currency),
  ])
  const [head, ...lines] = renderTable(columns, rows, terminal, (text, row, column) =>
    column === 0 && workers[row].state !== 'silent' ? paint.bold(text) : text,
  )
  return [
    head,
    ...lines.flatMap((line, row) => [
      line,
      ...machineLines(workers[row], terminal),
      ...wallLines(workers[row], terminal),
    ]),
  ]
}

/** Workers that get no evaluations until an operator releases them. */
function holdLines({ held_back: holds = [] }: ServerStatus, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const width = terminal.columns() - 3
  return holds.flatMap(({ id, worker, reason }) => {
    const text = `${safeText(worker ?? 'A worker', 80)} gets no evaluations. ${safeText(reason, 400)}`
    const [first, ...rest] = wrapText(text, width)
    const command = `curl -X POST ${symbols.ellipsis}/v1/worker-holds/${id}/release`
    return [
      `${paint.fail(symbols.failed)} ${first}`,
      ...[...rest, ...wrapText(`Release it on the site (Operator, Workers), or: ${command}`, width)].map(
        (line) => `  ${line}`,
      ),
    ]
  })
}

/** The resources of a worker's machine and their usage, wrapped to the terminal. */
function machineLines({ state, usage, cores, memory_bytes, gpus }: Worker, terminal: Terminal): string[] {
  const parts = [
    loadText('CPU', usage.cpu, `${formatCount(cores)} core${cores === 1 ? '' : 's'}`, terminal),
    loadText('memory', usage.memory, formatMemory(memory_bytes), terminal),
    ...(gpus.length > 0 ? [loadText('GPU', usage.gpu, gpuText(gpus), terminal)] : []),
  ]
  const room = terminal.columns() - 3
  const gap = ` ${terminal.symbols.dot} `
  const lines: string[] = []
  for (const part of parts.map((text) => fitText(text, room, terminal.symbols.ellipsis))) {
    const last = lines.at(-1)
    if (last !== undefined && columnsOf(last + gap + part) <= room) lines[lines.length - 1] = last + gap + part
    else lines.push(part)
  }
  return lines.map((line) => `  ${state === 'silent' ? terminal.paint.dim(line) : line}`)
}

/** What a worker's sandbox lacks, if anything. */
function wallLines({ missing_walls: missing }: Worker, { paint, symbols, columns }: Terminal): string[] {
  if (missing === null || missing.length === 0) return []
  const text = `${symbols.warning} Sandbox without: ${missing.join(', ')}`
  return [`  ${paint.warn(fitText(text, columns() - 3, symbols.ellipsis))}`]
}

function stateText({ state, seen_at }: Worker, nowMs: number): string {
  return state === 'silent' ? `silent ${formatAge(seen_at, nowMs)}` : state
}

/** `CPU ━━━━━───  62% of 16 cores`; plain text, since it is measured and cut. */
function loadText(name: string, share: number | null, whole: string, { symbols }: Terminal): string {
  if (share === null) return `${name} ${whole}`
  const done = Math.round(share * barWidth)
  const bar = symbols.barDone.repeat(done) + symbols.barLeft.repeat(barWidth - done)
  return `${name} ${bar} ${`${Math.round(share * 100)}%`.padStart(4)} of ${whole}`
}

/** `2 x NVIDIA H100, 80 GiB`: identical ones grouped. */
function gpuText(gpus: Worker['gpus']): string {
  const counts = new Map<string, number>()
  for (const { name, memory_bytes } of gpus) {
    const label = `${safeText(name, 80)}, ${formatMemory(memory_bytes)}`
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  return [...counts].map(([label, count]) => (count === 1 ? label : `${count} x ${label}`)).join('; ')
}

/** In powers of two, as memory is sold. */
function formatMemory(bytes: number): string {
  const gib = bytes / 2 ** 30
  return `${gib >= 10 ? Math.round(gib) : gib.toFixed(1)} GiB`
}

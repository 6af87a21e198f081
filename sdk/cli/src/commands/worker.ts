import { hostname } from 'node:os'
import { endOwnPod } from '@agentgym/compute'
import { AgentGymError } from '@agentgym/contract'
import type { WorkerEvent } from '@agentgym/runtime'
import type { Command } from 'commander'
import { findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { wholeNumber } from '../option-values.ts'
import { explained } from '../registry/call-api.ts'
import { formatCount, formatDuration, formatValue } from '../terminal/format-values.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText } from '../terminal/text.ts'
import { requireWalls } from '../walls.ts'
import { hostAndPort } from './train-processes.ts'

export function addWorkerCommand(program: Command, action: MakeAction): void {
  program
    .command('worker')
    .description(
      'run jobs of a server: checks, evaluations, training and hosted agents; needs a token with the scope worker in AGENTGYM_TOKEN',
    )
    .option('--server <URL>', 'server (default: AGENTGYM_SERVER, or the one you are logged in to)')
    .option('--kinds <KINDS>', `kinds of jobs to run (default: ${workerKinds.join(',')})`)
    .option(
      '--slots <N>',
      'jobs at a time (default: depends on the machine)',
      wholeNumber('slots', { least: 1, greatest: 250 }),
    )
    .option('--name <NAME>', 'name of the worker (default: the host name)')
    .option(
      '--price <MINOR>',
      'price of an hour of training, in cents or the smallest unit of the currency (default: AGENTGYM_WORKER_PRICE_MINOR, or 0)',
      wholeNumber('price', { least: 0, greatest: 1_000_000_000 }),
    )
    .option(
      '--without-walls <WALLS>',
      'parts of the sandbox that this machine may lack, such as network,processes, or any (default: AGENTGYM_WITHOUT_WALLS, or none)',
    )
    .option(
      '--exit-when-idle <SECONDS>',
      'end after this long without a job other than calls, for engines that start a worker per job',
      wholeNumber('exit-when-idle', { least: 1, greatest: 86_400 }),
    )
    .option(
      '--gangs',
      'also train runs of several workers, which connect to each other without encryption (trusted networks only)',
    )
    .option(
      '--advertise-address <HOST:PORT>',
      `with --gangs: where the other workers reach this one (default: the host name, port ${gangPort})`,
    )
    .option('--run <ID>', 'train this run and nothing else, for engines that start a worker per run', runId)
    .option('--gpu-only', 'run trainings that need a GPU and nothing else, for machines that are paid by the hour')
    .option(
      '--end-after <SECONDS>',
      'save and release jobs and end after this long, at the latest a minute later',
      wholeNumber('end-after', { least: 1, greatest: 2_000_000 }),
    )
    .option('--end-pod', 'on RunPod: delete the pod that the worker runs in when the worker ends')
    .action(action(worker))
}

/** As PyTorch's rendezvous. */
const gangPort = 29_500
const besidePollMs = 500
/** How long a worker whose parent is gone tries to release its jobs. */
const orphanMs = 15_000

const workerKinds = ['replay', 'check', 'evaluate', 'train', 'call'] as const

type WorkerFlags = {
  server?: string
  kinds?: string
  slots?: number
  name?: string
  price?: number
  withoutWalls?: string
  exitWhenIdle?: number
  gangs?: boolean
  advertiseAddress?: string
  run?: string
  gpuOnly?: boolean
  endAfter?: number
  endPod?: boolean
}

/** How long a worker whose time is up tries to release its jobs. */
const releaseMs = 60_000

/** `agentgym worker`: runs jobs of a server until Ctrl-C. */
export async function worker(flags: WorkerFlags, context: CommandContext): Promise<void> {
  try {
    await runJobs(flags, context)
  } finally {
    // Also when it could not start: a container that ends is started again, and paid.
    if (flags.endPod && !(await endOwnPod(context.io.environment)))
      context.print(`${context.terminal.symbols.warning} --end-pod: this is no pod of RunPod`)
  }
}

async function runJobs(flags: WorkerFlags, context: CommandContext): Promise<void> {
  const kinds = kindsOf(flags.kinds)
  const priceMinorPerHour = flags.price ?? priceOf(context.io.environment.AGENTGYM_WORKER_PRICE_MINOR)
  const gangAddress = gangAddressOf(flags)
  const connection = await findConnection(context, flags.server)
  const { server, token } = connection
  if (token === null) {
    throw new AgentGymError({
      code: 'unauthenticated',
      message: 'AGENTGYM_TOKEN is not set',
      hint: 'Set it to a token with the scope worker. An operator of the server creates it: agentgym token create NAME --username NAME --scope worker',
      data: { server },
    })
  }
  // Nothing that this process starts from here on inherits it.
  delete process.env.AGENTGYM_TOKEN
  const runtime = await context.runtime()
  const walls = await runtime.machineWalls()
  requireWalls(walls, flags.withoutWalls ?? context.io.environment.AGENTGYM_WITHOUT_WALLS)
  if (walls.missing.length > 0) {
    context.print(`${context.terminal.symbols.warning} Sandbox without: ${walls.missing.join(', ')}. ${walls.reason}`)
    context.printJson({ event: 'walls_missing', missing: walls.missing, reason: walls.reason })
  }
  const { symbols } = context.terminal
  // Under `serve`, which prints its own start and stop.
  const { parent } = context.io
  const beside = parent !== undefined
  const interrupt = cancelOnInterrupt(context, () => {
    if (!beside)
      context.print(`${symbols.next} Stopping: saving and releasing jobs in progress. Press Ctrl-C again to exit now`)
  })
  const abandoned = new AbortController()
  // A worker of `serve` ends with it, however that ended.
  const orphaned = () => {
    interrupt.interrupt()
    setTimeout(() => abandoned.abort(), orphanMs).unref()
  }
  const removeListener = parent?.onGone(orphaned)
  const idle = idleTimer(flags.exitWhenIdle, interrupt.interrupt)
  const timers = endTimers(flags.endAfter, interrupt.interrupt, () => abandoned.abort())
  if (!beside) context.print(`${symbols.next} Running jobs of ${server}: ${kinds.join(', ')}. Press Ctrl-C to stop.`)
  try {
    await explained(connection, () =>
      runtime.runWorker({
        ...{ server, token, kinds, priceMinorPerHour, gangAddress },
        slots: flags.slots,
        name: flags.name,
        run: flags.run,
        gpuOnly: flags.gpuOnly,
        stop: interrupt.signal,
        signal: abandoned.signal,
        // Polling the local server is cheap, and its user is waiting.
        ...(beside ? { pollMs: besidePollMs } : {}),
        onEvent: (event) => {
          idle(event)
          context.printJson(event)
          const line = workerLine(event, context.terminal)
          if (line !== undefined && !(beside && event.event === 'waiting')) context.print(line)
        },
      }),
    )
  } finally {
    for (const timer of timers) clearTimeout(timer)
    removeListener?.()
    interrupt.release()
    parent?.disconnect()
  }
}

/** Calls `end` after `seconds` in which the worker had no job. */
function idleTimer(seconds: number | undefined, end: () => void): (event: WorkerEvent) => void {
  let timer: NodeJS.Timeout | undefined
  return ({ event }) => {
    if (event === 'waiting' && seconds !== undefined) timer = setTimeout(end, seconds * 1_000).unref()
    if (event === 'leased') clearTimeout(timer)
  }
}

/** Ends the worker gracefully after `seconds`, and at once a minute later. */
function endTimers(seconds: number | undefined, end: () => void, abandon: () => void): NodeJS.Timeout[] {
  if (seconds === undefined) return []
  const endMs = seconds * 1_000
  return [setTimeout(end, endMs), setTimeout(abandon, endMs + releaseMs)]
}

/** Where workers of the same run reach this one. Undefined: it trains alone. */
function gangAddressOf({ gangs = false, advertiseAddress, run, gpuOnly }: WorkerFlags): string | undefined {
  if (!gangs) {
    if (advertiseAddress === undefined) return undefined
    throw invalid('advertise-address', '--advertise-address needs --gangs', 'Add --gangs, on trusted networks only.')
  }
  if (run !== undefined || gpuOnly)
    throw invalid(
      'gangs',
      `--gangs and ${run === undefined ? '--gpu-only' : '--run'} cannot be combined`,
      'Runs of several workers train on CPUs, on workers that take any run.',
    )
  const { address, port } = hostAndPort('--advertise-address', advertiseAddress ?? `${hostname()}:${gangPort}`)
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

function runId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text
  throw invalid(
    'run',
    `--run is ${JSON.stringify(text.slice(0, 100))}, which is not the ID of a run`,
    'Give the whole ID, as agentgym runs show prints it.',
  )
}

function kindsOf(text: string | undefined): (typeof workerKinds)[number][] {
  if (text === undefined) return [...workerKinds]
  const words = text.split(',').map((word) => word.trim())
  const kinds = workerKinds.filter((kind) => words.includes(kind))
  if (words.every((word) => workerKinds.some((kind) => kind === word))) return kinds
  throw invalid('kinds', `--kinds is ${text}`, `Use one or more of ${workerKinds.join(', ')}, separated by commas.`)
}

function priceOf(text: string | undefined): number {
  if (text === undefined || text === '') return 0
  const price = Number(text)
  if (Number.isInteger(price) && price >= 0 && price <= 1e9) return price
  const hint = 'Use a whole number in the smallest unit of the currency, such as 250 for 2.50 per hour.'
  throw invalid('AGENTGYM_WORKER_PRICE_MINOR', `AGENTGYM_WORKER_PRICE_MINOR is ${text}`, hint)
}

function invalid(field: string, message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field } })
}

const verbs = { replay: 'Replay an episode of', check: 'Check', evaluate: 'Evaluate', train: 'Train on' }
const results = { replay: 'replayed', check: 'passed its checks', evaluate: 'evaluated', train: 'trained' }

/** A worker's event as one line; undefined for events that only programs need. */
export function workerLine(event: WorkerEvent, { paint, symbols }: Terminal): string | undefined {
  const ok = paint.accent(symbols.ok)
  if (event.event === 'waiting') return paint.dim('  Waiting for jobs.')
  if (event.event === 'seated')
    return paint.dim(`  Waiting for run ${event.run.slice(0, 8)}: ${event.taken} of ${event.workers} workers are there`)
  if (event.event === 'unreachable') {
    const again = formatDuration(event.retry_ms / 1_000)
    return `${symbols.warning} ${safeText(event.error.message, 200)} Retrying in ${again}.`
  }
  if (event.event === 'calls_unsupported') return paint.dim('  This server does not host agents.')
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
      return `${symbols.warning} The trainer of ${name}${run} exited; resuming from iteration ${event.iteration}: ${safeText(event.error.message, 300)}`
    case 'finished':
      if (event.ok) return `${ok} ${name} ${results[event.kind]}`
      return `${paint.fail(symbols.failed)} ${name} failed: ${safeText(event.failed.join(', '), 300)}`
    case 'ended':
      return endLine(event, `${name}${run}`, { paint, symbols })
    case 'released':
      return `${symbols.next} ${name}${run} released`
    case 'lost':
      return `${symbols.warning} ${name}${run} was reassigned to another worker`
    case 'failed':
      return `${symbols.warning} ${name}${run} failed and will be retried: ${safeText(event.error.message, 300)}`
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
      const failed = event.failed === 0 ? '' : `, ${formatCount(event.failed)} failed`
      const calls = event.calls === 1 ? 'call' : 'calls'
      return paint.dim(`  ${safeText(event.subject, 240)}  ${formatCount(event.calls)} ${calls} answered${failed}`)
    }
    case 'agent_failed':
      return `${paint.fail(symbols.failed)} ${name} failed: ${safeText(event.error.message, 300)}`
    case 'calls_dropped':
      return `${symbols.warning} Calls of ${name} are passed to the next worker: ${safeText(event.error.message, 300)}`
  }
}

function endLine(
  { state, error }: Extract<WorkerEvent, { event: 'ended' }>,
  name: string,
  { paint, symbols }: Pick<Terminal, 'paint' | 'symbols'>,
): string {
  switch (state) {
    case 'completed':
      return `${paint.accent(symbols.ok)} ${name} trained`
    case 'failed':
      return `${paint.fail(symbols.failed)} ${name} failed: ${safeText(error?.message ?? '', 300)}`
    case 'budget_exceeded':
      return `${symbols.warning} ${name} used up its budget; checkpoint saved`
    default:
      return `${symbols.next} ${name} is ${state}`
  }
}

function again(attempt: number | undefined): string {
  return attempt === undefined || attempt === 1 ? '' : `, attempt ${attempt}`
}

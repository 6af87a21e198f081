import { setTimeout as sleep } from 'node:timers/promises'
import { providerNames } from '@agentgym/compute'
import { AgentGymError, formatAmount } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { oneOf, readAmount, wholeNumber } from '../option-values.ts'
import { shortId } from '../registry/find-by-id.ts'
import { findProviders, gpuNameOption, noProviders, rentCurrency } from '../renting/gather-offers.ts'
import { type QueueRenting, type RentingEvent, rentForQueue } from '../renting/rent-for-queue.ts'
import { machineSource, type RentFlags } from '../renting/rent-options.ts'
import { rentalRecords } from '../renting/rental-api.ts'
import { formatDuration } from '../terminal/format-values.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText } from '../terminal/text.ts'

/** Options of numbers, each with the variable that sets it, its default and its range. */
const numbers = {
  'max-machines': { variable: 'AGENTGYM_RENT_MACHINES', usual: 1, least: 1, greatest: 1_000 },
  'wait-seconds': { variable: 'AGENTGYM_RENT_WAIT_SECONDS', usual: 600, least: 0, greatest: 1_000_000 },
  'idle-seconds': { variable: 'AGENTGYM_RENT_IDLE_SECONDS', usual: 300, least: 30, greatest: 86_400 },
  'max-hours': { variable: 'AGENTGYM_RENT_HOURS', usual: 12, least: 1, greatest: 500 },
} as const
const amounts = { 'max-per-hour': 'AGENTGYM_RENT_PER_HOUR', 'max-per-day': 'AGENTGYM_RENT_PER_DAY' } as const

type GpusServeFlags = Pick<RentFlags, 'gpuName' | 'gpuImage' | 'gpuServer' | 'gpuWithoutWalls'> & {
  provider?: string
  maxMachines?: number
  maxPerHour?: string
  maxPerDay?: string
  waitSeconds?: number
  idleSeconds?: number
  maxHours?: number
  once?: boolean
}

export function addGpusServe(group: Command, action: MakeAction): void {
  const number = (name: keyof typeof numbers) => wholeNumber(name, numbers[name])
  const help = (name: keyof typeof numbers, text: string) =>
    `${text} (default: ${numbers[name].variable}, or ${numbers[name].usual})`
  group
    .command('serve')
    .description(
      "rent GPUs for the server's queue, and end them when they are idle; needs an operator's token with the scope worker",
    )
    .option('--provider <NAME>', `${providerNames.join(', ')} (default: all with credentials)`)
    .option('--max-machines <N>', help('max-machines', 'machines at a time'), number('max-machines'))
    .option('--max-per-hour <USD>', `what they may cost an hour, together (default: ${amounts['max-per-hour']})`)
    .option('--max-per-day <USD>', `what they may cost in any 24 hours (default: ${amounts['max-per-day']})`)
    .option(
      '--wait-seconds <N>',
      help('wait-seconds', 'rent for a run that a connected worker could train after it has waited for this long'),
      number('wait-seconds'),
    )
    .option(
      '--idle-seconds <N>',
      help('idle-seconds', 'end a machine without a run after this long'),
      number('idle-seconds'),
    )
    .option('--max-hours <N>', help('max-hours', 'hours after which a machine ends'), number('max-hours'))
    .option(...gpuNameOption)
    .option('--gpu-image <IMAGE>', "the worker's container image (default: AGENTGYM_WORKER_IMAGE)")
    .option('--gpu-server <URL>', 'address of the server as the workers reach it (default: yours)')
    .option('--gpu-without-walls <WALLS>', 'parts of the sandbox that the machines may lack')
    .option('--once', 'one round, then exit')
    .action(action(gpusServe))
}

const roundMs = 30_000

/** `agentgym gpus serve`: rents for the queue until Ctrl-C. Machines that run then end with their runs, when they are idle. */
async function gpusServe(flags: GpusServeFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const renting = await rentingOf(flags, connection, context)
  const { limits } = renting
  const { symbols } = context.terminal
  const interrupt = cancelOnInterrupt(context, () =>
    context.print(`${symbols.next} Stopping. Rented machines end when they are idle.`),
  )
  const [anHour, aDay] = [limits.cents_per_hour, limits.cents_per_day].map((cents) => formatAmount(cents, rentCurrency))
  context.print(
    `${symbols.next} Renting for ${connection.server}: at most ${limits.machines} machines, ${anHour} an hour, ${aDay} a day. Press Ctrl-C to stop.`,
  )
  try {
    while (!interrupt.signal.aborted) {
      await round(renting, flags.once ?? false, context)
      if (flags.once) return
      await sleep(roundMs, undefined, { signal: interrupt.signal }).catch(() => {})
    }
  } finally {
    interrupt.release()
  }
}

async function round(renting: QueueRenting, once: boolean, context: CommandContext): Promise<void> {
  try {
    const events = await rentForQueue(renting)
    if (once && events.some(({ event }) => event === 'problem')) context.exitCode = 1
    for (const event of events) {
      context.printJson(event)
      context.print(eventLine(event, context.terminal))
    }
  } catch (error) {
    // The server is not there, or restarts: the next round begins anew.
    if (once || !(error instanceof AgentGymError) || !transient.includes(error.code)) throw error
    context.printJson({ event: 'problem', provider: null, error: error.toReport() })
    context.print(`${context.terminal.symbols.warning} ${safeText(error.message, 300)}`)
  }
}

const transient = ['server_unreachable', 'rate_limited', 'internal_error', 'database_unavailable']

async function rentingOf(
  flags: GpusServeFlags,
  connection: Connection,
  context: CommandContext,
): Promise<QueueRenting> {
  const { environment } = context.io
  const number = (name: keyof typeof numbers, given: number | undefined) => {
    const { variable, usual, ...range } = numbers[name]
    const text = environment[variable]
    return given ?? (text ? wholeNumber(name, range)(text) : usual)
  }
  const amount = (name: keyof typeof amounts, given: string | undefined) => {
    const text = given ?? environment[amounts[name]]
    const option = { name: `--${name}`, meaning: 'what rented machines may cost' }
    if (text) return readAmount(text, rentCurrency, option)
    throw new AgentGymError({
      code: 'config_invalid',
      message: `Neither --${name} nor ${amounts[name]} is set`,
      hint: `Say what rented machines may cost, in US dollars: --${name} 5.00.`,
      data: { field: name },
    })
  }
  const limits = {
    machines: number('max-machines', flags.maxMachines),
    cents_per_hour: amount('max-per-hour', flags.maxPerHour),
    cents_per_day: amount('max-per-day', flags.maxPerDay),
  }
  const order = { ...machineSource(connection, flags, context), owner: connection.server }
  const named = flags.provider === undefined ? undefined : oneOf('provider', flags.provider, providerNames)
  const { providers, problems } = await findProviders(named, context)
  if (problems.length > 0) {
    const { code, message, hint, data } = problems[0].error
    throw new AgentGymError({ code, message, hint, data })
  }
  if (providers.length === 0) throw noProviders()
  return {
    ...{ records: rentalRecords(connection), providers, order, limits, need: { gpu: flags.gpuName } },
    waitSeconds: number('wait-seconds', flags.waitSeconds),
    idleSeconds: number('idle-seconds', flags.idleSeconds),
    maxSeconds: number('max-hours', flags.maxHours) * 3_600,
  }
}

const refusals: Record<string, string> = {
  machines: 'as many machines as allowed are rented',
  cents_per_hour: 'another one would cost more an hour than allowed',
  cents_per_day: 'the money of the day is used up',
  no_offer: 'no GPU that fits can be had now',
}

function eventLine(event: RentingEvent, { symbols }: Terminal): string {
  switch (event.event) {
    case 'rented': {
      const price = formatAmount(event.price_minor_per_hour, rentCurrency)
      return `${symbols.ok} Rented ${safeText(event.gpu, 80)} at ${event.provider} (${shortId(event.rental)}), ${price} an hour, for at most ${formatDuration(event.max_seconds)}`
    }
    case 'closed':
      return `${symbols.next} Ending ${shortId(event.rental)} at ${event.provider}: ${safeText(event.reason, 200)}`
    case 'ended':
      return `${symbols.ok} ${shortId(event.rental)} at ${event.provider} has ended`
    case 'swept':
      return `${symbols.next} Ended ${safeText(event.worker, 60)} at ${event.provider}: ${event.reason.replaceAll('_', ' ')}`
    case 'refused':
      return `${symbols.warning} ${event.waiting} ${event.waiting === 1 ? 'run waits' : 'runs wait'} for a GPU: ${refusals[event.reason] ?? event.reason}`
    case 'problem':
      return `${symbols.warning} ${safeText(event.error.message, 300)}`
  }
}

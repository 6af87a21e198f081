import {
  type ComputeProvider,
  findWorkerOf,
  type GpuOffer,
  providerNames,
  type RentedWorker,
  type RunFate,
  runOf,
  type SweptWorker,
  sweepWorkers,
} from '@agentgym/compute'
import { AgentGymError, type Run } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { oneOf, wholeNumber } from '../option-values.ts'
import { shortId } from '../registry/find-by-id.ts'
import { chooseOffer } from '../renting/choose-gpu.ts'
import {
  findProviders,
  type GpuNeedFlags,
  gatherOffers,
  gpuMemoryOption,
  gpuMemoryRange,
  gpuNameOption,
  hourlyPrice,
  noProviders,
  offerJson,
  printProblems,
} from '../renting/gather-offers.ts'
import { addRentOptions, type RentFlags, workerSource } from '../renting/rent-options.ts'
import { rentalTerms, termLines, termsJson } from '../renting/rental-terms.ts'
import { rentFor } from '../renting/rented-run.ts'
import { findRun, hasEnded, readRun } from '../runs/run-api.ts'
import { formatAge } from '../terminal/format-values.ts'
import { confirm } from '../terminal/prompts.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText } from '../terminal/text.ts'
import { addGpusServe } from './gpus-serve.ts'

const providerOption = ['--provider <NAME>', `${providerNames.join(', ')} (default: all with credentials)`] as const

export function addGpuCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('gpus')
    .usage('[COMMAND] [options]')
    .description('GPUs to rent, and the workers that run on rented ones')
  group
    .command('list', { isDefault: true })
    .description('list GPUs that can be rented now, cheapest first (the default)')
    .option(...providerOption)
    .option(...gpuMemoryOption, wholeNumber('gpu-memory', gpuMemoryRange))
    .option(...gpuNameOption)
    .action(action(gpus))
  const rent = group
    .command('rent')
    .argument('<RUN>', 'run ID, or its first 4 or more characters')
    .description('start a worker on a rented GPU for a run that is queued, or find the one that it has')
    .option(...providerOption)
  addRentOptions(rent).option('-y, --yes', 'rent it without prompting').action(action(gpusRent))
  group
    .command('sweep')
    .description('list rented workers, and end those that no open run owns')
    .option(...providerOption)
    .action(action(gpusSweep))
  addGpusServe(group, action)
}

export type GpusFlags = GpuNeedFlags & { provider?: string }

/** `agentgym gpus`: offers of the providers that the user has credentials for, cheapest first. */
export async function gpus(flags: GpusFlags, context: CommandContext): Promise<void> {
  const { offers, problems, providers } = await gatherOffers(providerOf(flags), flags, context)
  if (providers.length === 0 && problems.length === 0) throw noProviders()
  if (offers.length === 0 && problems.length > 0) context.exitCode = 1
  context.printJson({ offers: offers.map(offerJson), problems })
  if (context.json) return
  printProblems(problems, context)
  const { paint, symbols } = context.terminal
  if (offers.length === 0) {
    const asked = flags.gpuMemory !== undefined || flags.gpuName !== undefined
    return context.print(asked ? 'No GPU that fits can be had now.' : 'No GPU can be had now.')
  }
  for (const line of offerLines(offers, context)) context.print(line)
  const train = `agentgym train @acme/cart-pole --gpu ${offers[0].provider}`
  context.print(`${symbols.next} Train on the first: ${paint.accent(train)}`)
}

function providerOf({ provider }: GpusFlags) {
  return provider === undefined ? undefined : oneOf('provider', provider, providerNames)
}

function offerLines(offers: readonly GpuOffer[], { terminal }: CommandContext): string[] {
  const columns = [
    { title: 'GPU', shrink: true },
    { title: 'Memory', align: 'right' as const },
    { title: 'An hour', align: 'right' as const },
    { title: 'Provider' },
    { title: 'Where', shrink: true },
  ]
  const rows = offers.map(({ gpu, memoryGb, centsPerHour, provider, where }) => [
    safeText(gpu, 80),
    memoryGb === null ? '-' : `${memoryGb} GB`,
    centsPerHour === null ? '-' : hourlyPrice(centsPerHour),
    provider,
    safeText(where ?? '-', 80),
  ])
  return renderTable(columns, rows, terminal)
}

export type GpusRentFlags = RentFlags & { provider?: string; yes?: boolean }

/** `agentgym gpus rent`: a worker for a run that has none, such as one whose command was killed. Once, however often. */
export async function gpusRent(id: string, flags: GpusRentFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, id)
  if (hasEnded(run)) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `run ${shortId(run.id)} is ${run.state}, and needs no worker`,
      hint: `Resume it first: agentgym runs resume ${shortId(run.id)}`,
      data: { run: run.id, state: run.state },
    })
  }
  const source = workerSource(connection, flags, context)
  const there = await findRented(run, context)
  if (there !== undefined) {
    context.printJson({ event: 'rented', run: run.id, provider: there.provider, worker: there.id })
    return context.print(
      `${context.terminal.symbols.ok} Run ${shortId(run.id)} has a worker at ${there.provider} (${safeText(there.id, 80)})`,
    )
  }
  const need = { ...flags, gpuMemory: flags.gpuMemory ?? neededMemory(run) }
  const { provider, offers } = await chooseOffer(providerOf(flags), need, context)
  const steps = Number(run.settings.steps)
  const terms = await rentalTerms(offers[0], { scenario: run.scenario.name, steps }, flags, connection)
  context.printJson({ event: 'gpu', ...offerJson(offers[0]), ...termsJson(terms) })
  for (const line of termLines(offers[0], terms, context)) context.print(line)
  const consent = { given: flags.yes ?? false, question: 'Rent it for this run?', otherwise: 'Use --yes to rent it' }
  if (!(await confirm(consent, context))) return context.print('Canceled. Nothing was rented.')
  await rentFor(connection, run, { provider, offers: offers.slice(0, 1), source, terms }, context)
  context.print(
    `${context.terminal.symbols.next} Watch: ${context.terminal.paint.accent(`agentgym runs watch ${shortId(run.id)}`)}`,
  )
}

/** GB of the GPU that the run needs. Throws `gpu_unavailable` if it needs several: a rented machine has one. */
function neededMemory({ id, gpu }: Run): number | undefined {
  if (gpu == null) return undefined
  if (gpu.count === 1) return Math.ceil(gpu.memory_bytes / 1e9) || undefined
  throw new AgentGymError({
    code: 'gpu_unavailable',
    message: `run ${shortId(id)} needs ${gpu.count} GPUs, and a rented machine has one`,
    hint: 'It waits for a worker of the server that has them.',
    data: { run: id, gpus: gpu.count },
  })
}

/** The run's worker, at whichever provider it is. One that does not answer may have it, so its error is thrown. */
async function findRented({ id }: Run, context: CommandContext): Promise<RentedWorker | undefined> {
  const { providers } = await findProviders(undefined, context)
  const found = await Promise.all(providers.map((provider) => findWorkerOf(provider, id)))
  return found.find((worker) => worker !== undefined)
}

/** `agentgym gpus sweep`: ends rented workers that no open run of this server owns. */
export async function gpusSweep(flags: GpusFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const { providers, problems } = await findProviders(providerOf(flags), context)
  if (providers.length === 0 && problems.length === 0) throw noProviders()
  const swept: SweptWorker[] = []
  for (const provider of providers)
    try {
      swept.push(...(await sweep(provider, connection)))
    } catch (error) {
      if (!(error instanceof AgentGymError) || !error.code.startsWith('compute_')) throw error
      problems.push({ provider: provider.name, error: error.toReport() })
    }
  if (problems.length > 0) context.exitCode = 1
  context.printJson({ workers: swept.map(sweptJson), problems })
  if (context.json) return
  printProblems(problems, context)
  if (swept.length === 0) return context.print('No rented workers.')
  for (const line of sweptLines(swept, context)) context.print(line)
}

/** Ends what no open run of this server owns at one provider. */
export function sweep(provider: ComputeProvider, connection: Connection): Promise<SweptWorker[]> {
  return sweepWorkers(provider, { owner: connection.server, fateOf: (run) => fateOf(connection, run) })
}

async function fateOf(connection: Connection, id: string): Promise<RunFate> {
  try {
    return hasEnded(await readRun(connection, id)) ? 'ended' : 'open'
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'run_not_found') return 'unknown'
    throw error
  }
}

function sweptJson({ worker, outcome, reason }: SweptWorker) {
  const { provider, id, name, state, centsPerHour, owner, createdAt, endsAt } = worker
  return {
    ...{ provider, id, name, run: runOf(name) ?? null, state, price_minor_per_hour: centsPerHour },
    ...{
      rented_for: owner,
      created_at: createdAt.toISOString(),
      ends_at: endsAt?.toISOString() ?? null,
      outcome,
      reason,
    },
  }
}

const reasons: Record<SweptWorker['reason'], string> = {
  run_open: 'works for its run',
  other_server: 'belongs to another server',
  run_unknown: "belongs to another user's run",
  run_ended: 'ended: its run is over',
  too_old: 'ended: it was past its time',
  duplicate: 'ended: its run has another worker',
  failed: 'ended: its container had failed',
}

function sweptLines(swept: readonly SweptWorker[], { terminal }: CommandContext): string[] {
  const columns = [
    { title: 'Run' },
    { title: 'Provider' },
    { title: 'An hour' },
    { title: 'Age' },
    { title: 'State', shrink: true },
  ]
  const rows = swept.map(({ worker, reason }) => [
    shortId(runOf(worker.name) ?? ''),
    worker.provider,
    hourlyPrice(worker.centsPerHour),
    formatAge(worker.createdAt.toISOString(), Date.now()),
    reasons[reason],
  ])
  return renderTable(columns, rows, terminal)
}

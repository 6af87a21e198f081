import {
  type ComputeProvider,
  cheapestFirst,
  findProvider,
  type GpuNeed,
  type GpuOffer,
  type ProviderName,
  providerNames,
  requireProvider,
} from '@agentgym/compute'
import { AgentGymError, type ErrorReport, formatAmount } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { safeText } from '../terminal/text.ts'

/** Options that say which GPU. */
export type GpuNeedFlags = { gpuMemory?: number; gpuName?: string }

export const gpuMemoryOption = ['--gpu-memory <GB>', 'memory of the GPU, at least (default: no limit)'] as const
export const gpuNameOption = [
  '--gpu-name <TEXT>',
  'part of the name of the GPU, such as 4090 (default: every GPU)',
] as const
export const gpuMemoryRange = { least: 1, greatest: 10_000 }

export type GatheredOffers = {
  /** Of every provider that answered, cheapest first. */
  offers: GpuOffer[]
  providers: ComputeProvider[]
  problems: { provider: ProviderName; error: ErrorReport }[]
}

/** The providers that this user has credentials for, or the one that is named. Throws `compute_credentials_missing`. */
export async function findProviders(
  name: ProviderName | undefined,
  { io }: CommandContext,
): Promise<{ providers: ComputeProvider[]; problems: GatheredOffers['problems'] }> {
  if (name !== undefined) return { providers: [await requireProvider(name, io.environment)], problems: [] }
  const providers: ComputeProvider[] = []
  const problems: GatheredOffers['problems'] = []
  for (const each of providerNames) {
    try {
      const found = await findProvider(each, io.environment)
      if (found !== undefined) providers.push(found)
    } catch (error) {
      problems.push({ provider: each, error: reportOf(error) })
    }
  }
  return { providers, problems }
}

export function noProviders(): AgentGymError {
  return new AgentGymError({
    code: 'compute_credentials_missing',
    message: 'No credentials of a provider of GPUs were found on this machine',
    hint: 'Set RUNPOD_API_KEY, add a project with dstack project add, or set KUBECONFIG.',
    data: { providers: [...providerNames] },
  })
}

/** What can be rented now. A provider that does not answer does not hide the others, unless it is the one that is named. */
export async function gatherOffers(
  name: ProviderName | undefined,
  flags: GpuNeedFlags,
  context: CommandContext,
): Promise<GatheredOffers> {
  const need: GpuNeed = { memoryGb: flags.gpuMemory, gpu: flags.gpuName }
  const { providers, problems } = await findProviders(name, context)
  const answers = await Promise.all(
    providers.map(async (provider) => {
      try {
        return await provider.offers(need)
      } catch (error) {
        if (name !== undefined) throw error
        problems.push({ provider: provider.name, error: reportOf(error) })
        return []
      }
    }),
  )
  return { offers: cheapestFirst(answers.flat()), providers, problems }
}

function reportOf(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  throw error
}

/** Providers that could not be asked, as warnings. */
export function printProblems(problems: GatheredOffers['problems'], { print, terminal }: CommandContext): void {
  for (const { error } of problems) print(`${terminal.symbols.warning} ${safeText(error.message, 300)}`)
}

/** Providers count in US dollars, whatever the server's currency is. */
export const rentCurrency = 'USD'

export function offerJson({ provider, id, gpu, memoryGb, centsPerHour, where }: GpuOffer) {
  return {
    ...{ provider, id, gpu, memory_gb: memoryGb },
    ...{ price_minor_per_hour: centsPerHour, currency: centsPerHour === null ? null : rentCurrency, where },
  }
}

export function hourlyPrice(centsPerHour: number | null): string {
  return centsPerHour === null ? 'no hourly price' : formatAmount(centsPerHour, rentCurrency)
}

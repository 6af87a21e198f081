import { type ComputeProvider, type GpuOffer, type ProviderName, providerNames } from '@agentgym/compute'
import { AgentGymError } from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { readStatus } from '../runs/run-api.ts'
import { gatherOffers, printProblems } from './gather-offers.ts'
import type { RentFlags } from './rent-options.ts'

/** Where `--gpu` can find a GPU. */
export const gpuPlaces = ['auto', 'local', 'server', ...providerNames] as const
export type GpuPlace = (typeof gpuPlaces)[number]

/** `server`: the workers that it has anyway. */
export type ChosenGpu =
  | { at: 'local'; gpu: string }
  | { at: 'server' }
  | { at: 'provider'; provider: ComputeProvider; offers: GpuOffer[] }

/**
 * Where to train. `auto` prefers this machine, then the cheapest offer of the providers that the user has credentials for,
 * then the server's own workers. Throws `gpu_unavailable` where there is none that fits.
 */
export async function chooseGpu(place: GpuPlace, flags: RentFlags, context: CommandContext): Promise<ChosenGpu> {
  // Without a look at its workers: the run waits for one that has it.
  if (place === 'server') return { at: 'server' }
  if (place !== 'auto' && place !== 'local') return chooseOffer(place, flags, context)
  const here = await localGpu(flags, context)
  if (here !== undefined) return { at: 'local', gpu: here }
  if (place === 'local') throw none('This machine has no GPU that fits', 'Rent one: agentgym gpus lists offers.')
  const rented = await cheapestOffers(undefined, flags, context)
  if (rented !== undefined) return rented
  if (await serverHasGpu(await findConnection(context), flags)) return { at: 'server' }
  const hint = 'Save credentials of a provider (agentgym gpus says where), or train without a GPU: leave out --gpu.'
  throw none('No GPU that fits: none here, none to rent, none on the server', hint)
}

/** Offers of one provider, or the best of all; throws `gpu_unavailable`. */
export async function chooseOffer(
  name: ProviderName | undefined,
  flags: RentFlags,
  context: CommandContext,
): Promise<Extract<ChosenGpu, { at: 'provider' }>> {
  const found = await cheapestOffers(name, flags, context)
  if (found !== undefined) return found
  throw none(`${name ?? 'No provider'} has no GPU that fits now`, 'Look at agentgym gpus, or ask for less memory.')
}

async function cheapestOffers(name: ProviderName | undefined, flags: RentFlags, context: CommandContext) {
  const { offers, providers, problems } = await gatherOffers(name, flags, context)
  printProblems(problems, context)
  const provider = providers.find((one) => one.name === offers[0]?.provider)
  if (provider === undefined) return undefined
  return { at: 'provider' as const, provider, offers: offers.filter((offer) => offer.provider === provider.name) }
}

async function localGpu(flags: RentFlags, context: CommandContext): Promise<string | undefined> {
  const { describeMachine } = await context.runtime()
  return (await describeMachine()).gpus.find((gpu) => fits(gpu, flags))?.name
}

async function serverHasGpu(connection: Connection, flags: RentFlags): Promise<boolean> {
  try {
    const { workers } = await readStatus(connection)
    return workers.some(({ state, gpus }) => state !== 'silent' && gpus.some((gpu) => fits(gpu, flags)))
  } catch (error) {
    // A server that is not there has no workers.
    if (error instanceof AgentGymError) return false
    throw error
  }
}

function fits(gpu: { name: string; memory_bytes: number }, { gpuMemory = 0, gpuName = '' }: RentFlags): boolean {
  // Drivers report a little less than the nominal memory.
  return gpu.memory_bytes >= gpuMemory * 0.95 * 2 ** 30 && gpu.name.toLowerCase().includes(gpuName.toLowerCase())
}

function none(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'gpu_unavailable', message, hint })
}

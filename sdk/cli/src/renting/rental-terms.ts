import { costCents, type GpuOffer } from '@agentgym/compute'
import { AgentGymError, formatAmount, type Run } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { readAmount } from '../option-values.ts'
import { listRuns } from '../runs/run-api.ts'
import { formatDuration } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'
import { hourlyPrice, rentCurrency } from './gather-offers.ts'
import { defaultHours, type RentFlags } from './rent-options.ts'

/** What a rental may take and cost. */
export type RentalTerms = {
  maxSeconds: number
  /** US cents of the whole time; null without a price. */
  mostCents: number | null
  /** From earlier runs; null if there are none. */
  estimate: { seconds: number; cents: number | null; runs: number } | null
}

/** A machine starts, an image is pulled: estimates include it. */
const startSeconds = 300
/** A budget for less time than this is a mistake: the machine would end while it starts. */
const leastSeconds = 2 * startSeconds

/** Terms for an offer: the time is limited by `--gpu-hours`, and by `--gpu-budget` at this price. */
export async function rentalTerms(
  offer: GpuOffer,
  run: { scenario: string; steps: number | undefined },
  flags: RentFlags,
  connection: Connection,
): Promise<RentalTerms> {
  const { centsPerHour } = offer
  const budget = flags.gpuBudget === undefined ? null : readAmount(flags.gpuBudget, rentCurrency, budgetOption)
  const hours = (flags.gpuHours ?? defaultHours) * 3_600
  const affordable = budget === null || centsPerHour === null ? hours : Math.floor((budget * 3_600) / centsPerHour)
  const maxSeconds = Math.min(hours, affordable)
  if (maxSeconds < leastSeconds) {
    const least = costCents(centsPerHour, leastSeconds * 1_000) ?? 0
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--gpu-budget pays for ${formatDuration(maxSeconds)} at ${hourlyPrice(centsPerHour)} an hour, not enough to start`,
      hint: `Give at least ${formatAmount(least, rentCurrency)}.`,
      data: { field: 'gpu-budget' },
    })
  }
  const seconds = await estimateSeconds(run, connection)
  return {
    maxSeconds,
    mostCents: costCents(centsPerHour, maxSeconds * 1_000),
    estimate: seconds && { ...seconds, cents: costCents(centsPerHour, seconds.seconds * 1_000) },
  }
}

const budgetOption = { name: '--gpu-budget', meaning: 'what the rented GPU may cost' }

/** By the median speed of completed runs on the scenario, on whatever machines those ran. */
async function estimateSeconds(
  { scenario, steps }: { scenario: string; steps: number | undefined },
  connection: Connection,
): Promise<{ seconds: number; runs: number } | null> {
  const { runs } = await listRuns(connection, { scenario, state: 'completed', limit: 20 })
  const speeds = runs.flatMap(speedOf).toSorted((a, b) => a - b)
  const wanted = steps ?? Number(runs[0]?.settings.steps)
  const speed = speeds[Math.floor(speeds.length / 2)]
  if (speed === undefined || !Number.isFinite(wanted)) return null
  return { seconds: Math.round(startSeconds + wanted / speed), runs: speeds.length }
}

function speedOf({ progress }: Run): number[] {
  return progress === null || progress.seconds <= 0 || progress.steps <= 0 ? [] : [progress.steps / progress.seconds]
}

/** What was chosen, what it costs an hour, and what it will cost. */
export function termLines(offer: GpuOffer, { maxSeconds, mostCents, estimate }: RentalTerms, context: CommandContext) {
  const { paint, symbols } = context.terminal
  const { gpu, memoryGb, provider, where, centsPerHour } = offer
  const place = [provider, ...(where === null ? [] : [where])].join(' ')
  const memory = memoryGb === null ? '' : ` (${memoryGb} GB)`
  const most = mostCents === null ? '' : `, for at most ${formatAmount(mostCents, rentCurrency)}`
  const cost = estimate?.cents == null ? '' : `${formatAmount(estimate.cents, rentCurrency)} for `
  const price = centsPerHour === null ? 'without an hourly price' : `${hourlyPrice(centsPerHour)} an hour`
  return [
    `${symbols.next} GPU: ${paint.bold(safeText(`${gpu}${memory}`, 120))} at ${safeText(place, 160)}, ${price}`,
    estimate === null
      ? '  No estimate: no run on this scenario has completed yet'
      : `  Estimate: ${cost}${formatDuration(estimate.seconds)}, by the speed of ${estimate.runs} completed run${estimate.runs === 1 ? '' : 's'}`,
    `  Ends with the run, after ${formatDuration(maxSeconds)} at the latest${most}`,
  ]
}

export function termsJson({ maxSeconds, mostCents, estimate }: RentalTerms) {
  return {
    max_seconds: maxSeconds,
    most_minor: mostCents,
    estimate: estimate && { seconds: estimate.seconds, cost_minor: estimate.cents },
  }
}

import type { CommandContext } from '../command-context.ts'
import type { ChosenGpu } from '../renting/choose-gpu.ts'
import { offerJson } from '../renting/gather-offers.ts'
import { type RentFlags, workerSource } from '../renting/rent-options.ts'
import { rentalTerms, termLines, termsJson } from '../renting/rental-terms.ts'
import { rentFor, watchRented } from '../renting/rented-run.ts'
import { confirm } from '../terminal/prompts.ts'
import { runLine } from '../training-view/line-views.ts'
import { sweep } from './gpus.ts'
import { prepareRemote, type RemoteFlags, startAtPrice } from './train-remote.ts'

/**
 * `agentgym train --gpu` at a provider: shows what was chosen and what it costs, asks, submits the run, starts its worker,
 * follows the run and ends the worker. The run comes first: a worker without a run cannot be.
 */
export async function trainRented(
  target: string,
  flags: RemoteFlags & RentFlags,
  { provider, offers }: Extract<ChosenGpu, { at: 'provider' }>,
  context: CommandContext,
): Promise<void> {
  const remote = { ...flags, watch: true, needsGpu: true }
  const { connection, request, out, scenario } = await prepareRemote(target, remote, context)
  const source = workerSource(connection, flags, context)
  const terms = await rentalTerms(offers[0], { scenario, steps: request.steps }, flags, connection)
  context.printJson({ event: 'gpu', ...offerJson(offers[0]), ...termsJson(terms) })
  for (const line of termLines(offers[0], terms, context)) context.print(line)
  const consent = { given: flags.yes ?? false, question: 'Rent it for this run?', otherwise: 'Use --yes to rent it' }
  if (!(await confirm(consent, context))) return context.print('Canceled. Nothing was rented.')
  // What an earlier command has left is ended before more is rented.
  await sweep(provider, connection)
  const run = await startAtPrice(connection, request, { yes: flags.yes ?? false }, context)
  if (run === undefined) return context.print('Canceled. No run was started.')
  context.printJson(runLine(run, 'submitted'))
  // An offer that is dearer than the first would break the budget.
  const affordable = offers.filter(({ centsPerHour }) => (centsPerHour ?? 0) <= (offers[0].centsPerHour ?? 0))
  const rental = { provider, offers: affordable, source, terms }
  await rentFor(connection, run, rental, context)
  await watchRented(connection, run, rental, { out, force: flags.force ?? false }, context)
}

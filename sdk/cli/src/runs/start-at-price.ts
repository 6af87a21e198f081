import { AgentGymError, type Price, priceSchema, type Run, type StartRunRequest } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { priceText } from '../market/price-text.ts'
import { confirm } from '../terminal/confirm.ts'
import { sayWrapped } from '../terminal/say-wrapped.ts'
import { startRun } from './run-api.ts'

const askedPriceSchema = priceSchema.pick({ id: true, kind: true, amount_minor: true, currency: true })

/**
 * Queues a run. Where the scenario is paid for by the run, says what it costs and asks first; then it is started at that price
 * or not at all. Undefined where the user says no.
 */
export async function startAtPrice(
  connection: Connection,
  request: StartRunRequest,
  { yes }: { yes: boolean },
  context: CommandContext,
): Promise<Run | undefined> {
  try {
    return await startRun(connection, request)
  } catch (error) {
    const price = priceByRun(error)
    if (price === undefined) throw error
    const cost = priceText(price)
    sayWrapped(
      `${request.scenario} costs ${cost}, beside what its worker costs. It is held on the balance now, paid once the run trains, and free again if it ends before that.`,
      context,
    )
    const consent = {
      given: yes,
      question: `Train on it for ${cost}?`,
      otherwise: '--yes starts it without asking, at the price that holds now',
    }
    if (!(await confirm(consent, context))) return undefined
    const { id, amount_minor } = price
    return startRun(connection, { ...request, expected_price: { id, amount_minor } })
  }
}

/** What the server says a run costs whose price was not confirmed. */
function priceByRun(error: unknown): Pick<Price, 'id' | 'kind' | 'amount_minor' | 'currency'> | undefined {
  if (!(error instanceof AgentGymError) || error.code !== 'payment_required') return undefined
  const price = askedPriceSchema.safeParse(error.data.price).data
  return price?.kind === 'per_run' ? price : undefined
}

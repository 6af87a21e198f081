import { formatAmount, type Run, type RunEvent } from '@agentgym/contract'
import { formatCount } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'

/** News of a run on shared machines, beside what its trainer tells: the run as it now is, and the event that changed it. */
export type RemoteUpdate = {
  /** As it was last heard of. */
  run: Run
  /** Null where nothing happened but the figures (place in the queue, cost) have moved on. */
  event: RunEvent | null
  /** The server does not answer just now; it is asked again. */
  silent?: boolean
}

/** The run on shared machines, as the last news of it were. */
export type RemoteState = Pick<RemoteUpdate, 'run' | 'silent'>

/** What an event of a run's life is to its log; undefined for what the trainer's own events say, or a view's last lines. */
export function remoteText({ run, event }: RemoteUpdate): string | undefined {
  switch (event?.type) {
    case 'queued':
      return { submitted: 'Queued', resumed: 'Queued again', released: releasedText, lease_expired: lostText }[
        event.data.reason
      ]
    case 'running':
      return pickedUpText(event.data)
    case 'budget_warning': {
      const { spent_minor, budget_minor } = event.data
      const share = Math.floor((spent_minor / budget_minor) * 100)
      return `${share}% of the budget is spent: ${formatAmount(spent_minor, run.cost.currency)} of ${formatAmount(budget_minor, run.cost.currency)}`
    }
    case 'cancel_requested':
      return 'To be cancelled: the worker saves a checkpoint first'
    case 'published':
      return `The agent is handed to the registry as ${safeText(`${event.data.name}@${event.data.version}`, 240)}`
    case 'publish_failed':
      return `The agent could not be published: ${safeText(event.data.error.message, 300)}`
    default:
      return undefined
  }
}

const releasedText = 'Given back by its worker, which stops; queued again'
const lostText = 'Its worker is not heard of any more; queued again'

function pickedUpText(data: Extract<RunEvent, { type: 'running' }>['data']): string {
  const from = data.from_iteration > 0 ? `, from iteration ${formatCount(data.from_iteration)}` : ''
  return `Picked up by ${safeText(data.worker, 80)}${from}`
}

/** What a run waits for where no figures move; undefined while it trains. */
export function remoteStage({ run, silent }: RemoteState, started: boolean): string | undefined {
  if (silent) return 'The server does not answer; asking again. The run goes on'
  if (run.state === 'queued') return `Queued, ${aheadText(run.ahead)}`
  if (run.cancel_requested) return 'To be cancelled: the worker saves a checkpoint first'
  if (run.state === 'running' && !started) return `Picked up by ${safeText(run.worker ?? 'a worker', 80)}; starting`
  return undefined
}

function aheadText(ahead: number | null): string {
  if (!ahead) return 'next in line'
  return ahead === 1 ? '1 run ahead' : `${formatCount(ahead)} runs ahead`
}

/** `0.42 of 2.50 EUR`, `0.42 EUR`; undefined where training is free and has no budget. */
export function costText({ cost }: Pick<Run, 'cost'>): string | undefined {
  const { currency, spent_minor: spent, budget_minor: budget, price_minor_per_hour: price } = cost
  if (budget !== null) {
    return `${formatAmount(spent, currency).replace(` ${currency}`, '')} of ${formatAmount(budget, currency)}`
  }
  return spent > 0 || (price ?? 0) > 0 ? formatAmount(spent, currency) : undefined
}

import { formatAmount, type ServerStatus } from '@agentgym/contract'

/** What a run that is started now meets: `1 of 2 workers is idle, 3 runs wait; an hour costs €12.00.` */
export function shownMachines({ workers, queue }: ServerStatus, currency: string): string {
  const there = workers.filter(({ state }) => state !== 'silent')
  const idle = there.filter(({ state }) => state === 'idle').length
  const prices = there.map(({ price_minor_per_hour }) => price_minor_per_hour)
  const waiting = queue.train.queued === 0 ? 'no run waits' : `${queue.train.queued} wait`
  const machines = `${idle} of ${there.length} ${there.length === 1 ? 'worker' : 'workers'} idle, ${waiting}.`
  if (prices.length === 0) return 'No worker is connected now. The run waits until one is.'
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  if (high === 0) return `${machines} Training is free of charge here.`
  const cost =
    low === high ? formatAmount(low, currency) : `${formatAmount(low, currency)} to ${formatAmount(high, currency)}`
  return `${machines} An hour of training costs ${cost}.`
}

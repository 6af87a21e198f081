import type { Run } from '@agentgym/contract'
import type { Terminal } from '../terminal/terminal.ts'

/** A run's state in a word, with the sign of what it means: done, failed, or out of budget. */
export function runStateText({ state, ahead, cancel_requested: ending }: Run, { symbols }: Terminal): string {
  switch (state) {
    case 'completed':
      return `${symbols.ok} completed`
    case 'failed':
      return `${symbols.failed} failed`
    case 'cancelled':
      return `${symbols.warning} cancelled`
    case 'budget_exceeded':
      return `${symbols.warning} out of budget`
    case 'queued':
      return ahead ? `queued, ${ahead} ahead` : 'queued'
    case 'running':
      return ending ? 'being cancelled' : 'running'
  }
}

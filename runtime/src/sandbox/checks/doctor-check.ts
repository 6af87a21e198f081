import type { SuccessCriteria } from '@agentgym/contract'
import { examineScenario } from '../inspection/examine-scenario.ts'
import type { Finding } from './check-messages.ts'
import type { Use } from './repeat-checks.ts'

/** A short examination: publishing must not wait for a long one. */
const BUDGET_MS = 1_500
const SHOWN = 3

/** What `agentgym scenario doctor` finds in a short time. Warns, and never fails: what is odd may be meant. */
export function checkDesign(use: Use, success: SuccessCriteria): Finding {
  const { findings, players } = examineScenario(use, success, BUDGET_MS)
  const odd = findings.filter(({ severity }) => severity !== 'note')
  if (odd.length === 0) return { message: `nothing odd in the play of ${players.length} simple players`, value: 0 }
  const shown = odd.slice(0, SHOWN).map(({ id, message, fix }) => `${id}: ${message} ${fix}`)
  const more = odd.length > SHOWN ? [`${odd.length - SHOWN} more.`] : []
  return {
    message: [...shown, ...more, 'See the numbers with `agentgym scenario doctor`.'].join(' '),
    warning: true,
    value: odd.length,
  }
}

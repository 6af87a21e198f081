import { AgentGymError, type ErrorReport, errorCatalogue, formatAmount } from '@agentgym/contract'
import { howToBuy } from '../entitlements/index.ts'

/** The agent's version that a call is of. */
export type Called = { name: string; version: string }

const shown = ({ name, version }: Called) => `${name}@${version}`

export function notCallable(name: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `${name} is a scenario, which is not called.`,
    hint: 'Call an agent that was trained on it: its page lists them.',
    data: { field: 'name', in: 'param', name },
  })
}

export function notPublished(called: Called, state: string): AgentGymError {
  return new AgentGymError({
    code: 'version_not_published',
    message: `${shown(called)} ${state === 'checking' ? 'is still being checked' : 'was rejected'}, so it is not called.`,
    hint: `\`agentgym info ${shown(called)}\` shows its checks.`,
    data: { ...called },
  })
}

export function yanked(called: Called): AgentGymError {
  return new AgentGymError({
    code: 'version_yanked',
    message: `${shown(called)} is yanked: it is called by those alone who have it.`,
    hint: 'Choose another version, or leave it out for the latest one.',
    data: { ...called },
  })
}

type Sale = Called & {
  major: number
  publicUrl: string
  trialCalls: number
  price: { amountMinor: number; currency: string | null }
}

/** Explains the price of further calls, and where to buy them. */
export function trialExhausted({ name, version, major, publicUrl, trialCalls, price }: Sale): AgentGymError {
  const { page, command, cost } = howToBuy({ name, major, publicUrl }, price)
  const { amountMinor, currency } = price
  return new AgentGymError({
    code: 'trial_exhausted',
    message: `The ${trialCalls} calls of ${name} that its seller gives before a purchase are used up.${cost}`,
    hint: `Run \`${command}\`, or buy it at ${page}.`,
    data: {
      ...{ name, version, trial_calls: trialCalls, command, page },
      price: { amount_minor: amountMinor, currency },
    },
  })
}

/** Of 1,000 calls. */
type CallsPrice = Called & { priceMinor: number; currency: string }

export function cannotPay(lack: 'balance' | 'cap', { name, version, priceMinor, currency }: CallsPrice): AgentGymError {
  const cost = `1,000 calls of ${name} cost ${formatAmount(priceMinor, currency)}`
  const data = { name, version, calls_price_minor: priceMinor, currency }
  if (lack === 'cap')
    return new AgentGymError({
      code: 'spend_cap_exceeded',
      message: `A spend cap leaves too little for another call: ${cost}.`,
      hint: 'Whoever set the cap can raise it: `agentgym spend-cap`.',
      data,
    })
  return new AgentGymError({
    code: 'insufficient_funds',
    message: `The balance leaves too little for another call: ${cost}, and those made before it are paid first.`,
    hint: 'Top up: `agentgym balance top-up AMOUNT`.',
    data,
  })
}

export function tooManyOpen(whose: 'account' | 'server', most: number): AgentGymError {
  return new AgentGymError({
    code: 'rate_limited',
    message:
      whose === 'account'
        ? `The account has ${most} calls under way, and no more at once.`
        : `${most} calls wait for an answer here, and no more at once.`,
    hint: 'Ask again once some of them are answered.',
    data: { retry_after_seconds: 1, open_calls: most },
  })
}

export function keyReused(id: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'idempotency_key_reused',
    message: `The Idempotency-Key ${id} ${why}.`,
    hint: 'Make a new key for every call; repeat a call with its own key only.',
    data: { id },
  })
}

/** `taken`: a worker had it, and did not answer. */
export function agentUnavailable(called: Called, taken: boolean): AgentGymError {
  return new AgentGymError({
    code: 'agent_unavailable',
    message: taken
      ? `A worker took the call of ${shown(called)} and did not answer it in time.`
      : `No worker took the call of ${shown(called)} in time: none runs, or too many calls wait.`,
    hint: 'Nothing was counted. Ask again after a while.',
    data: { ...called, retry_after_seconds: 5 },
  })
}

/** The caller's mistake, as the worker reports it. */
const callersFaults = new Set<ErrorReport['code']>(['observation_invalid', 'mask_invalid', 'no_legal_action'])
const agentsFaults = /^(?:model|agent|manifest|scenario|package)_/

/**
 * What the caller sees of a worker's report. A failure that is neither the caller's nor the agent's is the worker's.
 */
export function failureOf(called: Called, report: ErrorReport): ErrorReport {
  if (callersFaults.has(report.code)) return report
  if (!agentsFaults.test(report.code) || report.code === 'agent_unavailable')
    return agentUnavailable(called, true).toReport()
  return {
    code: 'agent_failed',
    message: `${shown(called)} failed at the call: ${report.message}`.slice(0, 4_000),
    hint: 'Nothing was counted. Call another version, or tell its publisher.',
    data: { ...called, cause: report.code, summary: errorCatalogue[report.code].summary },
  }
}

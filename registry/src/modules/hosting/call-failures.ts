import { AgentGymError, type ErrorReport, errorCatalog, formatAmount } from '@agentgym/contract'
import { howToBuy } from '../entitlements/index.ts'

/** The version of the called agent. */
export type Called = { name: string; version: string }

const shown = ({ name, version }: Called) => `${name}@${version}`

export function notCallable(name: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `${name} is a scenario; only agents can be called.`,
    hint: 'Call an agent trained on it; the scenario’s page lists them.',
    data: { field: 'name', in: 'param', name },
  })
}

export function notPublished(called: Called, state: string): AgentGymError {
  return new AgentGymError({
    code: 'version_not_published',
    message: `${shown(called)} ${state === 'checking' ? 'is still being checked' : 'was rejected'}, so it cannot be called.`,
    hint: `\`agentgym info ${shown(called)}\` shows its checks.`,
    data: { ...called },
  })
}

export function yanked(called: Called): AgentGymError {
  return new AgentGymError({
    code: 'version_yanked',
    message: `${shown(called)} is yanked: only accounts that already have it can call it.`,
    hint: 'Choose another version, or omit it to use the latest one.',
    data: { ...called },
  })
}

type Sale = Called & {
  major: number
  publicUrl: string
  trialCalls: number
  price: { amountMinor: number; currency: string | null }
}

/** Explains the price of more calls, and where to buy. */
export function trialExhausted({ name, version, major, publicUrl, trialCalls, price }: Sale): AgentGymError {
  const { page, command, cost } = howToBuy({ name, major, publicUrl }, price)
  const { amountMinor, currency } = price
  return new AgentGymError({
    code: 'trial_exhausted',
    message: `The ${trialCalls} free trial calls of ${name} are used up.${cost}`,
    hint: `Run \`${command}\`, or buy it at ${page}.`,
    data: {
      ...{ name, version, trial_calls: trialCalls, command, page },
      price: { amount_minor: amountMinor, currency },
    },
  })
}

/** Of 1,000 calls. */
type CallsPrice = Called & { priceMinor: number; currency: string }
type Lack = 'balance' | 'cap' | 'price' | 'unconfirmed'

export function cannotPay(lack: Lack, { name, version, priceMinor, currency }: CallsPrice): AgentGymError {
  const cost = `1,000 calls of ${name} cost ${formatAmount(priceMinor, currency)}`
  const data = { name, version, calls_price_minor: priceMinor, currency }
  const maximum = `send \`AgentGym-Max-Price: ${priceMinor}\` (minor units, per 1,000 calls)`
  if (lack === 'price')
    return new AgentGymError({
      code: 'price_changed',
      message: `${cost}, more than the maximum of the request. Nothing was called.`,
      hint: `To accept this price, ${maximum}.`,
      data,
    })
  if (lack === 'unconfirmed')
    return new AgentGymError({
      code: 'payment_required',
      message: `${cost}, and the price was not confirmed.`,
      hint: `To confirm it, ${maximum}, or set a maximum for the account or a token: \`agentgym spend-cap set AMOUNT --period calls\`.`,
      data,
    })
  if (lack === 'cap')
    return new AgentGymError({
      code: 'spend_cap_exceeded',
      message: `A spend cap does not allow another call: ${cost}.`,
      hint: 'To raise the cap, run `agentgym spend-cap`. In organizations, this requires an admin.',
      data,
    })
  return new AgentGymError({
    code: 'insufficient_funds',
    message: `The balance is too low for another call: ${cost}, and earlier calls are paid first.`,
    hint: 'Top up: `agentgym balance top-up AMOUNT`.',
    data,
  })
}

export function tooManyOpen(whose: 'account' | 'server', most: number): AgentGymError {
  return new AgentGymError({
    code: 'rate_limited',
    message:
      whose === 'account'
        ? `The account has ${most} calls in progress, the most it can have at once.`
        : `The server has ${most} calls in progress, the most it can have at once.`,
    hint: 'Try again when some of them have finished.',
    data: { retry_after_seconds: 1, open_calls: most },
  })
}

export function keyReused(id: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'idempotency_key_reused',
    message: `The Idempotency-Key ${id} ${why}.`,
    hint: 'Use a new key for each call. Reuse a key only to retry the same call.',
    data: { id },
  })
}

/** `taken`: a worker leased it but did not answer. */
export function agentUnavailable(called: Called, taken: boolean): AgentGymError {
  return new AgentGymError({
    code: 'agent_unavailable',
    message: taken
      ? `A worker accepted the call of ${shown(called)} but did not answer in time.`
      : `No worker accepted the call of ${shown(called)} in time: no worker is running, or too many calls are waiting.`,
    hint: 'The call was not counted. Try again later.',
    data: { ...called, retry_after_seconds: 5 },
  })
}

/** The caller's mistake, as the worker reports it. */
const callersFaults = new Set<ErrorReport['code']>([
  ...(['observation_invalid', 'mask_required', 'mask_invalid', 'no_legal_action'] as const),
])
const agentsFaults = /^(?:model|agent|manifest|scenario|package)_/

/**
 * The caller's view of a worker's error report. A failure caused neither by the caller nor by the agent is the
 * worker's.
 */
export function failureOf(called: Called, report: ErrorReport): ErrorReport {
  if (callersFaults.has(report.code)) return report
  if (!agentsFaults.test(report.code) || report.code === 'agent_unavailable')
    return agentUnavailable(called, true).toReport()
  return {
    code: 'agent_failed',
    message: `${shown(called)} failed during the call: ${report.message}`.slice(0, 4_000),
    hint: 'The call was not counted. Call another version, or contact the publisher.',
    data: { ...called, cause: report.code, summary: errorCatalog[report.code].summary },
  }
}

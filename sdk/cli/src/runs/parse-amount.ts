import { AgentGymError } from '@agentgym/contract'
import { currencyDigits } from '../terminal/format-amount.ts'

/** What the API takes at most, in minor units. */
const greatestMinor = 10n ** 12n

/**
 * `2.50` of a currency in its minor units, 250: digit by digit, for a sum of money passes through no floating-point
 * number. Throws `config_invalid` for what is no amount, is zero, or has more decimal places than the currency.
 */
export function parseAmount(text: string, currency: string): number {
  const digits = currencyDigits(currency)
  const match = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text.trim())
  if (!match) throw invalid(text, currency, 'is not an amount of money')
  const [, whole, fraction = ''] = match
  const kept = fraction.replace(/0+$/, '')
  if (kept.length > digits) throw invalid(text, currency, `has more than the ${digits} decimal places of ${currency}`)
  const minor = BigInt(whole) * 10n ** BigInt(digits) + BigInt(kept.padEnd(digits, '0') || '0')
  if (minor === 0n) throw invalid(text, currency, 'is nothing')
  if (minor > greatestMinor) throw invalid(text, currency, 'is more than a run may cost')
  return Number(minor)
}

function invalid(text: string, currency: string, why: string): AgentGymError {
  const example = currencyDigits(currency) === 0 ? '250' : `2.${'5'.padEnd(currencyDigits(currency), '0')}`
  return new AgentGymError({
    code: 'config_invalid',
    message: `--budget is ${JSON.stringify(text.slice(0, 100))}, which ${why}`,
    hint: `Give the most that the run may cost, in ${currency}: --budget ${example}. Without --budget there is no limit.`,
    data: { field: 'budget', value: text.slice(0, 100), currency },
  })
}

import { currencyDigits } from './format-amount.ts'

/** Minor units, or why the text is no amount: `is nothing`, as it stands after the words `12,50`. */
export type ParsedAmount = { minor: number } | { problem: string }

/** What the API takes at most, in minor units. */
const greatestMinor = 10n ** 15n

/**
 * `2.50` of a currency in its minor units, 250: digit by digit, for a sum of money passes through no floating-point
 * number. What is no amount, is zero, or has more decimal places than the currency is a problem.
 */
export function parseAmount(text: string, currency: string): ParsedAmount {
  const digits = currencyDigits(currency)
  const match = /^(\d{1,18})(?:\.(\d{1,18}))?$/.exec(text.trim())
  if (!match) return { problem: 'is not an amount of money' }
  const [, whole, fraction = ''] = match
  const kept = fraction.replace(/0+$/, '')
  if (kept.length > digits) return { problem: `has more than the ${digits} decimal places of ${currency}` }
  const minor = BigInt(whole) * 10n ** BigInt(digits) + BigInt(kept.padEnd(digits, '0') || '0')
  if (minor === 0n) return { problem: 'is nothing' }
  if (minor > greatestMinor) return { problem: 'is more than the server takes' }
  return { minor: Number(minor) }
}

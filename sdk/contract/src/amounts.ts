import { z } from 'zod'

/** Made on first use: building a format takes longer than loading most modules, and every process loads this one. */
const formats = new Map<string, Intl.NumberFormat | null>()

/**
 * An amount in minor units as text: `€12.50`, `¥1,250`, `-$0.05`. Exact for any size: the digits never pass through a
 * floating-point number. `minor` is a whole number; a currency that Intl does not know is written after the amount.
 */
export function formatAmount(minor: number | bigint, currency: string): string {
  const text = decimalAmount(minor, currency)
  const format = formatOf(currency)
  return format === null ? `${text} ${currency}` : format.format(text as Intl.StringNumericLiteral)
}

/** The same without grouping or currency, as it is typed into a form: `1250.00`. */
export function decimalAmount(minor: number | bigint, currency: string): string {
  const digits = currencyDigits(currency)
  const units = BigInt(minor)
  const text = (units < 0n ? -units : units).toString().padStart(digits + 1, '0')
  const cut = text.length - digits
  const fraction = digits === 0 ? '' : `.${text.slice(cut)}`
  return `${units < 0n ? '-' : ''}${text.slice(0, cut)}${fraction}`
}

/** Decimal places of a currency (ISO 4217): 2 for EUR, 0 for JPY, and 2 for one that Intl does not know. */
export function currencyDigits(currency: string): number {
  return formatOf(currency)?.resolvedOptions().maximumFractionDigits ?? 2
}

function formatOf(currency: string): Intl.NumberFormat | null {
  const known = formats.get(currency)
  if (known !== undefined) return known
  const format = makeFormat(currency)
  // Real currencies are few, but a caller may name anything.
  if (formats.size < 500) formats.set(currency, format)
  return format
}

function makeFormat(currency: string): Intl.NumberFormat | null {
  try {
    return new Intl.NumberFormat('en-US', { style: 'currency', currency })
  } catch {
    return null
  }
}

/** Minor units, or the problem with the text, as a phrase that follows the text: `12,50 is not an amount`. */
export type ParsedAmount = { minor: number } | { problem: string }

/** The API's limit, in minor units. */
const greatestMinor = 10n ** 15n

/**
 * Parses `2.50` into minor units, 250, without floating-point numbers. Zero, text that is not an amount, and more decimal
 * places than the currency has are problems.
 */
export function parseAmount(text: string, currency: string): ParsedAmount {
  const digits = currencyDigits(currency)
  const match = /^(\d{1,18})(?:\.(\d{1,18}))?$/.exec(text.trim())
  if (!match) return { problem: 'is not an amount' }
  const [, whole, fraction = ''] = match
  const kept = fraction.replace(/0+$/, '')
  if (kept.length > digits) return { problem: `has more than the ${digits} decimal places of ${currency}` }
  const minor = BigInt(whole) * 10n ** BigInt(digits) + BigInt(kept.padEnd(digits, '0') || '0')
  if (minor === 0n) return { problem: 'is nothing' }
  if (minor > greatestMinor) return { problem: 'is more than the server accepts' }
  return { minor: Number(minor) }
}

const millisecondsPerHour = 3_600_000

/**
 * Cost of training in minor units. `priceMilliseconds` is Σ price per hour (minor units) × milliseconds trained at that
 * price, kept unrounded; only the total is rounded, up.
 */
export function trainingCostMinor(priceMilliseconds: number): number {
  return Math.ceil(priceMilliseconds / millisecondsPerHour)
}

/** Minor units (cents), at most 10^15, so that sums stay exact in JavaScript numbers. */
export const amountMinorSchema = z.int().positive().max(1e15)
/** ISO 4217. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/)

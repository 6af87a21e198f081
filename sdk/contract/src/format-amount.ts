/** Made when an amount is first asked for: it takes longer than most modules, and every process of ours loads this one. */
let grouped: Intl.NumberFormat | undefined

/**
 * An amount of so many minor units in its currency: `12.50 EUR`, `1,250 JPY`, `-0.05 EUR`. Digit by digit, for a sum of
 * money passes through no floating-point number. `minor` is a whole number.
 */
export function formatAmount(minor: number | bigint, currency: string): string {
  grouped ??= new Intl.NumberFormat('en-US')
  const digits = currencyDigits(currency)
  const units = BigInt(minor)
  const text = (units < 0n ? -units : units).toString().padStart(digits + 1, '0')
  const cut = text.length - digits
  const fraction = digits === 0 ? '' : `.${text.slice(cut)}`
  return `${units < 0n ? '-' : ''}${grouped.format(BigInt(text.slice(0, cut)))}${fraction} ${currency}`
}

/** Decimal places of a currency (ISO 4217): 2 for EUR, 0 for JPY. One that is not known counts as having 2. */
export function currencyDigits(currency: string): number {
  const known = knownDigits.get(currency) ?? askDigits(currency)
  // A format is slow to make and a page has many amounts. Currencies are few, but anyone may name one.
  if (knownDigits.size < 500) knownDigits.set(currency, known)
  return known
}
const knownDigits = new Map<string, number>()

function askDigits(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en-US', { style: 'currency', currency })
    return format.resolvedOptions().maximumFractionDigits ?? 2
  } catch {
    return 2
  }
}

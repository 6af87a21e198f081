/** An amount of so many minor units in its currency: `12.50 EUR`, `1,250 JPY`. */
export function formatAmount(minor: number, currency: string): string {
  const digits = currencyDigits(currency)
  const figure = new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${figure.format(minor / 10 ** digits)} ${currency}`
}

/** Decimal places of a currency (ISO 4217): 2 for EUR, 0 for JPY. One that is not known counts as having 2. */
export function currencyDigits(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en-US', { style: 'currency', currency })
    return format.resolvedOptions().maximumFractionDigits ?? 2
  } catch {
    return 2
  }
}

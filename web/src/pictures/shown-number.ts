// Made once: with options, toLocaleString makes one for every number, and a picture has dozens.
const parted = new Intl.NumberFormat('en', { maximumFractionDigits: 6 })

/** A number in few characters: at most four significant digits, thousands parted, a real minus sign. */
export function shownNumber(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e7 || size < 1e-3) return withMinus(value.toExponential(1).replace('e+', 'e'))
  return withMinus(parted.format(Number(value.toPrecision(4))))
}

function withMinus(text: string): string {
  return text.replace('-', '−')
}

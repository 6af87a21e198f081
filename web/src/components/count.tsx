const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** `948`, `12.4K`: a number to compare at a glance, the whole of it for whoever points at it. */
export function Count({ value }: { value: number }) {
  if (value < 10_000) return <span class="count">{whole.format(value)}</span>
  return (
    <span class="count" title={whole.format(value)}>
      {short.format(value)}
    </span>
  )
}

import { formatAmount, type ListedPackage } from '@agentgym/contract'
import { usePage } from '../layout/page-context.ts'
import { Icon } from './icon.tsx'

type PriceProps = {
  /** Minor units (cents); 0 is free. */
  minor: number
  /** Default: the server's currency. */
  currency?: string
  kind?: ListedPackage['price_kind']
}

export function Price({ minor, currency, kind }: PriceProps) {
  const { host } = usePage()
  if (minor === 0 || kind === 'free') return <span class="price price-free">Free</span>
  return (
    <span class="price">
      {formatAmount(minor, currency ?? host.currency)}
      {kind === 'per_run' && <span class="price-per"> per run</span>}
    </span>
  )
}

type AmountProps = { minor: number; currency: string }

/** A sum of money; unlike a price, zero reads $0.00. */
export function Amount({ minor, currency }: AmountProps) {
  return <span class="price">{formatAmount(minor, currency)}</span>
}

const wholeNumber = new Intl.NumberFormat('en')
const shortNumber = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** `948`, `12.4k`, with the exact number on hover. */
export function Count({ value }: { value: number }) {
  if (value < 10_000) return <span class="count">{wholeNumber.format(value)}</span>
  return (
    <span class="count" title={wholeNumber.format(value)}>
      {shortNumber.format(value).replace('K', 'k')}
    </span>
  )
}

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** A relative time, with the exact one on hover. */
export function Time({ at }: { at: string }) {
  const { nowMs } = usePage()
  return (
    <time datetime={at} title={`${at.slice(0, 16).replace('T', ' ')} UTC`}>
      {ageOf(at, nowMs)}
    </time>
  )
}

/** `3 days ago`; `just now` within a minute, and for clocks that differ a little. */
export function ageOf(at: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(at)) / 1000
  const step = steps.find(([, length]) => seconds >= length)
  return step === undefined ? 'just now' : relative.format(-Math.floor(seconds / step[1]), step[0])
}

/** An exact time, for receipts: `2026-11-28 06:33 UTC`. */
export function Timestamp({ at }: { at: string }) {
  return <time datetime={at}>{formatTimestamp(at)}</time>
}

/** A message of the API with its times written as on this page. */
export function withTimestamps(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, formatTimestamp)
}

function formatTimestamp(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}

/** Mean rating out of five and the number of votes; nothing before the first. */
export function Rating({ rating, votes }: { rating: number | null; votes: number }) {
  if (rating === null || votes === 0) return null
  return (
    <span class="rating" title={`${rating.toFixed(1)} of 5 stars by ${votes} ${votes === 1 ? 'buyer' : 'buyers'}`}>
      <Icon name="star" size={12} label="Rating" />
      {rating.toFixed(1)}
      <span class="dim">({votes})</span>
    </span>
  )
}

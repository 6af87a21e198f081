import { formatAmount, type ListedPackage } from '@agentgym/contract'
import { usePage } from '../layout/page-context.ts'
import { Icon } from './icon.tsx'

type PriceProps = {
  /** Minor units (cents); 0 is free. */
  minor: number
  /** The server's own unless told. */
  currency?: string
  kind?: ListedPackage['price_kind']
}

export function Price({ minor, currency, kind }: PriceProps) {
  const { host } = usePage()
  if (minor === 0 || kind === 'free') return <span class="price price-free">Free</span>
  return (
    <span class="price">
      {formatAmount(minor, currency ?? host.currency)}
      {kind === 'per_run' && <span class="price-per"> a run</span>}
    </span>
  )
}

type AmountProps = { minor: number; currency: string }

/** A sum of money; unlike a price, nothing is `0.00`. */
export function Amount({ minor, currency }: AmountProps) {
  return <span class="price">{formatAmount(minor, currency)}</span>
}

const wholeNumber = new Intl.NumberFormat('en')
const shortNumber = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** `948`, `12.4K`: a number to compare at a glance, the whole of it for whoever points at it. */
export function Count({ value }: { value: number }) {
  if (value < 10_000) return <span class="count">{wholeNumber.format(value)}</span>
  return (
    <span class="count" title={wholeNumber.format(value)}>
      {shortNumber.format(value)}
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

/** How long ago, with the moment itself for whoever points at it. */
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

/** `2026-11-28 06:33 UTC`: on receipts, where an age would be another one tomorrow. */
export function Moment({ at }: { at: string }) {
  return <time datetime={at}>{shownMoment(at)}</time>
}

/** The API's sentences with the moments in them as they are shown here. */
export function withMoments(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, shownMoment)
}

function shownMoment(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}

/** Mean of the stars that buyers gave, of five, and how many did; nothing before the first. */
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

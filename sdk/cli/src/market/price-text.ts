import { formatAmount, type Price, type PriceKind } from '@agentgym/contract'

/** A price in words: `free`, `$12.50`, `$0.50 a run`. */
export function priceText({ kind, amount_minor, currency }: Pick<Price, 'kind' | 'amount_minor' | 'currency'>): string {
  if (kind === 'free' || amount_minor === 0) return 'free'
  return `${formatAmount(amount_minor, currency)}${kind === 'per_run' ? ' a run' : ''}`
}

type Listed = { price_kind: PriceKind; price_minor: number; currency: string }

/** The price of a package in the catalog. */
export function listedPriceText(listed: Listed): string {
  const { price_kind: kind, price_minor: amount_minor, currency } = listed
  return priceText({ kind, amount_minor, currency })
}

/** Basis points as a percentage: `10%`, `2.5%`. */
export function percentText(basisPoints: number): string {
  return `${basisPoints / 100}%`
}

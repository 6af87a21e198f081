import { formatAmount, type Offer } from '@agentgym/contract'
import { fieldLines } from '../terminal/field-lines.ts'
import { formatCount, formatValue } from '../terminal/format-figures.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { titleLine } from '../terminal/title-line.ts'
import { priceText } from './price-text.ts'

/** Longer terms are on the package's page. */
const termsShown = 600

/** All that a buyer wants to know before they pay: what, how much, what for, under which terms, and who vouches for it. */
export function offerLines(offer: Offer, terminal: Terminal): string[] {
  const title = offer.title === null ? '' : `: ${offer.title}`
  return [
    titleLine('', `${offer.package}@${offer.version}`, terminal, title),
    ...fieldLines(
      [...pricePairs(offer), ...termPairs(offer), ...proofPairs(offer, terminal), ...balancePairs(offer, terminal)],
      terminal,
    ),
  ]
}

function pricePairs({ price, total_minor, covers, kind, upcoming }: Offer): [string, string][] {
  const { currency } = price
  const what = price.kind === 'per_run' ? 'one training run' : `every version ${covers} of this ${kind}`
  const pairs: [string, string][] = [['total', `${formatAmount(total_minor, currency)} for ${what}`]]
  if (upcoming !== null) pairs.push(['later', `${priceText(upcoming)} from ${upcoming.effective_at.slice(0, 10)} on`])
  return pairs
}

function termPairs(offer: Offer): [string, string][] {
  const { seller, license, terms, trial_calls, calls_price_minor, price } = offer
  const pairs: [string, string][] = [
    ['seller', seller],
    ['licence', license ?? 'none named'],
  ]
  if (terms !== '') pairs.push(['terms', terms.length > termsShown ? `${terms.slice(0, termsShown)}…` : terms])
  if (calls_price_minor > 0) {
    const trial = trial_calls > 0 ? `; ${formatCount(trial_calls)} to try before` : ''
    pairs.push(['calls', `${formatAmount(calls_price_minor, price.currency)} for 1,000 hosted calls${trial}`])
  } else if (trial_calls > 0) pairs.push(['calls', `${formatCount(trial_calls)} hosted calls to try before`])
  return pairs
}

function proofPairs({ verification, page }: Offer, { symbols }: Terminal): [string, string][] {
  const pairs: [string, string][] = []
  if (verification !== null) {
    const { state, return_mean, command } = verification
    const verified = state === 'verified'
    const mark = verified ? symbols.ok : symbols.warning
    const result = return_mean === null ? '' : `, return ${formatValue(return_mean)}`
    pairs.push(['evaluation', `${mark} ${verified ? 'verified' : `not verified (${state})`}${result}`])
    pairs.push(['run it again', command])
  }
  pairs.push(['page', page])
  return pairs
}

function balancePairs(
  { balance_minor: balance, total_minor: total, price }: Offer,
  { symbols }: Terminal,
): [string, string][] {
  if (balance === null) return []
  const { currency } = price
  const now = formatAmount(balance, currency)
  const after = balance < total ? 'too little' : `${formatAmount(balance - total, currency)} afterwards`
  return [['balance', `${now} ${symbols.next} ${after}`]]
}

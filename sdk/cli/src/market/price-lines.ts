import { formatAmount, type PricePage } from '@agentgym/contract'
import { fieldLines } from '../terminal/field-lines.ts'
import { formatCount } from '../terminal/format-figures.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { titleLine } from '../terminal/title-line.ts'
import { percentText, priceText } from './price-text.ts'

/** What a package costs, will cost and has cost, and the terms of its sale. */
export function priceLines(page: PricePage, terminal: Terminal): string[] {
  return [
    titleLine('Price of', page.package, terminal),
    ...fieldLines([...pricePairs(page), ...termPairs(page)], terminal),
    ...historyLines(page, terminal),
  ]
}

function pricePairs({ current, upcoming, upcoming_terms: later }: PricePage): [string, string][] {
  const pairs: [string, string][] = [['now', priceText(current)]]
  if (upcoming !== null) pairs.push(['later', `${priceText(upcoming)} from ${dayOf(upcoming.effective_at)} on`])
  if (later !== null) {
    const { royalty_basis_points: royalty, calls_price_minor: calls } = later
    const text = `royalty ${percentText(royalty)}, 1,000 hosted calls ${formatAmount(calls, current.currency)}`
    pairs.push(['terms later', `${text} from ${dayOf(later.effective_at)} on`])
  }
  return pairs
}

function termPairs(page: PricePage): [string, string][] {
  const { royalty_basis_points: royalty, trial_calls: trial, calls_price_minor: calls, terms, current } = page
  const pairs: [string, string][] = []
  if (royalty > 0) pairs.push(['royalty', `${percentText(royalty)} of every sale of an agent trained on it`])
  if (calls > 0) pairs.push(['calls', `${formatAmount(calls, current.currency)} for 1,000 hosted calls`])
  if (trial > 0) pairs.push(['trial', `${formatCount(trial)} hosted calls before buying`])
  if (terms !== '') pairs.push(['terms', terms])
  return pairs
}

/** One price that has always held is said above. */
function historyLines({ history }: PricePage, terminal: Terminal): string[] {
  if (history.length < 2) return []
  const columns = [{ title: 'Held from' }, { title: 'Price' }]
  return renderTable(
    columns,
    history.map((price) => [dayOf(price.effective_at), priceText(price)]),
    terminal,
  )
}

function dayOf(moment: string): string {
  return moment.slice(0, 10)
}

/** How people ask: the words for a measure, an aggregation, a group and a filter. */
import { fillIn, type Rng } from '@agentgym/scenario'
import type { Domain } from './domains.ts'
import { type Aggregation, MEASURES } from './table.ts'

export type Question = {
  aggregation: Aggregation
  /** A column of numbers; a count ignores it. */
  measure: (typeof MEASURES)[number]
  /** Which group comes first or last. */
  group: { column: number; pick: 'highest' | 'lowest' } | null
  filter: { column: number; label: string; keep: boolean } | null
}

const words: { [Each in Aggregation]: readonly string[] } = {
  sum: ['total', 'summed', 'overall'],
  mean: ['average', 'mean', 'typical'],
  maximum: ['maximum', 'peak', 'biggest'],
  count: ['how many', 'number of', 'count of'],
}
const first = ['top', 'leading', 'foremost'] as const
const last = ['bottom', 'weakest', 'hindmost'] as const
const only = ['only {label}', '{label} alone', 'just for {label}'] as const
const without = ['without {label}', 'except {label}', 'leaving out {label}'] as const

/** Sentences are put together of parts that occur in both splits; which combinations do is split. */
const openers = ['Please:', 'For the report:', 'Quick question:', 'For the meeting:', 'Again:', 'Today:'] as const
const frames = {
  number: ['what is the {what}{where}?', 'I need the {what}{where}.', 'give me the {what}{where}.', '{what}{where}?'],
  group: [
    'what is the {end} {group} by {what}{where}?',
    'name the {end} {group} by {what}{where}.',
    'which is our {end} {group} by {what}{where}?',
    '{end} {group}, {what}{where}?',
  ],
} as const
const closers = ['', ' Thank you.', ' It is urgent.', ' Check it twice.', ' No hurry.'] as const
/** A combination in this many is for evaluation. */
const HELD_OUT = 3

export function writeQuestion(
  { aggregation, measure, group, filter }: Question,
  domain: Domain,
  split: 'train' | 'eval',
  rng: Rng,
): string {
  const categories = [...domain.categories, domain.lookup.column]
  const counted = aggregation === 'count' ? domain.rows : rng.pick(domain.measures[MEASURES.indexOf(measure)].names)
  const slots = {
    what: `${rng.pick(words[aggregation])} ${counted}`,
    where: filter === null ? '' : `, ${rng.pick(filter.keep ? only : without).replace('{label}', filter.label)}`,
    end: group === null ? '' : rng.pick(group.pick === 'highest' ? first : last),
    group: group === null ? '' : rng.pick(categories[group.column - 1].names),
  }
  const core = frames[group === null ? 'number' : 'group']
  const [opener, frame, closer] = drawParts([openers, core, closers], split, rng)
  return fillIn(`${opener} ${frame}${closer}`, slots, rng)
}

/** One of each list. The sum of their places says which split a combination belongs to. */
function drawParts(lists: readonly (readonly string[])[], split: 'train' | 'eval', rng: Rng): string[] {
  for (;;) {
    const places = lists.map(({ length }) => rng.int(length))
    const heldOut = places.reduce((sum, place) => sum + place, 0) % HELD_OUT === 0
    if (heldOut === (split === 'eval')) return places.map((place, i) => lists[i][place])
  }
}

import { AgentGymError, currencyDigits, nearestName, parseAmount, parseSetting } from '@agentgym/contract'

/** Seeds are what a 32-bit generator takes. */
export const seedRange = { least: 0, greatest: 4_294_967_295 }
export const seedText = `random seed, ${seedRange.least} to ${seedRange.greatest}`
/** An evaluation's seed may have 53 bits, as those of verifications have. */
export const evaluationSeedRange = { least: 0, greatest: Number.MAX_SAFE_INTEGER }
export const portRange = { least: 0, greatest: 65_535 }
export const countRange = { least: 1, greatest: Number.MAX_SAFE_INTEGER }

/** Entries a page of a list. */
export const pageRange = { least: 1, greatest: 100 }

// Options that several commands have, as their help shows them.
export const cursorText = 'cursor of the next page, printed with the page before'
export const scenarioOptionText = 'scenario folder or name, if it cannot be found automatically'
export const orgOption = ['--org <NAME>', 'organization (default: your account)'] as const

/**
 * A parser of whole numbers for one option. `1e5` and `100_000` are whole numbers; `abc`, `1.5`, an empty string and what
 * lies outside the range throw `config_invalid` with the field.
 */
export function wholeNumber(field: string, range: { least: number; greatest: number }): (text: string) => number {
  return (text) => {
    const plain = text.trim().replace(/(?<=\d)_(?=\d)/g, '')
    const value = /^[+-]?\d+(\.\d+)?(e\+?\d+)?$/i.test(plain) ? Number(plain) : Number.NaN
    if (Number.isSafeInteger(value) && value >= range.least && value <= range.greatest) return value
    const bounds =
      range.greatest === Number.MAX_SAFE_INTEGER
        ? `a whole number from ${range.least} up`
        : `a whole number from ${range.least} to ${range.greatest}`
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, which is not ${bounds}`,
      hint: `Give ${bounds}, such as --${field} ${field === 'steps' ? '100000' : '1'}.`,
      data: { field, value: text.slice(0, 100) },
    })
  }
}

/** Parses `--target`, a finite number. Throws `config_invalid`. */
export function targetReturn(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(value)) return value
  const shown = text.slice(0, 100)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--target is ${JSON.stringify(shown)}, which is not a number`,
    hint: 'Give the mean return of an episode that is enough, such as --target 200.',
    data: { field: 'target', value: shown },
  })
}

/** More would be a mistake in typing. */
const mostSeeds = 100

/** Parses `--seed`: `7`, `1,2,7`, or `1..5` from the first to the last. Throws `config_invalid`. */
export function seedList(text: string): number[] {
  const parse = wholeNumber('seed', seedRange)
  const [first, last, ...rest] = text.split('..')
  const seeds = last === undefined ? text.split(',').map(parse) : countedSeeds(parse(first), parse(last))
  if (rest.length === 0 && seeds.length > 0 && seeds.length <= mostSeeds && new Set(seeds).size === seeds.length) {
    return seeds
  }
  const shown = text.slice(0, 100)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--seed is ${JSON.stringify(shown)}, which is not one to ${mostSeeds} different seeds`,
    hint: 'Give one seed, several separated by commas, or a range such as --seed 1..5.',
    data: { field: 'seed', value: shown },
  })
}

function countedSeeds(first: number, last: number): number[] {
  const count = last - first + 1
  // One more than allowed is enough to refuse it.
  return Array.from({ length: Math.max(0, Math.min(count, mostSeeds + 1)) }, (_, i) => first + i)
}

/**
 * A parser of percentages for one option, in basis points: `2.5` and `2.5%` are 250. More than 100, or more than two
 * decimals, throws `config_invalid`.
 */
export function percent(field: string): (text: string) => number {
  return (text) => {
    const [, whole, fraction = ''] = /^(\d{1,3})(?:\.(\d{1,2}))?\s*%?$/.exec(text.trim()) ?? []
    const value = whole === undefined ? Number.NaN : Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
    if (value <= 10_000) return value
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, which is not a percentage`,
      hint: `Give a number from 0 to 100 with at most two decimals, such as --${field} 7.5.`,
      data: { field, value: text.slice(0, 100) },
    })
  }
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}

/** Collects `--set NAME=VALUE`, values as they were typed. Later pairs win. Throws `config_invalid`. */
export function collectSetting(typed: string, previous: Record<string, string> = {}): Record<string, string> {
  const { name, text } = parseSetting(typed)
  // A null prototype, so that a name such as __proto__ is a name like any other.
  return Object.assign(Object.create(null), previous, { [name]: text })
}

type AmountOption = {
  /** As the user types it: `--budget`, `AMOUNT`. */
  name: string
  /** What it means: `a spending limit`. */
  meaning: string
}

/** `--budget` of a training run. */
export const budgetOption: AmountOption = { name: '--budget', meaning: 'the spending limit of the run' }

/**
 * An amount as people write it (`12.50`), in minor units of the server's currency. Throws `config_invalid`, which names
 * the option and shows how to write it.
 */
export function readAmount(text: string, currency: string, { name, meaning }: AmountOption): number {
  const parsed = parseAmount(text, currency)
  if ('minor' in parsed) return parsed.minor
  const digits = currencyDigits(currency)
  const example = digits === 0 ? '250' : `2.${'5'.padEnd(digits, '0')}`
  const shown = text.slice(0, 100)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${name} is ${JSON.stringify(shown)}, which ${parsed.problem}`,
    hint: `Give ${meaning}, in ${currency}: ${name.startsWith('--') ? `${name} ` : ''}${example}.`,
    data: { field: name.replace(/^--/, '').toLowerCase(), value: shown, currency },
  })
}

/** One of the values that an option accepts. Throws `config_invalid` otherwise, with the nearest as a suggestion. */
export function oneOf<Word extends string>(field: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  const nearest = nearestName(text, words)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, expected one of: ${words.join(', ')}`,
    hint: nearest ? `Did you mean ${nearest}?` : `Use one of: ${words.join(', ')}.`,
    data: { field, ...(nearest ? { suggestion: nearest } : {}) },
  })
}

/** A parser of a rate for one option: steps per second, 0.25 to 512. Throws `config_invalid`. */
export function rate(field: string): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN
    if (value >= 0.25 && value <= 512) return value
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, which is not a number from 0.25 to 512`,
      hint: `Give steps per second, such as --${field} 10.`,
      data: { field, value: text.slice(0, 100) },
    })
  }
}

import { AgentGymError, parseSetting } from '@agentgym/contract'

/** Seeds are what a 32-bit generator takes. */
export const seedRange = { least: 0, greatest: 4_294_967_295 }
export const countRange = { least: 1, greatest: Number.MAX_SAFE_INTEGER }

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

/**
 * A parser of parts of a hundred for one option, in hundredths of a per cent: `2.5` and `2.5%` are 250. What is more than
 * 100, or finer than a hundredth, throws `config_invalid`.
 */
export function percent(field: string): (text: string) => number {
  return (text) => {
    const [, whole, fraction = ''] = /^(\d{1,3})(?:\.(\d{1,2}))?\s*%?$/.exec(text.trim()) ?? []
    const value = whole === undefined ? Number.NaN : Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
    if (value <= 10_000) return value
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, which is no part of a hundred`,
      hint: `Give a number from 0 to 100 with at most two decimals, such as --${field} 7.5.`,
      data: { field, value: text.slice(0, 100) },
    })
  }
}

/** Collects `--set NAME=VALUE`, values as they were typed. Later pairs win. Throws `config_invalid`. */
export function collectSetting(typed: string, previous: Record<string, string> = {}): Record<string, string> {
  const { name, text } = parseSetting(typed)
  // A null prototype, so that a name such as __proto__ is a name like any other.
  return Object.assign(Object.create(null), previous, { [name]: text })
}

import { Problem } from './faults.ts'
import { isArray, lengthOfTypedArray } from './primordials.ts'
import type { SpaceDescription } from './read-space.ts'

/** Of a whole observation as JSON: it leaves the isolate as one string. */
const MAX_CHARACTERS = 1 << 23

const { stringify } = JSON

function refuse(what: string): never {
  throw new Problem('observation_invalid', what, 'Return the observation as plain values of the space.')
}

function numberText(value: unknown): string {
  if (typeof value !== 'number' || value - value !== 0) refuse('the observation changed while it was read')
  return `${value}`
}

/** `stringify` looks for no `toJSON` on a primitive string. */
function wordText(value: unknown): string {
  if (typeof value !== 'string') refuse('the observation changed while it was read')
  return stringify(value)
}

function numbersText(sample: unknown): string {
  const list = sample as readonly unknown[]
  const length = isArray(sample) ? sample.length : lengthOfTypedArray(sample as object)
  let text = ''
  for (let i = 0; i < length; i += 1) {
    text += `${i === 0 ? '' : ','}${numberText(list[i])}`
    if (text.length > MAX_CHARACTERS) refuse('the observation is too large to be written as JSON')
  }
  return `[${text}]`
}

function itemsText(sample: readonly unknown[]): string {
  let text = ''
  for (let i = 0; i < sample.length; i += 1) {
    const { id, features } = sample[i] as { id: unknown; features: unknown }
    text += `${i === 0 ? '' : ','}{"id":${wordText(id)},"features":${numbersText(features)}}`
  }
  return `[${text}]`
}

/**
 * A sample of `space` as JSON, in the form that `observe` returned it: what clients outside of the isolate see who read words and ids,
 * which the row of numbers does not hold. The sample has passed the space's encoder. Built by hand: `stringify` of an object
 * would call what the author put on prototypes.
 */
export function sampleJson(space: SpaceDescription, sample: unknown): string {
  switch (space.type) {
    case 'box':
    case 'multiDiscrete':
      return numbersText(sample)
    case 'discrete':
      return numberText(sample)
    case 'text':
      return wordText(sample)
    case 'list':
      return itemsText(sample as readonly unknown[])
    case 'dict': {
      let text = ''
      for (let i = 0; i < space.entries.length; i += 1) {
        const { name, space: inner } = space.entries[i]
        text += `${i === 0 ? '' : ','}"${name}":${sampleJson(inner, (sample as Record<string, unknown>)[name])}`
        if (text.length > MAX_CHARACTERS) refuse('the observation is too large to be written as JSON')
      }
      return `{${text}}`
    }
  }
}

import type { SpaceDescription } from '@agentgym/contract'

/** An item of a list in an observation. */
export type Item = { id: string; features: number[] }

/** A sample of a space, as plain JSON. */
export type Sample = number | number[] | string | Item[] | { [name: string]: Sample }

/**
 * Reads an observation that came out of the sandbox as JSON: it has the form of its space and nothing else. Numbers of a box lie within its
 * bounds as JSON has them, too, where the engine compared them in float32. Throws an Error for anything else: the engine has
 * checked it, so a process that sends it runs other code.
 */
export function readSample(space: SpaceDescription, json: string): Sample {
  return read(space, JSON.parse(json))
}

function read(space: SpaceDescription, value: unknown): Sample {
  switch (space.type) {
    case 'box': {
      const numbers = numbersIn(value, space.low.length)
      return numbers.map((number, i) => Math.min(space.high[i] ?? number, Math.max(space.low[i] ?? number, number)))
    }
    case 'discrete':
      return numbersIn([value], 1)[0]
    case 'multiDiscrete':
      return numbersIn(value, space.nvec.length)
    case 'text':
      return textIn(value)
    case 'list': {
      if (!Array.isArray(value) || value.length > space.slots) throw unreadable()
      return value.map((item) => {
        const { id, features } = Object(item)
        return { id: textIn(id), features: numbersIn(features, space.features) }
      })
    }
    case 'dict': {
      if (typeof value !== 'object' || value === null) throw unreadable()
      const fields = value as Record<string, unknown>
      return Object.fromEntries(space.entries.map(({ name, space: inner }) => [name, read(inner, fields[name])]))
    }
  }
}

function numbersIn(value: unknown, length: number): number[] {
  if (!Array.isArray(value) || value.length !== length || !value.every(Number.isFinite)) throw unreadable()
  return value
}

function textIn(value: unknown): string {
  if (typeof value !== 'string') throw unreadable()
  return value.toWellFormed()
}

function unreadable(): Error {
  return new Error('the observation that the process sent does not have the form of its space')
}

/** Items of a list in an observation, by its dotted name. */
export function itemsIn(observation: Sample, list: string): Item[] {
  const found = list.split('.').reduce<unknown>((part, key) => Object(part)[key], observation)
  return Array.isArray(found) ? (found as Item[]) : []
}

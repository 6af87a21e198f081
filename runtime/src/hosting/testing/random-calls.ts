import type { SpaceDescription } from '@agentgym/contract'
import fc from 'fast-check'

/** Spaces of every kind, small; dicts of them, two deep. */
export function observationSpaces(): fc.Arbitrary<SpaceDescription> {
  return nested(fc.oneof(boxes(), discretes(), multiDiscretes(), texts()), 2)
}

export function actionSpaces(): fc.Arbitrary<SpaceDescription> {
  return nested(fc.oneof(discretes(), boxes(), multiDiscretes()), 2)
}

function nested(leaf: fc.Arbitrary<SpaceDescription>, depth: number): fc.Arbitrary<SpaceDescription> {
  if (depth === 0) return leaf
  const inner = nested(leaf, depth - 1)
  // Names as an output of the model has, among them.
  const names = fc.uniqueArray(fc.constantFrom('value', 'logits', 'a', 'b', 'long-name'), {
    minLength: 1,
    maxLength: 3,
  })
  const dict = names.chain((chosen) =>
    fc.tuple(...chosen.map(() => inner)).map(
      (spaces): SpaceDescription => ({
        type: 'dict',
        entries: chosen.map((name, i) => ({ name, space: spaces[i] })),
      }),
    ),
  )
  return fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 1, arbitrary: dict })
}

function boxes(): fc.Arbitrary<SpaceDescription> {
  const bound = fc.option(fc.constantFrom(0.1, 0.7, 1.3, 100), { nil: null })
  return fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }).chain((shape) => {
    const size = shape.reduce((product, length) => product * length, 1)
    return fc.array(fc.tuple(bound, bound), { minLength: size, maxLength: size }).map((bounds) => ({
      ...{ type: 'box', shape },
      low: bounds.map(([low]) => (low === null ? null : -low)),
      high: bounds.map(([, high]) => high),
    }))
  })
}

function discretes(): fc.Arbitrary<SpaceDescription> {
  return fc.record({ n: fc.integer({ min: 1, max: 6 }), start: fc.integer({ min: -3, max: 3 }) }).map((fields) => ({
    ...{ type: 'discrete', ...fields },
    ...(fields.start > 0 ? { labels: Array.from({ length: fields.n }, (_, i) => `choice ${i}`) } : {}),
  }))
}

function multiDiscretes(): fc.Arbitrary<SpaceDescription> {
  return fc
    .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })
    .map((nvec) => ({ type: 'multiDiscrete', nvec }))
}

function texts(): fc.Arbitrary<SpaceDescription> {
  return fc.record({
    type: fc.constant('text' as const),
    maxTokens: fc.integer({ min: 1, max: 5 }),
    vocabulary: fc.integer({ min: 2, max: 30 }),
  })
}

const words = ['ship', 'refund', 'seven', '42', 'été', '']

/** A sample as JSON; boxes nested where `nest`. */
export function randomSample(space: SpaceDescription, random: () => number, nest: boolean): unknown {
  const pick = (count: number) => Math.floor(random() * count)
  switch (space.type) {
    case 'box': {
      const flat = space.low.map((low, i) => {
        const [bottom, top] = [low ?? -3, space.high[i] ?? 3]
        return bottom + (top - bottom) * random()
      })
      return nest ? nestedList(flat, space.shape) : flat
    }
    case 'discrete':
      return space.start + pick(space.n)
    case 'multiDiscrete':
      return space.nvec.map(pick)
    case 'text':
      return Array.from({ length: pick(7) }, () => words[pick(words.length)]).join(' ')
    case 'list':
      return Array.from({ length: 1 + pick(space.slots) }, (_, i) => ({
        id: `item ${i}`,
        features: Array.from({ length: space.features }, () => random() * 4 - 2),
      }))
    case 'dict':
      return Object.fromEntries(
        space.entries.map(({ name, space: inner }) => [name, randomSample(inner, random, nest)]),
      )
  }
}

function nestedList(flat: number[], [length, ...inner]: number[]): unknown {
  if (inner.length === 0) return flat
  const size = flat.length / length
  return Array.from({ length }, (_, i) => nestedList(flat.slice(i * size, (i + 1) * size), inner))
}

/** A mask that leaves something legal; everything where not `masked`. */
export function randomMask(space: SpaceDescription, random: () => number, masked: boolean): unknown {
  const choices = (count: number) => {
    const legal = Array.from({ length: count }, () => !masked || random() < 0.5)
    legal[Math.floor(random() * count)] = true
    return legal
  }
  if (space.type === 'discrete') return choices(space.n)
  if (space.type === 'multiDiscrete') return space.nvec.map(choices)
  if (space.type !== 'dict') return {}
  const categorical = space.entries.filter(({ space: inner }) => hasChoices(inner))
  return Object.fromEntries(categorical.map(({ name, space: inner }) => [name, randomMask(inner, random, masked)]))
}

export function hasChoices(space: SpaceDescription): boolean {
  if (space.type === 'dict') return space.entries.some(({ space: inner }) => hasChoices(inner))
  return space.type === 'discrete' || space.type === 'multiDiscrete'
}

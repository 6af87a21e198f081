import type { SpaceDescription } from '@agentgym/contract'
import type { NetworkSettings } from '../../../runtime/src/policy/policy-spec.ts'

type Random = () => number
export type TestedSpaces = {
  name: string
  observation: SpaceDescription
  action: SpaceDescription
  network?: Partial<NetworkSettings>
}

const box = (shape: number[], low: number | null, high: number | null, rest = {}): SpaceDescription => {
  const size = shape.reduce((a, b) => a * b, 1)
  return { type: 'box', shape, low: Array(size).fill(low), high: Array(size).fill(high), ...rest }
}
const dict = (entries: Record<string, SpaceDescription>): SpaceDescription => ({
  type: 'dict',
  entries: Object.entries(entries).map(([name, space]) => ({ name, space })),
})

const everything = dict({
  position: box([2, 3], null, null),
  speed: box([2], -1, 1),
  // Named as outputs of a model are.
  value: { type: 'discrete', n: 3, start: -1 },
  state: { type: 'multiDiscrete', nvec: [3, 1, 4] },
  nested: dict({ words: { type: 'text', maxTokens: 6, vocabulary: 512 }, board: box([2, 8, 7], 0, 1) }),
  camera: box([7, 9, 3], 0, 255, { channels: 'last' }),
})
const move: SpaceDescription = { type: 'discrete', n: 3, start: 1, labels: ['stay', 'left', 'right'] }
const orders = dict({
  message: { type: 'text', maxTokens: 32, vocabulary: 30_522, encoder: 'minilm' },
  note: { type: 'text', maxTokens: 8, vocabulary: 4096 },
  orders: { type: 'list', slots: 4, features: 2 },
})
const tools: SpaceDescription = {
  type: 'dict',
  choice: 'tool',
  entries: [
    { name: 'tool', space: { type: 'discrete', n: 3, start: 0, labels: ['wait', 'refund', 'rate'] } },
    {
      name: 'refund',
      space: dict({
        order: { type: 'discrete', n: 4, start: 0, list: 'orders' },
        share: box([], 0.1, 99.9, { default: 50 }),
        reason: { type: 'discrete', n: 3, start: 0, labels: ['late', 'broken', 'lost'], default: 1 },
      }),
    },
    { name: 'rate', space: dict({ stars: box([], 1, 5, { integer: true, default: 3 }) }) },
  ],
}
const everyBound: SpaceDescription = {
  type: 'box',
  shape: [6],
  low: [-0.01, null, 3, null, -1e6, 250],
  high: [0.01, null, null, -5, 1e6, 350],
}
const parts = dict({ way: move, amounts: everyBound, flags: { type: 'multiDiscrete', nvec: [2, 3] } })
const gru = { kind: 'gru', units: 5 } as const

/** Every kind of space with every kind of network, beside those of the built-in scenarios; `minilm` reads some of the texts. */
export const testedSpaces: TestedSpaces[] = [
  { name: 'everything-to-move', observation: everything, action: move },
  { name: 'everything-to-parts', observation: everything, action: parts },
  { name: 'clipped', observation: everything, action: parts, network: { boxActions: 'clipped' } },
  { name: 'remembering', observation: everything, action: parts, network: { memory: gru } },
  { name: 'values', observation: everything, action: move, network: { head: 'q' } },
  { name: 'dueling', observation: everything, action: move, network: { head: 'dueling_q' } },
  { name: 'squashed', observation: everything, action: everyBound, network: { head: 'squashed_gaussian' } },
  { name: 'tools', observation: orders, action: tools },
  { name: 'tools-clipped', observation: orders, action: tools, network: { boxActions: 'clipped', activation: 'relu' } },
  { name: 'tools-remembering', observation: orders, action: tools, network: { memory: gru } },
  { name: 'fixed-arguments', observation: orders, action: tools, network: { parameterSelection: false } },
  { name: 'fixed-tool', observation: orders, action: tools, network: { toolSelection: false } },
]

const words = [
  ...[
    'refund',
    'Order',
    'the kettle',
    'ΣΊΣΥΦΟΣ',
    'straße',
    'ﬁne',
    '東京へ',
    'カタカナ',
    'ñandú',
    'naïve café',
    'a1b2',
    "don't",
  ],
  ...[
    '😀',
    'Ⅷ',
    'İstanbul',
    '[SEP]',
    '12,5 €',
    '\u0301x',
    'ｆｕｌｌ',
    '한국어',
    'ไทย',
    '\ud800',
    'x'.repeat(130),
    '\t\n',
  ],
]

/** A sample of an observation space, as a scenario would give it. */
export function sampleOf(space: SpaceDescription, random: Random): unknown {
  const below = (n: number) => Math.floor(random() * n)
  switch (space.type) {
    case 'box': {
      const numbers = space.low.map((low, i) => {
        const high = space.high[i]
        return low !== null && high !== null ? low + (high - low) * random() : (low ?? 0) + 3 * (random() - 0.5)
      })
      return space.shape.reduceRight<unknown[]>(
        (flat, size, i) =>
          i === 0 ? flat : Array.from({ length: flat.length / size }, (_, j) => flat.slice(j * size, (j + 1) * size)),
        numbers,
      )
    }
    case 'discrete':
      return space.start + below(space.n)
    case 'multiDiscrete':
      return space.nvec.map(below)
    case 'text':
      return Array.from({ length: below(40) }, () => words[below(words.length)]).join(' ')
    case 'list':
      return Array.from({ length: 1 + below(space.slots) }, (_, i) => ({
        id: `item ${i}-${below(1e6)}`,
        features: Array.from({ length: space.features }, () => random()),
      }))
    case 'dict':
      return Object.fromEntries(space.entries.map(({ name, space: inner }) => [name, sampleOf(inner, random)]))
  }
}

/** A mask that leaves the first choice of everything legal, and some others; null for a space without choices. */
export function sampleMask(space: SpaceDescription, random: Random): unknown {
  const flags = (n: number) => Array.from({ length: n }, (_, i) => i === 0 || random() < 0.7)
  switch (space.type) {
    case 'discrete':
      return flags(space.n)
    case 'multiDiscrete':
      return space.nvec.map(flags)
    case 'dict':
      return Object.fromEntries(space.entries.map(({ name, space: inner }) => [name, sampleMask(inner, random)]))
    default:
      return null
  }
}

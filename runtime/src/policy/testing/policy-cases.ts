import type { PolicySpec, SpaceDescription } from '@agentgym/contract'
import { type ParameterLayout, parameterLayout } from '../parameter-layout.ts'
import { buildPolicySpec, type NetworkSettings } from '../policy-spec.ts'

/** A policy of one kind, and what parity tests feed it. */
export type PolicyCase = { name: string; spec: PolicySpec; masked: boolean }

const free = (shape: number[]): SpaceDescription => {
  const none = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => null)
  return { type: 'box', shape, low: none, high: none }
}
const bounded = (low: number[], high: number[]): SpaceDescription => ({ type: 'box', shape: [low.length], low, high })
const dict = (entries: Record<string, SpaceDescription>): SpaceDescription => ({
  type: 'dict',
  entries: Object.entries(entries).map(([name, space]) => ({ name, space })),
})

const observations: Record<string, SpaceDescription> = {
  box: free([5]),
  discrete: { type: 'discrete', n: 7, start: -3 },
  multiDiscrete: { type: 'multiDiscrete', nvec: [3, 1, 4] },
  text: { type: 'text', maxTokens: 6, vocabulary: 20 },
  dict: dict({
    position: free([2, 2]),
    speed: bounded([-1], [1]),
    // Named as an output of the model is.
    value: { type: 'discrete', n: 3, start: 0 },
    nested: dict({ words: { type: 'text', maxTokens: 4, vocabulary: 12 }, other: free([2]) }),
  }),
}

const actions: Record<string, SpaceDescription> = {
  discrete: { type: 'discrete', n: 3, start: 1 },
  multiDiscrete: { type: 'multiDiscrete', nvec: [2, 4] },
  box: { type: 'box', shape: [3], low: [-2, null, 0], high: [2, null, 10] },
  dict: dict({
    tool: { type: 'discrete', n: 4, start: 0 },
    amount: bounded([0, -3], [100, 3]),
    flags: { type: 'multiDiscrete', nvec: [2, 2] },
  }),
}

/** Tools with every kind of parameter, and an observation with what they point to. */
export function toolSpaces(): { observation: SpaceDescription; action: SpaceDescription } {
  return { observation: orders, action: tools }
}

/** Three tools, two of them with parameters: an item of `orders`, a number and a word; and a count. */
const tools: SpaceDescription = {
  type: 'dict',
  choice: 'tool',
  entries: [
    { name: 'tool', space: { type: 'discrete', n: 3, start: 0, labels: ['wait', 'refund', 'rate'] } },
    {
      name: 'refund',
      space: dict({
        order: { type: 'discrete', n: 4, start: 0, list: 'orders' },
        share: { type: 'box', shape: [], low: [0], high: [100], default: 50 },
        reason: { type: 'discrete', n: 3, start: 0, labels: ['late', 'broken', 'lost'], default: 1 },
      }),
    },
    {
      name: 'rate',
      space: dict({ stars: { type: 'box', shape: [], low: [1], high: [5], integer: true, default: 3 } }),
    },
  ],
}
const orders = dict({
  words: { type: 'text', maxTokens: 3, vocabulary: 9 },
  orders: { type: 'list', slots: 4, features: 2 },
  spent: free([2]),
})

const networks: NetworkSettings[] = [
  { hidden: [16, 8], activation: 'tanh', embedding: 6, normalizeObservation: true },
  { hidden: [16], activation: 'relu', embedding: 6, normalizeObservation: false },
]

/** Every kind of observation with every kind of action, tanh normalised and relu plain, and the odd shapes. */
export function policyCases(): PolicyCase[] {
  const cases: PolicyCase[] = []
  for (const [from, observation] of Object.entries(observations)) {
    for (const [to, action] of Object.entries(actions)) {
      networks.forEach((network, i) => {
        const name = `${from} to ${to}, ${network.activation}${network.normalizeObservation ? ', normalised' : ''}`
        cases.push({ name, spec: buildPolicySpec({ observation, action }, network), masked: i === 1 && to !== 'box' })
      })
    }
  }
  const squashing = { ...networks[0], boxActions: 'squashed' } as const
  for (const from of ['box', 'dict']) {
    for (const to of ['box', 'dict']) {
      const spaces = { observation: observations[from], action: actions[to] }
      cases.push({ name: `${from} to ${to}, squashed`, spec: buildPolicySpec(spaces, squashing), masked: false })
    }
  }
  cases.push(...toolCases())
  const everyBound: SpaceDescription = {
    type: 'box',
    shape: [6],
    low: [-0.01, null, 3, null, -1e6, 250],
    high: [0.01, null, null, -5, 1e6, 350],
  }
  cases.push({
    name: 'every kind of bound, squashed',
    spec: buildPolicySpec({ observation: free([3]), action: everyBound }, squashing),
    masked: false,
  })
  const linear = { hidden: [], activation: 'tanh', embedding: 4, normalizeObservation: true } as const
  const one: SpaceDescription = { type: 'discrete', n: 1, start: 2 }
  cases.push({
    name: 'no hidden layer',
    spec: buildPolicySpec({ observation: free([3]), action: one }, { ...linear, hidden: [] }),
    masked: false,
  })
  const board = dict({ goal: free([2]), board: free([2, 8, 7]), after: { type: 'discrete', n: 3, start: 0 } })
  const images = dict({ image: free([2, 17, 7]), other: free([1, 7, 7]) })
  for (const [name, observation, kind, filters] of [
    ['a board beside numbers', board, 'small', 5],
    ['two images', images, 'small', 3],
    ['residual', free([2, 17, 7]), 'residual', 2],
  ] as const) {
    for (const normalizeObservation of [true, false]) {
      const network = { hidden: normalizeObservation ? [8] : [], activation: 'tanh', embedding: 4 } as const
      const convolution = { kind, filters }
      cases.push({
        name: `${name}${normalizeObservation ? ', normalised' : ', no hidden layer'}`,
        spec: buildPolicySpec(
          { observation, action: actions.dict },
          { ...network, hidden: [...network.hidden], normalizeObservation, convolution },
        ),
        masked: true,
      })
    }
  }
  const remembering = dict({ words: { type: 'text', maxTokens: 3, vocabulary: 9 }, board: free([1, 7, 7]) })
  for (const [name, observation, hidden] of [
    ['a GRU', observations.box, [8]],
    ['a GRU after every encoder', remembering, []],
  ] as const) {
    const network = { activation: 'tanh', embedding: 4, normalizeObservation: true } as const
    const convolution = { kind: 'small', filters: 2 } as const
    const memory = { kind: 'gru', units: 5 } as const
    cases.push({
      name,
      spec: buildPolicySpec(
        { observation, action: actions.dict },
        { ...network, hidden: [...hidden], convolution, memory },
      ),
      masked: true,
    })
  }
  return cases
}

/** Tools with parameters: all of them chosen, and some fixed. */
function toolCases(): PolicyCase[] {
  const squashing = { ...networks[0], boxActions: 'squashed' } as const
  return (
    [
      ['tools', squashing],
      ['tools, clipped', { ...networks[0], hidden: [] }],
      ['tools, plain', { ...squashing, normalizeObservation: false }],
      ['tools after a GRU', { ...networks[0], memory: { kind: 'gru', units: 5 } }],
      ['tools with fixed arguments', { ...squashing, parameterSelection: false }],
      ['arguments of a fixed tool', { ...squashing, toolSelection: false }],
    ] as const
  ).map(([name, network]) => {
    const spec = buildPolicySpec({ observation: orders, action: tools }, { ...network, hidden: [...network.hidden] })
    return { name, spec, masked: name !== 'tools, clipped' }
  })
}

/** Q-networks, plain and dueling, of every kind of observation. */
export function valueCases(): PolicyCase[] {
  const board = dict({ goal: free([2]), board: free([2, 8, 7]) })
  return Object.entries({ ...observations, board }).flatMap(([from, observation]) =>
    (['q', 'dueling_q'] as const).map((head, i) => {
      const convolution = { kind: 'small', filters: 4 } as const
      const spec = buildPolicySpec({ observation, action: actions.discrete }, { ...networks[i], convolution, head })
      return { name: `${from}, ${head}`, spec, masked: i === 1 }
    }),
  )
}

/** SAC's actors, of every kind of observation and of box. */
export function squashedGaussianCases(): PolicyCase[] {
  const board = dict({ goal: free([2]), board: free([2, 8, 7]) })
  const boxes: Record<string, SpaceDescription> = {
    bounded: bounded([0, -3], [100, 3]),
    'every kind of bound': {
      type: 'box',
      shape: [5],
      low: [-0.01, null, 3, null, -1e6],
      high: [0.01, null, null, -5, 1e6],
    },
    dict: dict({ throttle: bounded([0], [1]), steering: bounded([-2, -1], [2, 3]) }),
  }
  const kinds = Object.entries(boxes)
  return Object.entries({ ...observations, board }).map(([from, observation], i) => {
    const [to, action] = kinds[i % kinds.length]
    const convolution = { kind: 'small', filters: 4 } as const
    const network = { ...networks[i % 2], convolution, boxActions: 'squashed', head: 'squashed_gaussian' } as const
    return {
      name: `${from} to ${to}, squashed_gaussian`,
      spec: buildPolicySpec({ observation, action }, network),
      masked: false,
    }
  })
}

/** A small generator for tests (mulberry32): uniform in [0, 1). */
export function testRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Weights as after some training: every parameter random, statistics not the identity. `mean` is the boxes' centre. */
export function randomWeights(
  spec: PolicySpec,
  random: () => number,
  mean = 0,
  deviation = 1,
  { parameters, totalSize }: Pick<ParameterLayout, 'parameters' | 'totalSize'> = parameterLayout(spec),
): Float32Array {
  const flat = new Float32Array(totalSize)
  for (const { name, shape, offset, size } of parameters) {
    const scale = shape.length >= 2 && !name.includes('embedding') ? 1.5 / Math.sqrt(size / shape[0]) : 0.5
    for (let i = 0; i < size; i++) {
      if (name === 'normalizer.mean') flat[offset + i] = mean + (random() - 0.5) * deviation
      else if (name === 'normalizer.variance') flat[offset + i] = (deviation * (0.5 + random())) ** 2
      else if (name === 'value.scale') flat[offset + i] = 0.5 + 3 * random()
      else flat[offset + i] = (random() * 2 - 1) * scale
    }
  }
  return flat
}

/** Observation rows [batch, row]; texts are padded to random lengths, the first row's are empty. */
export function randomObservations(
  spec: PolicySpec,
  batch: number,
  random: () => number,
  mean = 0,
  deviation = 1,
): Float32Array {
  const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
  const rows = new Float32Array(batch * row)
  for (let b = 0; b < batch; b++) {
    for (const leaf of spec.observation) {
      const tokens = b === 0 ? 0 : Math.floor(random() * (leaf.size + 1))
      for (let i = 0; i < leaf.size; i++) {
        const at = b * row + leaf.offset + i
        if (leaf.kind === 'box') rows[at] = mean + (random() * 2 - 1) * 2 * deviation
        else if (leaf.kind === 'text') rows[at] = i < tokens ? 1 + Math.floor(random() * (leaf.counts[0] - 1)) : 0
        else rows[at] = Math.floor(random() * leaf.counts[i])
      }
    }
  }
  return rows
}

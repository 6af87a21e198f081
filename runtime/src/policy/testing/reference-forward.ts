import { distributionSize, LOG_STD_RANGE, leafColumns } from '@agentgym/agent/engine'
import type { PolicySpec } from '@agentgym/contract'
import { type ConvolutionLayer, convolutionLayers } from '../convolution.ts'
import {
  criticLayout,
  leafFeatures,
  NORMALIZER_CLIP,
  NORMALIZER_EPSILON,
  networksOf,
  outputColumns,
  parameterLayout,
} from '../parameter-layout.ts'

/** Distribution rows as the exported model gives them: squashed means in the action's own units. */
export function exportedDistribution(spec: PolicySpec, distribution: ArrayLike<number>, batch: number): Float64Array {
  const rows = Float64Array.from(distribution)
  const columns = distributionSize(spec)
  const curves = { tanh: Math.tanh, exp: Math.exp, sinh: Math.sinh }
  for (let b = 0; b < batch; b++) {
    for (const { squash, center, scale, distributionOffset } of spec.action) {
      squash?.forEach((kind, i) => {
        const at = b * columns + distributionOffset + i
        rows[at] = center[i] + scale[i] * curves[kind](rows[at])
      })
    }
  }
  return rows
}

/**
 * The policy written out in plain float64 loops, straight from the flat buffer: what every other form is held to. A policy
 * with memory reads and overwrites `states` [batch, 2 × units]; rows are of different episodes.
 */
export function referenceForward(
  spec: PolicySpec,
  flat: Float32Array,
  observations: Float32Array,
  batch: number,
  states: ArrayLike<number>[] = [],
): { distribution: Float64Array; values: Float64Array; states: number[][] } {
  const parameters = new Map(
    parameterLayout(spec).parameters.map((p) => [p.name, flat.subarray(p.offset, p.offset + p.size)]),
  )
  const get = (name: string): Float32Array => parameters.get(name) ?? new Float32Array(0)
  const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
  const size = distributionSize(spec)
  const distribution = new Float64Array(batch * size)
  const values = new Float64Array(batch)
  const columns = spec.action.flatMap((leaf) =>
    leaf.kind === 'box' && leaf.squash === undefined && leaf.fixed === undefined
      ? leaf.center.map((center, i) => ({ center, scale: leaf.scale[i] }))
      : Array.from({ length: leafColumns(leaf) }, () => ({ center: 0, scale: 1 })),
  )
  const next: number[][] = []
  for (let b = 0; b < batch; b++) {
    const x = observations.subarray(b * row, (b + 1) * row)
    if (spec.head === 'squashed_gaussian') {
      const { low, high } = LOG_STD_RANGE
      perceptron(spec, get, 'actor', features(spec, get, 'actor', x), []).out.forEach((value, i) => {
        const logStd = low + 0.5 * (high - low) * (Math.tanh(value) + 1)
        distribution[b * size + i] = i < size / 2 ? value : logStd
      })
      next.push([])
      continue
    }
    if (spec.head !== undefined) {
      const out = perceptron(spec, get, 'q', features(spec, get, 'q', x), []).out
      const advantages = out.slice(0, size)
      const shift = spec.head === 'q' ? 0 : out[size] - advantages.reduce((sum, a) => sum + a, 0) / size
      advantages.forEach((advantage, i) => {
        distribution[b * size + i] = advantage + shift
      })
      values[b] = Math.max(...distribution.subarray(b * size, (b + 1) * size))
      next.push([])
      continue
    }
    const units = spec.memory?.units ?? 0
    const state = Array.from(states[b] ?? new Float64Array(2 * units))
    const [actor, critic] = (['actor', 'critic'] as const).map((network, i) =>
      perceptron(spec, get, network, features(spec, get, network, x), state.slice(i * units, (i + 1) * units)),
    )
    pointed(spec, get, actor.out, features(spec, get, 'actor', x)).forEach((value, i) => {
      distribution[b * size + i] = columns[i].center + columns[i].scale * value
    })
    values[b] = get('value.scale')[0] * critic.out[0]
    next.push([...actor.state, ...critic.state])
  }
  return { distribution, values, states: next }
}

/** The actor's outputs with each pointer's query replaced by its logits. Features of the leaves before a list have known widths. */
function pointed(spec: PolicySpec, get: Get, out: number[], input: number[]): number[] {
  let at = 0
  return spec.action.flatMap((leaf) => {
    const own = out.slice(at, at + outputColumns(leaf))
    at += own.length
    if (leaf.pointer === undefined) return own
    const { name } = leaf
    const before = spec.observation.slice(0, leaf.pointer.leaf)
    const start = before.reduce((sum, part) => sum + leafFeatures(spec, part), 0)
    const [slots, columns] = spec.observation[leaf.pointer.leaf].shape
    const [weight, bias] = [get(`pointer.${name}.weight`), get(`pointer.${name}.bias`)]
    return Array.from({ length: slots }, (_, slot) => {
      const row = input.slice(start + slot * columns, start + (slot + 1) * columns)
      return own.reduce((sum, query, unit) => {
        const key = row.reduce((total, value, i) => total + value * weight[unit * columns + i], bias[unit])
        return sum + query * Math.tanh(key)
      }, 0)
    })
  })
}

/** Values of SAC's two critics, [batch] each; `actions` [batch, columns] are as the critics see them. */
export function referenceCritics(
  spec: PolicySpec,
  flat: Float32Array,
  observations: Float32Array,
  actions: ArrayLike<number>,
  batch: number,
  onKink: Kink = () => {},
): [Float64Array, Float64Array] {
  const parameters = new Map(
    criticLayout(spec).parameters.map((p) => [p.name, flat.subarray(p.offset, p.offset + p.size)]),
  )
  const get = (name: string): Float32Array => parameters.get(name) ?? new Float32Array(0)
  const row = observations.length / batch
  const columns = actions.length / batch
  const valuesOf = (network: string) =>
    Float64Array.from({ length: batch }, (_, b) => {
      const x = features(spec, get, network, observations.subarray(b * row, (b + 1) * row), onKink)
      const action = Array.from({ length: columns }, (_, i) => actions[b * columns + i])
      return perceptron(spec, get, network, [...x, ...action], [], onKink).out[0]
    })
  return [valuesOf('q1'), valuesOf('q2')]
}

/** The rows of sequences, one after another; `states` are those after the last row of each. */
export function referenceSequences(
  spec: PolicySpec,
  flat: Float32Array,
  observations: Float32Array,
  { lengths, states }: { lengths: Int32Array; states: Float32Array },
): { distribution: Float64Array; values: Float64Array; states: number[] } {
  const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
  const distribution: number[] = []
  const values: number[] = []
  const finals: number[] = []
  const width = states.length / lengths.length
  let at = 0
  lengths.forEach((length, i) => {
    let state: ArrayLike<number> = states.subarray(i * width, (i + 1) * width)
    for (let step = 0; step < length; step++, at++) {
      const one = referenceForward(spec, flat, observations.subarray(at * row, (at + 1) * row), 1, [state])
      distribution.push(...one.distribution)
      values.push(one.values[0])
      state = one.states[0]
    }
    finals.push(...Array.from(state))
  })
  return { distribution: Float64Array.from(distribution), values: Float64Array.from(values), states: finals }
}

/**
 * How close any unit with a ReLU comes to its kink at 0, as a share of the absolute values that its sum adds up. Where
 * rounding may carry a sum across 0, a gradient has two right values.
 */
export function kinkDistance(spec: PolicySpec, flat: Float32Array, observations: Float32Array, batch: number): number {
  const parameters = new Map(
    parameterLayout(spec).parameters.map((p) => [p.name, flat.subarray(p.offset, p.offset + p.size)]),
  )
  const get = (name: string): Float32Array => parameters.get(name) ?? new Float32Array(0)
  const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
  let nearest = Number.POSITIVE_INFINITY
  for (let b = 0; b < batch; b++) {
    for (const { name: network } of networksOf(spec)) {
      let x = features(spec, get, network, observations.subarray(b * row, (b + 1) * row), (share) => {
        nearest = Math.min(nearest, share)
      })
      for (let layer = 0; layer < spec.hidden.length && spec.activation === 'relu'; layer++) {
        const weight = get(`${network}.${layer}.weight`)
        x = Array.from(get(`${network}.${layer}.bias`), (bias, o) => {
          let sum = bias
          let size = Math.abs(bias)
          for (let i = 0; i < x.length; i++) {
            const term = x[i] * weight[o * x.length + i]
            sum += term
            size += Math.abs(term)
          }
          nearest = Math.min(nearest, Math.abs(sum) / size)
          return Math.max(0, sum)
        })
      }
    }
  }
  return nearest
}

type Get = (name: string) => Float32Array
type Kink = (share: number) => void

function features(spec: PolicySpec, get: Get, network: string, x: Float32Array, onKink: Kink = () => {}): number[] {
  let normalized = 0
  return spec.observation.flatMap((leaf) => {
    const columns = Array.from(x.subarray(leaf.offset, leaf.offset + leaf.size))
    if (leaf.kind === 'box') {
      const numbers = columns.map((value) => {
        const i = normalized++
        if (!spec.normalizeObservation) return value
        const deviation = Math.sqrt(get('normalizer.variance')[i] + NORMALIZER_EPSILON)
        return Math.max(-NORMALIZER_CLIP, Math.min(NORMALIZER_CLIP, (value - get('normalizer.mean')[i]) / deviation))
      })
      const layers = convolutionLayers(spec, leaf)
      return layers.length === 0 ? numbers : convolutions(layers, get, `${network}.image.${leaf.name}`, numbers, onKink)
    }
    if (leaf.kind === 'text') {
      const table = get(`${network}.embedding.${leaf.name}`)
      const ids = columns.filter((id) => id !== 0)
      return Array.from({ length: spec.embedding }, (_, e) =>
        ids.length === 0 ? 0 : ids.reduce((sum, id) => sum + table[id * spec.embedding + e], 0) / ids.length,
      )
    }
    return columns.flatMap((value, i) => Array.from({ length: leaf.counts[i] }, (_, k) => (k === value ? 1 : 0)))
  })
}

/** [channels, height, width] through the layers, then flattened position by position. */
function convolutions(layers: ConvolutionLayer[], get: Get, name: string, pixels: number[], onKink: Kink): number[] {
  let x = pixels
  let before: number[] = []
  layers.forEach((layer, i) => {
    const read = i === 0 ? x : x.map((value) => Math.max(0, value))
    const skip = layer.residual ? before : null
    before = x
    x = convolve(layer, get(`${name}.${i}.weight`), get(`${name}.${i}.bias`), read, skip, onKink)
  })
  const { channels, height, width } = layers[layers.length - 1].to
  return Array.from({ length: x.length }, (_, i) =>
    Math.max(0, x[(i % channels) * height * width + Math.floor(i / channels)]),
  )
}

function convolve(
  { from, to, kernel, stride, padding }: ConvolutionLayer,
  weight: Float32Array,
  bias: Float32Array,
  x: number[],
  skip: number[] | null,
  onKink: Kink,
): number[] {
  const out: number[] = []
  for (let filter = 0; filter < to.channels; filter++) {
    for (let row = 0; row < to.height; row++) {
      for (let column = 0; column < to.width; column++) {
        let sum = bias[filter] + (skip?.[out.length] ?? 0)
        let size = Math.abs(sum)
        for (let c = 0; c < from.channels; c++) {
          for (let i = 0; i < kernel * kernel; i++) {
            const y = row * stride + Math.floor(i / kernel) - padding
            const z = column * stride + (i % kernel) - padding
            if (y < 0 || z < 0 || y >= from.height || z >= from.width) continue
            const term =
              x[(c * from.height + y) * from.width + z] * weight[(filter * from.channels + c) * kernel * kernel + i]
            sum += term
            size += Math.abs(term)
          }
        }
        onKink(Math.abs(sum) / size)
        out.push(sum)
      }
    }
  }
  return out
}

function perceptron(
  spec: PolicySpec,
  get: Get,
  network: string,
  input: number[],
  state: number[],
  onKink: Kink = () => {},
): { out: number[]; state: number[] } {
  const linear = (layer: string, x: number[]) => {
    const weight = get(`${network}.${layer}.weight`)
    return Array.from(get(`${network}.${layer}.bias`), (bias, o) => {
      const terms = x.map((value, i) => value * weight[o * x.length + i])
      const sum = terms.reduce((a, b) => a + b, bias)
      onKink(Math.abs(sum) / terms.reduce((size, term) => size + Math.abs(term), Math.abs(bias)))
      return sum
    })
  }
  let x = input
  spec.hidden.forEach((_, layer) => {
    x = linear(String(layer), x).map((sum) => (spec.activation === 'tanh' ? Math.tanh(sum) : Math.max(0, sum)))
  })
  if (spec.memory === undefined) return { out: linear('out', x), state: [] }
  const { units } = spec.memory
  const byInput = linear('gru.input', x)
  const byState = linear('gru.state', state)
  const sigmoid = (value: number) => 1 / (1 + Math.exp(-value))
  const next = state.map((h, i) => {
    const reset = sigmoid(byInput[i] + byState[i])
    const keep = sigmoid(byInput[units + i] + byState[units + i])
    const fresh = Math.tanh(byInput[2 * units + i] + reset * byState[2 * units + i])
    return fresh + keep * (h - fresh)
  })
  return { out: linear('out', next), state: next }
}

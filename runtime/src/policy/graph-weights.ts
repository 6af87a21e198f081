import type { PolicySpec } from '@agentgym/contract'
import { convolutionLayers } from './convolution.ts'
import {
  convolutionName,
  leafFeatures,
  NORMALIZER_EPSILON,
  networksOf,
  type ObservationPart,
  outputColumns,
  type Parameter,
  parameterLayout,
  pointerName,
} from './parameter-layout.ts'

/** One tensor of weights as the graph wants it. */
export type GraphWeight = {
  name: string
  dims: number[]
  data: Float32Array
  /** Makes `data` anew from the flat weight buffer. */
  fill(flat: Float32Array): void
  /** The inverse: writes to the buffer what `fill` would make `data` of, bit for bit but for a dueling layer. */
  read(flat: Float32Array): void
}

/**
 * The weights that the graph's nodes take, by name. They differ from the flat buffer where that saves work at every
 * step: matrices are [in, out], so that Gemm need not transpose; the affine maps of the outputs (a box's centre and
 * scale, the value's scale) are folded into the last layer; row 0 of an embedding, the padding, is zero; the
 * normalizer's variance is the reciprocal of its deviation.
 */
export function graphWeights(spec: PolicySpec, parts: ObservationPart[], values: boolean): GraphWeight[] {
  const parameters = new Map(parameterLayout(spec).parameters.map((parameter) => [parameter.name, parameter]))
  const find = (name: string): Parameter => {
    const parameter = parameters.get(name)
    if (parameter === undefined) throw new RangeError(`no parameter ${name}`)
    return parameter
  }
  const weights: GraphWeight[] = []
  if (spec.normalizeObservation) {
    for (const part of parts) if (part.kind === 'box') weights.push(...normalizerWeights(part, find))
  }
  for (const { name: network } of networksOf(spec)) {
    if (network === 'critic' && !values) continue
    for (const part of parts)
      if (part.kind === 'text') weights.push(embedding(find(`${network}.embedding.${part.name}`)))
    for (const part of parts) {
      convolutionLayers(spec, part).forEach((_, layer) => {
        const name = convolutionName(network, part, layer)
        weights.push(vector(find(`${name}.weight`)), vector(find(`${name}.bias`)))
      })
    }
    let order = featureOrder(spec, parts)
    for (let layer = 0; layer < spec.hidden.length; layer++) {
      weights.push(matrix(find(`${network}.${layer}.weight`), order), vector(find(`${network}.${layer}.bias`)))
      order = null
    }
    if (spec.memory !== undefined) {
      for (const side of ['input', 'state'] as const) {
        const name = `${network}.gru.${side}`
        weights.push(matrix(find(`${name}.weight`), order), vector(find(`${name}.bias`)))
        order = null
      }
    }
    const [weight, bias] = [find(`${network}.out.weight`), find(`${network}.out.bias`)]
    const map = network === 'critic' ? valueMap(find('value.scale')) : actionMap(spec)
    const dueling = spec.head === 'dueling_q'
    weights.push(...(dueling ? duelingLayer(weight, bias, order) : lastLayer(weight, bias, map, order)))
  }
  for (const leaf of spec.action) {
    if (leaf.pointer === undefined) continue
    weights.push(matrix(find(`${pointerName(leaf)}.weight`)), vector(find(`${pointerName(leaf)}.bias`)))
  }
  return weights
}

/** output = center + scale * x, for every column of a network's last layer. */
type OutputMap = (flat: Float32Array, column: number) => { center: number; scale: number }

function actionMap(spec: PolicySpec): OutputMap {
  const columns = spec.action.flatMap((leaf) =>
    leaf.kind === 'box' && leaf.squash === undefined && leaf.fixed === undefined
      ? leaf.center.map((center, i) => ({ center, scale: leaf.scale[i] }))
      : Array.from({ length: outputColumns(leaf) }, () => ({ center: 0, scale: 1 })),
  )
  // A squashed Gaussian's log deviations come after the means, and as they are.
  return (_flat, column) => columns[column] ?? { center: 0, scale: 1 }
}

function valueMap(scale: Parameter): OutputMap {
  return (flat) => ({ center: 0, scale: flat[scale.offset] })
}

function vector(parameter: Parameter): GraphWeight {
  const data = new Float32Array(parameter.size)
  const fill = (flat: Float32Array) => data.set(flat.subarray(parameter.offset, parameter.offset + parameter.size))
  const read = (flat: Float32Array) => flat.set(data, parameter.offset)
  return { name: `/${parameter.name}`, dims: parameter.shape, data, fill, read }
}

/**
 * Columns of the flat buffer's first dense layers in the order of the graph's features: the graph flattens an image filter
 * by filter, the buffer has it position by position. Null where both are one.
 */
function featureOrder(spec: PolicySpec, parts: ObservationPart[]): Int32Array | null {
  const order: number[] = []
  for (const part of parts) {
    const first = order.length
    const columns = leafFeatures(spec, part)
    const last = convolutionLayers(spec, part).at(-1)?.to
    const filters = last?.channels ?? 1
    const positions = last === undefined ? columns : last.height * last.width
    for (let i = 0; i < columns; i++) order.push(first + (i % positions) * filters + Math.floor(i / positions))
  }
  return order.every((column, i) => column === i) ? null : Int32Array.from(order)
}

/** [out, in] of the flat buffer as [in, out]; row i of it is the buffer's column `order[i]`. */
function matrix(parameter: Parameter, order: Int32Array | null = null): GraphWeight {
  const [out, width] = parameter.shape
  const data = new Float32Array(parameter.size)
  const each = (visit: (at: number, ofFlat: number) => void) => {
    for (let column = 0; column < width; column++) {
      const from = parameter.offset + (order === null ? column : order[column])
      for (let row = 0; row < out; row++) visit(column * out + row, from + row * width)
    }
  }
  const fill = (flat: Float32Array) =>
    each((at, ofFlat) => {
      data[at] = flat[ofFlat]
    })
  const read = (flat: Float32Array) =>
    each((at, ofFlat) => {
      flat[ofFlat] = data[at]
    })
  return { name: `/${parameter.name}`, dims: [width, out], data, fill, read }
}

function lastLayer(weight: Parameter, bias: Parameter, map: OutputMap, order: Int32Array | null): GraphWeight[] {
  const plainWeight = matrix(weight, order)
  const plainBias = vector(bias)
  const out = bias.size
  return [
    {
      ...plainWeight,
      fill: (flat) => {
        plainWeight.fill(flat)
        for (let i = 0; i < plainWeight.data.length; i++) plainWeight.data[i] *= map(flat, i % out).scale
      },
      read: (flat) => {
        plainWeight.data.forEach((value, i) => {
          const { scale } = map(flat, i % out)
          plainWeight.data[i] = floatThatGives(value, value / scale, (x) => x * scale)
        })
        plainWeight.read(flat)
      },
    },
    {
      ...plainBias,
      fill: (flat) => {
        plainBias.fill(flat)
        for (let i = 0; i < out; i++) {
          const { center, scale } = map(flat, i)
          plainBias.data[i] = center + scale * plainBias.data[i]
        }
      },
      read: (flat) => {
        plainBias.data.forEach((value, i) => {
          const { center, scale } = map(flat, i)
          plainBias.data[i] = floatThatGives(value, (value - center) / scale, (x) => center + scale * x)
        })
        plainBias.read(flat)
      },
    },
  ]
}

/** Q = V + A - mean A is linear in the last layer's outputs [A…, V], so its weights can give it at once. */
function duelingLayer(weight: Parameter, bias: Parameter, order: Int32Array | null): GraphWeight[] {
  const [outputs, width] = weight.shape
  const actions = outputs - 1
  const combine = (flat: Float32Array, offset: number, stride: number, set: (action: number, q: number) => void) => {
    let mean = 0
    for (let i = 0; i < actions; i++) mean += flat[offset + i * stride] / actions
    for (let i = 0; i < actions; i++) set(i, flat[offset + i * stride] - mean + flat[offset + actions * stride])
  }
  /** Of all A and V that give these Q, those with V = mean A; Q is then A. */
  const separate = (flat: Float32Array, offset: number, stride: number, q: (action: number) => number) => {
    let mean = 0
    for (let i = 0; i < actions; i++) {
      flat[offset + i * stride] = q(i)
      mean += q(i) / actions
    }
    flat[offset + actions * stride] = mean
  }
  const matrix = new Float32Array(width * actions)
  const vector = new Float32Array(actions)
  const columnOf = (column: number) => weight.offset + (order === null ? column : order[column])
  return [
    {
      name: `/${weight.name}`,
      dims: [width, actions],
      data: matrix,
      fill: (flat) => {
        for (let column = 0; column < width; column++) {
          combine(flat, columnOf(column), width, (action, q) => {
            matrix[column * actions + action] = q
          })
        }
      },
      read: (flat) => {
        for (let column = 0; column < width; column++) {
          separate(flat, columnOf(column), width, (action) => matrix[column * actions + action])
        }
      },
    },
    {
      name: `/${bias.name}`,
      dims: [actions],
      data: vector,
      fill: (flat) =>
        combine(flat, bias.offset, 1, (action, q) => {
          vector[action] = q
        }),
      read: (flat) => separate(flat, bias.offset, 1, (action) => vector[action]),
    },
  ]
}

function embedding(parameter: Parameter): GraphWeight {
  const table = vector(parameter)
  const fill = (flat: Float32Array) => {
    table.fill(flat)
    table.data.fill(0, 0, parameter.shape[1])
  }
  return { ...table, fill }
}

function normalizerWeights(part: ObservationPart, find: (name: string) => Parameter): GraphWeight[] {
  const mean = new Float32Array(part.size)
  const reciprocal = new Float32Array(part.size)
  const means = find('normalizer.mean').offset + part.statisticsOffset
  const variances = find('normalizer.variance').offset + part.statisticsOffset
  return [
    {
      name: `/normalizer.mean.${part.name}`,
      dims: [part.size],
      data: mean,
      fill: (flat) => mean.set(flat.subarray(means, means + part.size)),
      read: (flat) => flat.set(mean, means),
    },
    {
      name: `/normalizer.reciprocal_deviation.${part.name}`,
      dims: [part.size],
      data: reciprocal,
      fill: (flat) => {
        for (let i = 0; i < part.size; i++) reciprocal[i] = reciprocalDeviation(flat[variances + i])
      },
      read: (flat) => {
        reciprocal.forEach((value, i) => {
          const variance = Math.max(0, 1 / (value * value) - NORMALIZER_EPSILON)
          flat[variances + i] = floatThatGives(value, variance, reciprocalDeviation)
        })
      },
    },
  ]
}

function reciprocalDeviation(variance: number): number {
  return 1 / Math.sqrt(variance + NORMALIZER_EPSILON)
}

/** The float32 at or near `guess` for which `f`, rounded to float32, is `wanted`; `guess` where there is none that near. */
export function floatThatGives(wanted: number, guess: number, f: (x: number) => number): number {
  const at = new Float32Array([guess])
  const bits = new Int32Array(at.buffer)
  const start = bits[0]
  for (const step of [0, 1, -1, 2, -2, 3, -3]) {
    bits[0] = start + step
    if (Math.fround(f(at[0])) === wanted) return at[0]
  }
  return guess
}

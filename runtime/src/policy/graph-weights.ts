import type { PolicySpec } from '@agentgym/contract'
import type { ObservationPart } from './observation-parts.ts'
import { NORMALIZER_EPSILON, type Parameter, parameterLayout } from './parameter-layout.ts'

export type Network = 'actor' | 'critic'

/** One tensor of weights as the graph wants it; `fill` makes it anew from the flat weight buffer. */
export type GraphWeight = { name: string; dims: number[]; data: Float32Array; fill(flat: Float32Array): void }

/**
 * The weights that the graph's nodes take, by name. They differ from the flat buffer where that saves work at every
 * step: matrices are [in, out], so that Gemm need not transpose; the affine maps of the outputs (a box's centre and
 * scale, the value's scale) are folded into the last layer; row 0 of an embedding, the padding, is zero; the
 * normaliser's variance is the reciprocal of its deviation.
 */
export function graphWeights(spec: PolicySpec, parts: ObservationPart[], networks: Network[]): GraphWeight[] {
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
  for (const network of networks) {
    for (const part of parts)
      if (part.kind === 'text') weights.push(embedding(find(`${network}.embedding.${part.name}`)))
    for (let layer = 0; layer < spec.hidden.length; layer++) {
      weights.push(matrix(find(`${network}.${layer}.weight`)), vector(find(`${network}.${layer}.bias`)))
    }
    const map = network === 'actor' ? actionMap(spec) : valueMap(find('value.scale'))
    weights.push(...lastLayer(find(`${network}.out.weight`), find(`${network}.out.bias`), map))
  }
  return weights
}

/** output = center + scale * x, for every column of a network's last layer. */
type OutputMap = (flat: Float32Array, column: number) => { center: number; scale: number }

function actionMap(spec: PolicySpec): OutputMap {
  const columns = spec.action.flatMap((leaf) =>
    leaf.kind === 'box'
      ? leaf.center.map((center, i) => ({ center, scale: leaf.scale[i] }))
      : Array.from({ length: leaf.counts.reduce((a, b) => a + b, 0) }, () => ({ center: 0, scale: 1 })),
  )
  return (_flat, column) => columns[column]
}

function valueMap(scale: Parameter): OutputMap {
  return (flat) => ({ center: 0, scale: flat[scale.offset] })
}

function vector(parameter: Parameter): GraphWeight {
  const data = new Float32Array(parameter.size)
  const fill = (flat: Float32Array) => data.set(flat.subarray(parameter.offset, parameter.offset + parameter.size))
  return { name: `/${parameter.name}`, dims: parameter.shape, data, fill }
}

function matrix(parameter: Parameter): GraphWeight {
  const [out, width] = parameter.shape
  const data = new Float32Array(parameter.size)
  const fill = (flat: Float32Array) => {
    for (let row = 0; row < out; row++) {
      for (let column = 0; column < width; column++)
        data[column * out + row] = flat[parameter.offset + row * width + column]
    }
  }
  return { name: `/${parameter.name}`, dims: [width, out], data, fill }
}

function lastLayer(weight: Parameter, bias: Parameter, map: OutputMap): GraphWeight[] {
  const plainWeight = matrix(weight)
  const plainBias = vector(bias)
  const out = bias.size
  return [
    {
      ...plainWeight,
      fill: (flat) => {
        plainWeight.fill(flat)
        for (let i = 0; i < plainWeight.data.length; i++) plainWeight.data[i] *= map(flat, i % out).scale
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
    },
    {
      name: `/normalizer.reciprocal_deviation.${part.name}`,
      dims: [part.size],
      data: reciprocal,
      fill: (flat) => {
        for (let i = 0; i < part.size; i++) reciprocal[i] = 1 / Math.sqrt(flat[variances + i] + NORMALIZER_EPSILON)
      },
    },
  ]
}

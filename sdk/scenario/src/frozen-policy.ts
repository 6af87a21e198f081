import { definitionError } from './engine/faults.ts'
import { encodeObservation } from './engine/observation-encoder.ts'
import type { SpaceDescription } from './engine/read-space.ts'

/**
 * The network of a trained agent as data, which a scenario imports from a JSON file. `agentgym agent export` writes it. Arrays of
 * numbers are base64 of little-endian float32.
 */
export type FrozenWeights = {
  /** `agentgym-weights`, version 1. Of the types that TypeScript gives an imported JSON file. */
  readonly format: string
  readonly format_version: number
  /** The agent that they come from. */
  readonly agent: { readonly scenario: string; readonly model_sha256: string }
  /** What the agent observes; a discrete action. */
  readonly observation: unknown
  readonly action: { readonly n: number; readonly start: number }
  readonly activation: string
  /** The leaves of the observation, in order: columns that enter the network. */
  readonly inputs: readonly FrozenInput[]
  /** From the inputs to the logits. `weight` is [inputs, outputs], row by row. */
  readonly layers: readonly { readonly weight: string; readonly bias: string }[]
}

type FrozenInput = {
  /** Columns of the observation row. */
  readonly size: number
  /** One index a column, which becomes as many columns; null: numbers. */
  readonly counts: readonly number[] | null
  /** Numbers enter as clip((x - mean) * scale, ±10); null: as they are. */
  readonly mean: string | null
  readonly scale: string | null
}

/** An agent that does not learn any more. */
export type FrozenPolicy = {
  /**
   * The action that the agent takes: what `step` of its own scenario would receive. `observation` is a sample of the agent's
   * observation space, `mask` says which actions are legal. Throws a TypeError if the sample does not fit or nothing is legal.
   */
  choose(observation: unknown, mask?: readonly boolean[]): number
}

const CLIP = 10

/**
 * Plays a trained agent inside a scenario, such as an opponent that is an earlier agent. It takes the same actions as the agent's
 * ONNX model: the likeliest one. Throws a TypeError for anything but weights that `agentgym agent export` wrote.
 */
export function frozenPolicy(weights: FrozenWeights): FrozenPolicy {
  const { observation, action, activation, inputs, layers } = checked(weights)
  const read = inputs.map(({ size, counts, mean, scale }) => ({
    ...{ size, counts },
    mean: mean === null ? null : floats(mean, size, 'inputs.mean'),
    scale: scale === null ? null : floats(scale, size, 'inputs.scale'),
  }))
  let width = inputs.reduce((sum, { size, counts }) => sum + (counts?.reduce((a, b) => a + b, 0) ?? size), 0)
  const features = new Float32Array(width)
  const network = layers.map(({ weight, bias }, i) => {
    const outputs = floatsIn(bias)
    const layer = {
      weight: floats(weight, width * outputs, `layers[${i}].weight`),
      bias: floats(bias, outputs, 'bias'),
    }
    width = outputs
    return { ...layer, output: new Float32Array(outputs) }
  })
  if (width !== action.n) throw refused(`the last layer has ${width} outputs for ${action.n} actions`)
  const bend = activation === 'tanh' ? Math.tanh : (x: number) => Math.max(0, x)
  const row = new Float32Array(inputs.reduce((sum, { size }) => sum + size, 0))
  const space = observation as SpaceDescription

  const logitsOf = (sample: unknown): Float32Array => {
    encodeObservation(space, sample, row)
    readFeatures(read, row, features)
    let from = features
    network.forEach(({ weight, bias, output }, layer) => {
      const last = layer === network.length - 1
      const sums = Float64Array.from(bias)
      const outputs = sums.length
      for (let i = 0; i < from.length; i += 1) {
        const x = from[i]
        // Most inputs of a board are zero.
        if (x !== 0) for (let j = 0; j < outputs; j += 1) sums[j] += x * weight[i * outputs + j]
      }
      for (let j = 0; j < outputs; j += 1) output[j] = last ? sums[j] : bend(sums[j])
      from = output
    })
    return from
  }

  return {
    choose(sample, mask) {
      if (mask !== undefined && mask.length !== action.n) {
        throw new TypeError(`frozenPolicy: the mask has ${mask.length} entries for ${action.n} actions`)
      }
      const logits = logitsOf(sample)
      let best = -1
      for (let i = 0; i < action.n; i += 1) {
        if ((mask === undefined || mask[i]) && (best < 0 || logits[i] > logits[best])) best = i
      }
      if (best < 0) throw new TypeError('frozenPolicy: the mask leaves no legal action')
      return action.start + best
    },
  }
}

type ReadInput = Pick<FrozenInput, 'size' | 'counts'> & { mean: Float32Array | null; scale: Float32Array | null }

function readFeatures(inputs: readonly ReadInput[], row: Float32Array, features: Float32Array): void {
  let [at, to] = [0, 0]
  features.fill(0)
  for (const { size, counts, mean, scale } of inputs) {
    for (let i = 0; i < size; i += 1) {
      const x = row[at + i]
      if (counts !== null) {
        features[to + x] = 1
        to += counts[i]
      } else {
        const shifted = mean === null ? x : Math.fround(x - mean[i])
        features[to] = scale === null ? shifted : Math.min(CLIP, Math.max(-CLIP, shifted * scale[i]))
        to += 1
      }
    }
    at += size
  }
}

function refused(what: string): TypeError {
  return definitionError(`frozenPolicy: ${what}. Write the file with agentgym agent export AGENT FILE.`)
}

function checked(weights: FrozenWeights): FrozenWeights {
  if (typeof weights !== 'object' || weights === null || weights.format !== 'agentgym-weights') {
    throw refused('these are no weights of an agent')
  }
  if (weights.format_version !== 1)
    throw refused(`format_version is ${weights.format_version}, and this release reads 1`)
  if (weights.activation !== 'tanh' && weights.activation !== 'relu') {
    throw refused(`activation is ${JSON.stringify(weights.activation)}`)
  }
  if (weights.layers.length === 0) throw refused('there are no layers')
  return weights
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** How many float32 a base64 text has. */
function floatsIn(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return ((text.length / 4) * 3 - padding) / 4
}

/** Decodes base64: a scenario has neither Buffer nor atob. */
function floats(text: string, length: number, field: string): Float32Array {
  if (floatsIn(text) !== length) throw refused(`${field} has ${floatsIn(text)} numbers where ${length} belong`)
  const values = new Map(Array.from(ALPHABET, (letter, value) => [letter, value]))
  const bytes = new Uint8Array(4 * length)
  let [bits, kept, at] = [0, 0, 0]
  for (const letter of text) {
    if (letter === '=') break
    const value = values.get(letter)
    if (value === undefined) throw refused(`${field} is not base64`)
    bits = ((bits << 6) | value) & 0xffff
    kept += 6
    if (kept < 8) continue
    kept -= 8
    bytes[at] = bits >> kept
    at += 1
  }
  const view = new DataView(bytes.buffer)
  return Float32Array.from({ length }, (_, i) => view.getFloat32(4 * i, true))
}

import { distributionSize, gaussianSize, leafColumns } from '@agentgym/agent/engine'
import type { ActionLeaf, ObservationLeaf, PolicySpec } from '@agentgym/contract'
import { type ConvolutionLayer, convolutionLayers, imageFeatures } from './convolution.ts'

/** One array in the flat float32 weight buffer. */
export type Parameter = {
  /** Such as `actor.0.weight`. */
  name: string
  shape: number[]
  offset: number
  size: number
  /** Learned by gradient; the rest are statistics that travel with the weights. */
  trainable: boolean
  /**
   * Orthogonal with this gain; zeros; ones; normal(0, 1); or zeros but for the update gates of a GRU, whose units then
   * remember for 2 to 64 steps (Tallec and Ollivier 2018).
   */
  init: { orthogonal: number } | 'zeros' | 'ones' | 'normal' | 'timescales'
}

/**
 * Box leaves enter the network as clip((x - mean) / sqrt(variance + epsilon), ±clip), with the epsilon and clip of
 * Stable-Baselines3's VecNormalize.
 */
export const NORMALIZER_EPSILON = 1e-8
export const NORMALIZER_CLIP = 10

export type ParameterLayout = {
  /** In order of their offsets; all trainable ones come first. */
  parameters: Parameter[]
  /** One entry a leaf: the convolutions that it goes through, empty for most. */
  convolutions: ConvolutionLayer[][]
  trainableSize: number
  totalSize: number
}

/** Columns of the dense layers' input that come from a leaf. */
export function leafFeatures(spec: PolicySpec, leaf: ObservationLeaf): number {
  const layers = convolutionLayers(spec, leaf)
  if (layers.length > 0) return imageFeatures(layers)
  if (leaf.kind === 'box') return leaf.size
  if (leaf.kind === 'text') return spec.embedding
  return leaf.counts.reduce((a, b) => a + b, 0)
}

/** Width of the dense layers' input: numbers, one-hot columns, embeddings, images, in the order of the leaves. */
function featureSize(spec: PolicySpec): number {
  return spec.observation.reduce((sum, leaf) => sum + leafFeatures(spec, leaf), 0)
}

/** Numbers that the actor gives for a leaf: those of the distribution row, or a pointer's query. */
export function outputColumns(leaf: ActionLeaf): number {
  return leaf.pointer?.units ?? leafColumns(leaf)
}

/** What a pointer's parameters are named after. */
export function pointerName(leaf: Pick<ActionLeaf, 'name'>): string {
  return `pointer.${leaf.name}`
}

export type NetworkName = 'actor' | 'critic' | 'q' | 'q1' | 'q2'

type NetworkShape = { name: NetworkName; outputs: number; gain: number; actionInputs?: number }

/** The networks of a policy, each with the gain of its last layer. A dueling one has the value of the state as its last output. */
export function networksOf(spec: PolicySpec): NetworkShape[] {
  const size = distributionSize(spec)
  if (spec.head === 'squashed_gaussian') return [{ name: 'actor', outputs: size, gain: 0.01 }]
  if (spec.head !== undefined) return [{ name: 'q', outputs: spec.head === 'q' ? size : size + 1, gain: 0.01 }]
  return [
    { name: 'actor', outputs: spec.action.reduce((sum, leaf) => sum + outputColumns(leaf), 0), gain: 0.01 },
    { name: 'critic', outputs: 1, gain: 1 },
  ]
}

/** Columns of all box leaves together: the length of the normalizer's statistics. */
function normalizedSize(spec: PolicySpec): number {
  return spec.observation.reduce((sum, leaf) => sum + (leaf.kind === 'box' ? leaf.size : 0), 0)
}

/**
 * The order of everything in the flat weight buffer; the learner and the ONNX graph both read it from here.
 * Weights are [out, in], applied as x · Wᵀ + b; those of a convolution [out, in, height, width]. An image's columns of the
 * first dense layer go position by position, and within a position filter by filter. Initialisation is CleanRL's: orthogonal, gain √2 in hidden layers (5/3
 * would be tanh's own; CleanRL and SB3 use √2), 0.01 for the policy's last layer, 1 for the value's.
 */
export function parameterLayout(spec: PolicySpec): ParameterLayout {
  return layoutOf(spec, networksOf(spec), spec.head === undefined)
}

/**
 * SAC's two critics, in a buffer of their own that the learner keeps: networks of the actor's shape that read the action's
 * columns after the observation's features. No agent contains them.
 */
export function criticLayout(spec: PolicySpec): ParameterLayout {
  const actionInputs = spec.action.reduce((sum, leaf) => sum + leaf.size, 0)
  const critic = { outputs: 1, gain: 1, actionInputs }
  const networks: NetworkShape[] = [
    { name: 'q1', ...critic },
    { name: 'q2', ...critic },
  ]
  return layoutOf({ ...spec, action: [] }, networks, false)
}

function layoutOf(spec: PolicySpec, networks: NetworkShape[], scalesValue: boolean): ParameterLayout {
  const parameters: Parameter[] = []
  const convolutions = spec.observation.map((leaf) => convolutionLayers(spec, leaf))
  let offset = 0
  const add = (name: string, shape: number[], init: Parameter['init'], trainable = true) => {
    const size = shape.reduce((a, b) => a * b, 1)
    parameters.push({ name, shape, offset, size, trainable, init })
    offset += size
  }
  for (const { name: network, outputs: out, gain, actionInputs = 0 } of networks) {
    for (const leaf of spec.observation) {
      if (leaf.kind === 'text') add(`${network}.embedding.${leaf.name}`, [leaf.counts[0], spec.embedding], 'normal')
    }
    spec.observation.forEach((leaf, i) => {
      convolutions[i].forEach(({ from, to, kernel }, layer) => {
        const name = convolutionName(network, leaf, layer)
        add(`${name}.weight`, [to.channels, from.channels, kernel, kernel], { orthogonal: Math.SQRT2 })
        add(`${name}.bias`, [to.channels], 'zeros')
      })
    })
    let width = featureSize(spec) + actionInputs
    spec.hidden.forEach((units, layer) => {
      add(`${network}.${layer}.weight`, [units, width], { orthogonal: Math.SQRT2 })
      add(`${network}.${layer}.bias`, [units], 'zeros')
      width = units
    })
    if (spec.memory !== undefined) {
      const { units } = spec.memory
      // Rows of the reset gate, of the update gate, and of the new state, as torch.nn.GRU has them.
      add(`${network}.gru.input.weight`, [3 * units, width], { orthogonal: 1 })
      add(`${network}.gru.input.bias`, [3 * units], 'timescales')
      add(`${network}.gru.state.weight`, [3 * units, units], { orthogonal: 1 })
      add(`${network}.gru.state.bias`, [3 * units], 'zeros')
      width = units
    }
    add(`${network}.out.weight`, [out, width], { orthogonal: gain })
    add(`${network}.out.bias`, [out], 'zeros')
  }
  // Deviations and pointers, which the actor's loss has gradients for beside the network's, are neighbours.
  if (gaussianSize(spec) > 0) add('log_std', [gaussianSize(spec)], 'zeros')
  for (const leaf of spec.action) {
    if (leaf.pointer === undefined) continue
    add(`${pointerName(leaf)}.weight`, [leaf.pointer.units, listColumns(spec, leaf.pointer)], {
      orthogonal: Math.SQRT2,
    })
    add(`${pointerName(leaf)}.bias`, [leaf.pointer.units], 'zeros')
  }
  const trainableSize = offset
  const normalized = normalizedSize(spec)
  if (normalized > 0) {
    add('normalizer.mean', [normalized], 'zeros', false)
    add('normalizer.variance', [normalized], 'ones', false)
  }
  // The critic works in units of the normalised return; value = scale * critic output is in the reward's own units.
  if (scalesValue) add('value.scale', [1], 'ones', false)
  return { parameters, convolutions, trainableSize, totalSize: offset }
}

/** Numbers of one slot of the list that a pointer points to. */
function listColumns(spec: PolicySpec, { leaf }: NonNullable<ActionLeaf['pointer']>): number {
  return spec.observation[leaf].shape[1]
}

/** What the parameters of a convolution are named after. */
export function convolutionName(network: string, leaf: Pick<ObservationLeaf, 'name'>, layer: number): string {
  return `${network}.image.${leaf.name}.${layer}`
}

/** A leaf, or several box leaves side by side, that enters the network as one. */
export type ObservationPart = ObservationLeaf & {
  /** First element in the normalizer's statistics, which cover all box leaves in order; meaningless for other kinds. */
  statisticsOffset: number
}

/** One part a leaf: the inputs of the exported model. */
export function leafParts(spec: PolicySpec): ObservationPart[] {
  let statistics = 0
  return spec.observation.map((leaf) => {
    const part = { ...leaf, statisticsOffset: statistics }
    if (leaf.kind === 'box') statistics += leaf.size
    return part
  })
}

/** Neighbouring box leaves that are no images and no lists joined, so that a row of numbers only, however structured, needs no slicing in a rollout. */
export function joinedParts(spec: PolicySpec): ObservationPart[] {
  const parts: ObservationPart[] = []
  for (const part of leafParts(spec)) {
    const last = parts.at(-1)
    if (isPlain(spec, part) && last !== undefined && isPlain(spec, last)) {
      last.size += part.size
      last.shape = [last.size]
    } else parts.push({ ...part })
  }
  return parts
}

function isPlain(spec: PolicySpec, part: ObservationPart): boolean {
  return part.kind === 'box' && part.slots === undefined && convolutionLayers(spec, part).length === 0
}

import { distributionSize, LOG_STD_RANGE, leafColumns, SQUASH_LIMIT, type SquashKind } from '@agentgym/agent/engine'
import type { ActionLeaf, PolicySpec } from '@agentgym/contract'
import { actionOutputNames, STATE_INPUT, STATE_OUTPUT, stateSize } from '@agentgym/contract/model'
import { type ConvolutionLayer, convolutionLayers } from './convolution.ts'
import { GraphBuilder } from './graph-builder.ts'
import { type GraphWeight, graphWeights } from './graph-weights.ts'
import { encodeModel, FLOAT, INT64 } from './onnx-model.ts'
import {
  convolutionName,
  joinedParts,
  leafParts,
  type NetworkName,
  NORMALIZER_CLIP,
  networksOf,
  type ObservationPart,
  outputColumns,
  parameterLayout,
  pointerName,
} from './parameter-layout.ts'

/** Names in the rollout graph; a state is the actor's alone. */
export const ROLLOUT_INPUT = 'observations'
export const ROLLOUT_DISTRIBUTION = 'distribution'
export const ROLLOUT_VALUE = 'value'
export const ROLLOUT_STATE = 'state'
export const ROLLOUT_NEXT_STATE = 'next_state'

/**
 * The graph that rollouts run: one input [batch, observation row], the weights as further inputs (so that an update of
 * the policy is a copy, not a new session), and the actor's distribution row [batch, logits and means].
 */
export function rolloutModel(spec: PolicySpec, values: boolean): { bytes: Uint8Array; weights: GraphWeight[] } {
  const parts = joinedParts(spec)
  const weights = graphWeights(spec, parts, values || spec.head !== undefined)
  const gaussian = spec.head === 'squashed_gaussian'
  const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
  const graph = new GraphBuilder('rollout')
  graph.input(ROLLOUT_INPUT, ['batch', row])
  for (const weight of weights) graph.input(weight.name, weight.dims)
  const policy = new PolicyGraph(spec, graph, (part) =>
    part.size === row
      ? ROLLOUT_INPUT
      : graph.slice(ROLLOUT_INPUT, part.offset, part.size, `/observation/${part.name}.columns`),
  )
  const units = spec.memory?.units ?? 0
  if (units > 0) graph.input(ROLLOUT_STATE, ['batch', values ? 2 * units : units])
  const states = policy.networkStates(ROLLOUT_STATE, values)
  const outputs = gaussian ? '/actor.outputs' : ROLLOUT_DISTRIBUTION
  const next = [policy.actor(parts, outputs, states.actor)]
  if (gaussian) addGaussian(spec, graph, outputs, ROLLOUT_DISTRIBUTION)
  graph.output(ROLLOUT_DISTRIBUTION, ['batch', distributionSize(spec)])
  if (values) {
    next.push(policy.value(parts, ROLLOUT_DISTRIBUTION, ROLLOUT_VALUE, states.critic))
    graph.output(ROLLOUT_VALUE, ['batch'])
  }
  if (units > 0) policy.nextState(next, ROLLOUT_NEXT_STATE)
  return { bytes: encodeModel(graph.build()), weights }
}

/**
 * model.onnx of an agent: one float32 input [batch, size] a leaf; `logits` [batch, n] of a categorical leaf; `mean`
 * [batch, n] of a box, the greedy action in the action's own units, and `log_std` [batch, n], that of the Gaussian
 * before its squash, or in the action's own units where there is none; `value` [batch] in the reward's own units; of a
 * policy with memory also the input `state` and the output `next_state`. Equal arguments give equal bytes.
 */
export function exportModel(spec: PolicySpec, flat: Float32Array): Uint8Array {
  const parts = leafParts(spec)
  const graph = new GraphBuilder('policy')
  for (const weight of graphWeights(spec, parts, true)) {
    weight.fill(flat)
    graph.floats(weight.name, weight.dims, weight.data)
  }
  for (const part of parts) graph.input(part.name, ['batch', part.size])
  const policy = new PolicyGraph(spec, graph, (part) => part.name)
  // A single leaf that needs nothing more is the last layer's output itself.
  const chosen = spec.action.filter(({ fixed }) => fixed === undefined)
  const single = chosen.length === 1 && chosen[0].squash === undefined
  const distribution = single ? Object.values(actionOutputNames(chosen[0]))[0] : '/distribution'
  if (spec.memory !== undefined) graph.input(STATE_INPUT, ['batch', stateSize(spec)])
  const states = policy.networkStates(STATE_INPUT, true)
  const gaussian = spec.head === 'squashed_gaussian'
  const outputs = gaussian ? '/actor.outputs' : distribution
  const next = [policy.actor(parts, outputs, states.actor)]
  if (gaussian) addGaussian(spec, graph, outputs, distribution)
  const deviations = logDeviations(spec, flat)
  for (const leaf of chosen) {
    const size = leafColumns(leaf)
    const names = actionOutputNames(leaf)
    const output = 'logits' in names ? names.logits : names.mean
    if (leaf.squash !== undefined) {
      const alone = chosen.length === 1 && !gaussian
      const u = alone ? distribution : graph.slice(distribution, leaf.distributionOffset, size, `/${output}.u`)
      addSquash(graph, { ...leaf, squash: leaf.squash }, u, output)
    } else if (!single) graph.slice(distribution, leaf.distributionOffset, size, output)
    graph.output(output, ['batch', size])
    if ('logStd' in names && gaussian) {
      graph.slice(distribution, distributionSize(spec) / 2 + leaf.logStdOffset, size, names.logStd)
      graph.output(names.logStd, ['batch', size])
    } else if ('logStd' in names) {
      // Repeats the vector for every row. Expand would do it too, but may also ask for any amount of memory.
      const zeros = graph.node('Sub', [output, output], `/${output}.zeros`)
      const vector = deviations.slice(leaf.logStdOffset, leaf.logStdOffset + size)
      graph.node('Add', [zeros, graph.floats(logStdTensor(leaf), [size], vector)], names.logStd)
      graph.output(names.logStd, ['batch', size])
    }
  }
  next.push(policy.value(parts, distribution, 'value', states.critic))
  graph.output('value', ['batch'])
  if (spec.memory !== undefined) policy.nextState(next, STATE_OUTPUT)
  return encodeModel(graph.build())
}

/** Name of the tensor that has the log deviations of a box leaf. */
export function logStdTensor(leaf: ActionLeaf): string {
  const names = actionOutputNames(leaf)
  return 'logStd' in names ? `/${names.logStd}.vector` : ''
}

/** Outputs of a squashed Gaussian's network to its distribution row: means as they are, log deviations within their range. */
function addGaussian(spec: PolicySpec, graph: GraphBuilder, outputs: string, distribution: string): void {
  const columns = distributionSize(spec) / 2
  const { low, high } = LOG_STD_RANGE
  const means = graph.slice(outputs, 0, columns, '/actor.means')
  const bent = graph.node('Tanh', [graph.slice(outputs, columns, columns, '/actor.deviations')], '/log_std.bent')
  const wide = graph.node('Mul', [bent, graph.scalar('/log_std.half_width', (high - low) / 2)], '/log_std.wide')
  const inRange = graph.node('Add', [wide, graph.scalar('/log_std.center', (high + low) / 2)], '/log_std.in_range')
  graph.node('Concat', [means, inRange], distribution, { axis: 1 })
}

/** output = center + scale * f(u), a column at a time. Columns of another kind get scale 0, and the kinds are added. */
function addSquash(graph: GraphBuilder, leaf: SquashedLeaf, u: string, output: string): void {
  const { squash, scale, center, size } = leaf
  const kinds = (['tanh', 'exp', 'sinh'] as const).filter((kind) => squash.includes(kind))
  const terms = kinds.map((kind) => {
    const factor = Float32Array.from(scale, (value, i) => (squash[i] === kind ? value : 0))
    const curve = addCurve(graph, kind, u, `/${output}.${kind}`)
    return graph.node(
      'Mul',
      [curve, graph.floats(`/${output}.${kind}.scale`, [size], factor)],
      `/${output}.${kind}.part`,
    )
  })
  const sum = terms.reduce((sum, term, i) => graph.node('Add', [sum, term], `/${output}.sum.${i}`))
  graph.node('Add', [sum, graph.floats(`/${output}.center`, [size], Float32Array.from(center))], output)
}

type SquashedLeaf = { squash: SquashKind[]; scale: number[]; center: number[]; size: number }

function addCurve(graph: GraphBuilder, kind: SquashKind, u: string, name: string): string {
  if (kind === 'tanh') return graph.node('Tanh', [u], name)
  const limits = [graph.scalar('/squash.low', -SQUASH_LIMIT), graph.scalar('/squash.high', SQUASH_LIMIT)]
  const limited = graph.node('Clip', [u, ...limits], `${name}.limited`)
  if (kind === 'exp') return graph.node('Exp', [limited], name)
  // sinh(u) = (e^u - e^-u) / 2
  const rising = graph.node('Exp', [limited], `${name}.rising`)
  const mirrored = graph.node('Mul', [limited, graph.scalar('/minus_one', -1)], `${name}.mirrored`)
  const falling = graph.node('Exp', [mirrored], `${name}.falling`)
  const difference = graph.node('Sub', [rising, falling], `${name}.difference`)
  return graph.node('Mul', [difference, graph.scalar('/half', 0.5)], name)
}

/**
 * log standard deviation of every box column: the parameter `log_std` of a squashed one, which is about u; plus ln(scale)
 * of any other, which makes it one in the action's own units.
 */
export function logDeviations(spec: PolicySpec, flat: Float32Array): Float32Array {
  const scales = spec.action.flatMap((leaf) => {
    if (leaf.fixed !== undefined) return []
    return leaf.squash === undefined ? leaf.scale : leaf.scale.map(() => 1)
  })
  const parameter = parameterLayout(spec).parameters.find(({ name }) => name === 'log_std')
  if (parameter === undefined) return new Float32Array(0)
  return Float32Array.from(scales, (scale, i) => flat[parameter.offset + i] + Math.log(scale))
}

type Pointer = NonNullable<ActionLeaf['pointer']>

/** The networks' nodes, for either graph: `columns` names the tensor that holds a part's raw columns. */
class PolicyGraph {
  readonly #spec: PolicySpec
  readonly #graph: GraphBuilder
  readonly #columns: (part: ObservationPart) => string
  readonly #shared = new Map<string, string>()

  constructor(spec: PolicySpec, graph: GraphBuilder, columns: (part: ObservationPart) => string) {
    this.#spec = spec
    this.#graph = graph
    const names = new Map<string, string>()
    // Shared by both networks.
    this.#columns = (part) => names.get(part.name) ?? remember(names, part.name, columns(part))
  }

  /** The parts of a state that belong to each network; a state may be the actor's alone. */
  networkStates(state: string, both: boolean): { actor: string; critic: string } {
    const { memory } = this.#spec
    if (memory === undefined || !both) return { actor: state, critic: state }
    const part = (network: NetworkName, offset: number) =>
      this.#graph.slice(state, offset, memory.units, `/${network}/memory.state`)
    return { actor: part('actor', 0), critic: part('critic', memory.units) }
  }

  /** Joins what the networks remember. */
  nextState(states: string[], output: string): void {
    const units = this.#spec.memory?.units ?? 0
    this.#graph.node('Concat', states, output, { axis: 1 })
    this.#graph.output(output, ['batch', units * states.length])
  }

  /** Adds the network that acts, and gives the name of its next state: its outputs are the distribution but for pointers. */
  actor(parts: ObservationPart[], distribution: string, state: string): string {
    const spec = this.#spec
    const [{ name }] = networksOf(spec)
    if (!spec.action.some(({ pointer }) => pointer !== undefined)) return this.network(name, parts, distribution, state)
    const output = `/${name}.output`
    const next = this.network(name, parts, output, state)
    let at = 0
    const rows = spec.action.flatMap((leaf) => {
      const columns = outputColumns(leaf)
      if (columns === 0) return []
      const own = this.#graph.slice(output, at, columns, `${output}.${leaf.name}`)
      at += columns
      return [leaf.pointer === undefined ? own : this.#pointer(leaf, leaf.pointer, own)]
    })
    this.#graph.node('Concat', rows, distribution, { axis: 1 })
    return next
  }

  /** Logits of the slots of a list: the query's dot products with their keys. */
  #pointer(leaf: ActionLeaf, { leaf: index, units }: Pointer, query: string): string {
    const graph = this.#graph
    const list = this.#spec.observation[index]
    const [slots, columns] = list.shape
    const name = `/${pointerName(leaf)}`
    const part = leafParts(this.#spec)[index]
    const rows = graph.node(
      'Reshape',
      [this.#features('actor', part), graph.integers(`${name}.rows.shape`, [-1, slots, columns])],
      `${name}.rows`,
    )
    const products = graph.node('MatMul', [rows, `${name}.weight`], `${name}.products`)
    const sums = graph.node('Add', [products, `${name}.bias`], `${name}.sums`)
    const keys = graph.node('Tanh', [sums], `${name}.keys`)
    const shaped = graph.node(
      'Reshape',
      [query, graph.integers(`${name}.query.shape`, [-1, 1, units])],
      `${name}.query`,
    )
    const scores = graph.node('Mul', [keys, shaped], `${name}.scores`)
    return graph.node('ReduceSum', [scores, graph.integers('/axis.2', [2])], `${name}.logits`, { keepdims: 0 })
  }

  /** Adds a whole network, whose last layer gives `output` [batch, out]; gives the name of its next state. */
  network(network: NetworkName, parts: ObservationPart[], output: string, state: string): string {
    const { hidden, activation } = this.#spec
    const graph = this.#graph
    const features = parts.map((part) => this.#features(network, part))
    let x = features.length === 1 ? features[0] : graph.node('Concat', features, `/${network}.features`, { axis: 1 })
    for (let layer = 0; layer < hidden.length; layer++) {
      const sum = this.#linear(x, `/${network}.${layer}`, `/${network}.${layer}.sum`)
      x = graph.node(activation === 'tanh' ? 'Tanh' : 'Relu', [sum], `/${network}.${layer}`)
    }
    const next = this.#spec.memory === undefined ? '' : this.#remember(network, x, state, this.#spec.memory.units)
    this.#linear(next === '' ? x : next, `/${network}.out`, output)
    return next
  }

  /** One step of torch.nn.GRU, in plain operators: n + z (h - n). */
  #remember(network: NetworkName, x: string, state: string, units: number): string {
    const graph = this.#graph
    const name = `/${network}/memory`
    const byInput = this.#linear(x, `/${network}.gru.input`, `${name}.input`)
    const byState = this.#linear(state, `/${network}.gru.state`, `${name}.hidden`)
    const gatesOf = (sum: string) => graph.slice(sum, 0, 2 * units, `${sum}.gates`)
    const freshOf = (sum: string) => graph.slice(sum, 2 * units, units, `${sum}.fresh`)
    const gateSums = graph.node('Add', [gatesOf(byInput), gatesOf(byState)], `${name}.gate_sums`)
    const gates = graph.node('Sigmoid', [gateSums], `${name}.gates`)
    const reset = graph.slice(gates, 0, units, `${name}.reset`)
    const keep = graph.slice(gates, units, units, `${name}.keep`)
    const recalled = graph.node('Mul', [reset, freshOf(byState)], `${name}.recalled`)
    const freshSum = graph.node('Add', [freshOf(byInput), recalled], `${name}.fresh_sum`)
    const fresh = graph.node('Tanh', [freshSum], `${name}.fresh`)
    const difference = graph.node('Sub', [state, fresh], `${name}.difference`)
    const kept = graph.node('Mul', [keep, difference], `${name}.kept`)
    return graph.node('Add', [fresh, kept], `${name}.next`)
  }

  /**
   * The critic's output; the largest of the action values in `distribution`; or 0 of a squashed Gaussian, which is an actor
   * alone. Gives the name of the critic's next state.
   */
  value(parts: ObservationPart[], distribution: string, output: string, state: string): string {
    if (this.#spec.head === 'squashed_gaussian') {
      const zeros = this.#graph.node('Sub', [distribution, distribution], '/value.zeros')
      this.#graph.node('ReduceMax', [zeros], output, { axes: [1], keepdims: 0 })
      return ''
    }
    if (this.#spec.head !== undefined) {
      this.#graph.node('ReduceMax', [distribution], output, { axes: [1], keepdims: 0 })
      return ''
    }
    const next = this.network('critic', parts, '/critic.out', state)
    this.#graph.squeeze('/critic.out', output)
    return next
  }

  #linear(x: string, layer: string, output: string): string {
    return this.#graph.node('Gemm', [x, `${layer}.weight`, `${layer}.bias`], output)
  }

  /** What one part feeds into a network. Numbers and categories are the same for actor and critic, so computed once. */
  #features(network: NetworkName, part: ObservationPart): string {
    if (part.kind === 'text') return this.#pooledEmbedding(network, part)
    const convolutions = convolutionLayers(this.#spec, part)
    if (convolutions.length > 0) return this.#image(network, part, convolutions)
    const build = () => (part.kind === 'box' ? this.#numbers(part) : this.#oneHot(part))
    return this.#shared.get(part.name) ?? remember(this.#shared, part.name, build())
  }

  /** Convolutions over a part's (standardised) pixels, flattened filter by filter. */
  #image(network: NetworkName, part: ObservationPart, layers: ConvolutionLayer[]): string {
    const graph = this.#graph
    const pixels = `/observation/${part.name}.pixels`
    if (!this.#shared.has(part.name)) {
      const shape = graph.integers(`/observation/${part.name}.shape`, [-1, ...part.shape])
      remember(this.#shared, part.name, graph.node('Reshape', [this.#numbers(part), shape], pixels))
    }
    let x = pixels
    let before = ''
    layers.forEach(({ stride, padding, residual }, layer) => {
      const name = convolutionName(network, part, layer)
      const read = layer === 0 ? x : graph.node('Relu', [x], `/${convolutionName(network, part, layer - 1)}.active`)
      const attributes = { strides: [stride, stride], pads: [padding, padding, padding, padding] }
      let sum = graph.node('Conv', [read, `/${name}.weight`, `/${name}.bias`], `/${name}`, attributes)
      if (residual) sum = graph.node('Add', [sum, before], `/${name}.unit`)
      before = x
      x = sum
    })
    const active = graph.node('Relu', [x], `/${network}/image/${part.name}.active`)
    return graph.node('Flatten', [active], `/${network}/image/${part.name}.features`)
  }

  #numbers(part: ObservationPart): string {
    const x = this.#columns(part)
    if (!this.#spec.normalizeObservation) return x
    const graph = this.#graph
    // First the difference, then the scale: folded into the first layer, a large mean would swamp a small signal.
    const difference = graph.node('Sub', [x, `/normalizer.mean.${part.name}`], `/observation/${part.name}.difference`)
    const reciprocal = `/normalizer.reciprocal_deviation.${part.name}`
    const standardised = graph.node('Mul', [difference, reciprocal], `/observation/${part.name}.standardised`)
    const limits = [graph.scalar('/clip.low', -NORMALIZER_CLIP), graph.scalar('/clip.high', NORMALIZER_CLIP)]
    return graph.node('Clip', [standardised, ...limits], `/observation/${part.name}.features`)
  }

  /** One column a value of each component: 1 where the component's index equals it. */
  #oneHot(part: ObservationPart): string {
    const graph = this.#graph
    const columns = this.#columns(part)
    const values = Float32Array.from(part.counts.flatMap((count) => Array.from({ length: count }, (_, value) => value)))
    const ofValue = part.counts.flatMap((count, component) => Array.from({ length: count }, () => component))
    // A single component broadcasts by itself.
    const repeated =
      part.size === 1
        ? columns
        : graph.node(
            'Gather',
            [columns, graph.integers(`/observation/${part.name}.component`, ofValue)],
            `/observation/${part.name}.repeated`,
            {
              axis: 1,
            },
          )
    const table = graph.floats(`/observation/${part.name}.values`, [values.length], values)
    const equal = graph.node('Equal', [repeated, table], `/observation/${part.name}.equal`)
    return graph.node('Cast', [equal], `/observation/${part.name}.features`, { to: FLOAT })
  }

  /** Mean of the embeddings of the tokens that are not padding; zeros for an empty text. */
  #pooledEmbedding(network: NetworkName, part: ObservationPart): string {
    const graph = this.#graph
    const name = `/${network}/text/${part.name}`
    const ids = this.#columns(part)
    const indices = graph.node('Cast', [ids], `${name}.indices`, { to: INT64 })
    const table = `/${network}.embedding.${part.name}`
    const embedded = graph.node('Gather', [table, indices], `${name}.embedded`, { axis: 0 })
    const axis = graph.integers('/axis.1', [1])
    // Row 0 of the table, the padding, is zero, so the plain sum leaves it out.
    const sum = graph.node('ReduceSum', [embedded, axis], `${name}.sum`, { keepdims: 0 })
    const one = graph.scalar('/one', 1)
    const present = graph.node('Clip', [ids, graph.scalar('/zero', 0), one], `${name}.present`)
    const count = graph.node('ReduceSum', [present, axis], `${name}.count`, { keepdims: 1 })
    const divisor = graph.node('Clip', [count, one], `${name}.divisor`)
    return graph.node('Div', [sum, divisor], `${name}.features`)
  }
}

function remember(names: Map<string, string>, part: string, name: string): string {
  names.set(part, name)
  return name
}

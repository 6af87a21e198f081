import type { SpaceDescription } from '@agentgym/contract'
import { type ActionLeaf, AgentGymError, type ObservationLeaf, type PolicySpec } from '@agentgym/contract'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'

export type NetworkSettings = Pick<PolicySpec, 'hidden' | 'activation' | 'embedding' | 'normalizeObservation'>

type Leaf<Space = Exclude<SpaceDescription, { type: 'dict' }>> = { path: string[]; space: Space }

/** From this half-width on, a bound says "unbounded" (Gymnasium writes ±3.4e38) and its square would overflow float32. */
const LARGEST_SCALE = 1e18

/** The policy for a scenario's spaces: its leaves and where each lies in the flat rows. */
export function buildPolicySpec(
  description: Pick<ScenarioDescription, 'observation' | 'action'>,
  network: NetworkSettings,
): PolicySpec {
  const action = actionLeaves(description.action)
  return {
    version: 1,
    observation: observationLeaves(description.observation, new Set(outputNames(action))),
    action,
    hidden: [...network.hidden],
    activation: network.activation,
    embedding: network.embedding,
    normalizeObservation: network.normalizeObservation,
  }
}

/** Names of the tensors that the exported model gives for one action leaf. */
export function actionOutputNames(leaf: ActionLeaf): { logits: string } | { mean: string; logStd: string } {
  const prefix = leaf.name === 'action' ? '' : `${leaf.name}.`
  return leaf.kind === 'box' ? { mean: `${prefix}mean`, logStd: `${prefix}log_std` } : { logits: `${prefix}logits` }
}

/** All outputs of the exported model. */
export function outputNames(action: ActionLeaf[]): string[] {
  return [...action.flatMap((leaf) => Object.values(actionOutputNames(leaf))), 'value']
}

function observationLeaves(space: SpaceDescription, taken: Set<string>): ObservationLeaf[] {
  const names = new Names('obs', taken)
  let offset = 0
  return flatten(space).map(({ path, space }) => {
    const shape = observationShape(space)
    const leaf = { name: names.of(path), offset, ...shape }
    offset += shape.size
    return leaf
  })
}

function observationShape(space: Leaf['space']): Pick<ObservationLeaf, 'kind' | 'size' | 'counts' | 'shape'> {
  switch (space.type) {
    case 'box':
      return { kind: 'box', size: space.shape.reduce((a, b) => a * b, 1), counts: [], shape: [...space.shape] }
    case 'discrete':
      return { kind: 'discrete', size: 1, counts: [space.n], shape: [1] }
    case 'multiDiscrete':
      return { kind: 'multiDiscrete', size: space.nvec.length, counts: [...space.nvec], shape: [space.nvec.length] }
    case 'text':
      return { kind: 'text', size: space.maxTokens, counts: [space.vocabulary], shape: [space.maxTokens] }
  }
}

function actionLeaves(space: SpaceDescription): ActionLeaf[] {
  const names = new Names('action', new Set())
  const next = { offset: 0, distributionOffset: 0, maskOffset: 0, logStdOffset: 0 }
  return flatten(space).map(({ path, space }) => {
    if (space.type === 'text') {
      throw new AgentGymError({
        code: 'scenario_invalid',
        message: `action space "${path.join('.') || 'action'}" is text; an action is discrete, multiDiscrete, box or a dict of those`,
        data: { field: 'action', path },
      })
    }
    const shape = actionShape(space)
    const leaf = { name: names.of(path), ...next, ...shape }
    const logits = shape.counts.reduce((a, b) => a + b, 0)
    next.offset += shape.size
    next.distributionOffset += shape.kind === 'box' ? shape.size : logits
    next.maskOffset += logits
    next.logStdOffset += shape.kind === 'box' ? shape.size : 0
    return leaf
  })
}

function actionShape(
  space: Exclude<Leaf['space'], { type: 'text' }>,
): Omit<ActionLeaf, 'name' | 'offset' | 'distributionOffset' | 'maskOffset' | 'logStdOffset'> {
  const unbounded = { low: [], high: [], center: [], scale: [], start: 0 }
  if (space.type === 'discrete')
    return { kind: 'discrete', size: 1, counts: [space.n], ...unbounded, start: space.start }
  if (space.type === 'multiDiscrete') {
    return { kind: 'multiDiscrete', size: space.nvec.length, counts: [...space.nvec], ...unbounded }
  }
  const maps = space.low.map((low, i) => affine(low, space.high[i]))
  return {
    kind: 'box',
    size: maps.length,
    counts: [],
    low: [...space.low],
    high: [...space.high],
    center: maps.map(({ center }) => center),
    scale: maps.map(({ scale }) => scale),
    start: 0,
  }
}

/** Network output 0 is the middle of a bounded interval and ±1 its ends; without two bounds it is the number itself. */
function affine(low: number | null, high: number | null): { center: number; scale: number } {
  if (low === null || high === null) return { center: 0, scale: 1 }
  const scale = (high - low) / 2
  if (!(scale < LARGEST_SCALE)) return { center: 0, scale: 1 }
  // An interval of one point still needs a Gaussian of some width.
  return { center: (low + high) / 2, scale: scale > 0 ? scale : 1 }
}

/** Leaves in the order of the flat row; `path` is empty for a space that is one leaf. */
function flatten(space: SpaceDescription, path: string[] = []): Leaf[] {
  if (space.type !== 'dict') return [{ path, space }]
  return space.entries.flatMap((entry) => flatten(entry.space, [...path, entry.name]))
}

/**
 * Names of leaves are names of ONNX tensors, so they must be unique, and no input may be named as an output is. A dict
 * entry such as `value`, or `a.b` beside a nested `a` → `b`, gets a prefix; so does one that starts with a slash, as the
 * graph's inner tensors do.
 */
class Names {
  readonly #root: string
  readonly #taken: Set<string>

  constructor(root: string, taken: Set<string>) {
    this.#root = root
    this.#taken = new Set(taken)
  }

  of(path: string[]): string {
    let name = path.length === 0 ? this.#root : path.join('.')
    while (this.#taken.has(name) || name.startsWith('/')) name = `${this.#root}.${name}`
    this.#taken.add(name)
    return name
  }
}

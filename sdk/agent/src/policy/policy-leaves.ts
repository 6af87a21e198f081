import { isDeepStrictEqual } from 'node:util'
import {
  type ActionLeaf,
  AgentGymError,
  type ObservationLeaf,
  type PolicySpec,
  type SpaceDescription,
  trainedParts,
} from '@agentgym/contract'
import { actionOutputNames, STATE_INPUT, STATE_OUTPUT } from '@agentgym/contract/model'
import { actionLeaves, type ActionLeaf as EngineLeaf, observationLeaves } from '@agentgym/scenario/engine'
import { declaredEncoder } from '../texts/sentence-encoders.ts'
import { NO_BOUND_OF_SAC, squashLeaf } from './squash.ts'

/** The spaces that an agent acts in. */
export type Spaces = { observation: SpaceDescription; action: SpaceDescription }

/** Spaces of an agent, and whether those who ask it must say what is legal. */
export type ActingSpaces = Spaces & { mask_required?: true }

/** What of a policy decides how it sees and acts, beside the spaces. */
export type LeafOptions = Pick<PolicySpec, 'head' | 'memory'> & {
  /** Absent: `clipped`, as agents of older versions have it. */
  boxActions?: 'squashed' | 'clipped'
  /** Of a scenario whose tools have parameters: whether the policy chooses the tool, and the parameters. Absent: it does. */
  toolSelection?: boolean
  parameterSelection?: boolean
}

/** From this half-width on, a bound says "unbounded" (Gymnasium writes ±3.4e38) and its square would overflow float32. */
const LARGEST_SCALE = 1e18

/** The leaves of a policy for these spaces. Their order and their places in the flat rows are the engine's own. */
export function policyLeaves(spaces: Spaces, options: LeafOptions): Pick<PolicySpec, 'observation' | 'action'> {
  const { head, memory, boxActions } = options
  const noBound = head === 'squashed_gaussian' ? NO_BOUND_OF_SAC : undefined
  const shape = (leaf: ActionLeaf) => (boxActions === 'squashed' ? squashLeaf(leaf, noBound) : withoutHugeScales(leaf))
  const action = chosenLeaves(spaces, options).map(shape)
  const reserved = [...outputNames(action), ...(memory === undefined ? [] : [STATE_INPUT, STATE_OUTPUT])]
  return { observation: uniquelyNamed(observedLeaves(spaces.observation), 'obs', reserved), action }
}

/** Units of a pointer's query. */
const POINTER_UNITS = 32

/**
 * The engine's leaves as the policy has them: pointers with a query, parts that are not trained without outputs, and the others' places in
 * the distribution row moved up.
 */
function chosenLeaves(
  { observation, action }: Spaces,
  { toolSelection = true, parameterSelection = true }: LeafOptions,
): ActionLeaf[] {
  const lists = observationLeaves(observation)
  let distributionOffset = 0
  let logStdOffset = 0
  return uniquelyNamed(actionLeaves(action), 'action', []).map((engineLeaf, _, leaves) => {
    const { list, default: fallback, ...leaf } = engineLeaf
    const isTool = leaves.some(({ when }) => when?.column === leaf.offset)
    const trained = leaf.when !== undefined ? parameterSelection : isTool ? toolSelection : true
    const placed: ActionLeaf = { ...leaf, distributionOffset, logStdOffset }
    if (!trained) return { ...placed, fixed: fixedValues(engineLeaf) }
    const columns = leaf.kind === 'box' ? leaf.size : leaf.counts.reduce((a, b) => a + b, 0)
    distributionOffset += columns
    if (leaf.kind === 'box') logStdOffset += columns
    if (list === undefined) return placed
    return { ...placed, pointer: { leaf: lists.findIndex(({ name }) => name === list), units: POINTER_UNITS } }
  })
}

/** What a part that is not trained always is: its default, else its first choice or the middle of its range. */
function fixedValues({ kind, size, center, default: fallback }: EngineLeaf): number[] {
  if (fallback !== undefined) return [fallback]
  return kind === 'box' ? [...center] : Array.from({ length: size }, () => 0)
}

/** What the policy sees of the engine's leaves: a text that an encoder reads is a box of the encoder's numbers. */
function observedLeaves(space: SpaceDescription): ObservationLeaf[] {
  return observationLeaves(space).map(({ encoder, ...leaf }) => {
    if (encoder === undefined) return leaf
    return { ...leaf, name: `${leaf.name}.embedding`, kind: 'box', counts: [], encoder: declaredEncoder(encoder) }
  })
}

/** All outputs of the exported model. */
export function outputNames(action: ActionLeaf[]): string[] {
  return [
    ...action.filter(({ fixed }) => fixed === undefined).flatMap((leaf) => Object.values(actionOutputNames(leaf))),
    'value',
  ]
}

/**
 * Names of leaves are names of ONNX tensors: they must be unique, no input may be named as an output is, and a leading
 * slash is for the graph's inner tensors. A dict entry such as `value`, or `a.b` beside a nested `a` → `b`, gets a prefix.
 */
function uniquelyNamed<Leaf extends { name: string }>(leaves: Leaf[], root: string, reserved: string[]): Leaf[] {
  const taken = new Set(reserved)
  return leaves.map((leaf) => {
    let { name } = leaf
    while (taken.has(name) || name.startsWith('/')) name = `${root}.${name}`
    taken.add(name)
    return { ...leaf, name }
  })
}

function withoutHugeScales(leaf: ActionLeaf): ActionLeaf {
  const huge = leaf.scale.map((scale) => !(scale < LARGEST_SCALE))
  return {
    ...leaf,
    center: leaf.center.map((center, i) => (huge[i] ? 0 : center)),
    scale: leaf.scale.map((scale, i) => (huge[i] ? 1 : scale)),
  }
}

/**
 * Holds the policy of an agent's manifest to the spaces that it acts in: leaves, their names, sizes and places in the flat
 * rows must be those that training would give it. Throws `agent_invalid`.
 */
export function checkPolicySpaces(policy: PolicySpec, spaces: Spaces): void {
  const squashed = policy.action.some((leaf) => leaf.squash !== undefined)
  const { tool_selection = true, parameter_selection = true } = trainedParts(policy) ?? {}
  const own = policyLeaves(spaces, {
    head: policy.head,
    memory: policy.memory,
    boxActions: squashed ? 'squashed' : 'clipped',
    toolSelection: tool_selection,
    parameterSelection: parameter_selection,
  })
  for (const [i, leaf] of policy.observation.entries()) checkEncoder(leaf, own.observation[i])
  for (const side of ['observation', 'action'] as const) {
    if (isDeepStrictEqual(own[side], policy[side])) continue
    throw new AgentGymError({
      code: 'agent_invalid',
      message: `agent.json: the policy's ${side} is not the scenario's ${side} space.`,
      hint: 'Take agent.json from a training run, unchanged.',
      data: { file: 'agent.json', field: `policy.${side}` },
    })
  }
}

/** Another file of an encoder gives other vectors, upon which the agent would act otherwise than it was evaluated. */
function checkEncoder(leaf: ObservationLeaf, own: ObservationLeaf | undefined): void {
  if (leaf.encoder === undefined || own?.encoder === undefined) return
  const fields = ['model_sha256', 'vocabulary_sha256'] as const
  const other = fields.find((field) => leaf.encoder?.[field] !== own.encoder?.[field])
  if (other === undefined) return
  throw new AgentGymError({
    code: 'agent_invalid',
    message: `agent.json: ${leaf.name} is made by another version of the text encoder "${leaf.encoder.name}" (${other} ${leaf.encoder[other].slice(0, 12)}, here ${own.encoder[other].slice(0, 12)}).`,
    hint: 'Run the agent with the version of AgentGym that trained it, or train it again.',
    data: { file: 'agent.json', field: 'policy.observation', encoder: leaf.encoder.name },
  })
}

import { isDeepStrictEqual } from 'node:util'
import {
  type ActionLeaf,
  AgentGymError,
  type ObservationLeaf,
  type PolicySpec,
  type SpaceDescription,
  type TrainingPlan,
} from '@agentgym/contract'
import { actionOutputNames, STATE_INPUT, STATE_OUTPUT } from '@agentgym/contract/model'
import { actionLeaves, type ActionLeaf as EngineLeaf, observationLeaves } from '@agentgym/scenario/engine'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import { declaredEncoder } from '../text-encoder/sentence-encoders.ts'
import { isImage } from './convolution.ts'
import { squashLeaf } from './squash.ts'

export type NetworkSettings = Pick<
  PolicySpec,
  'hidden' | 'activation' | 'embedding' | 'normalizeObservation' | 'convolution' | 'head' | 'memory'
> & {
  /** Absent: `clipped`, as agents of older versions have it. */
  boxActions?: 'squashed' | 'clipped'
}

/** From this half-width on, a bound says "unbounded" (Gymnasium writes ±3.4e38) and its square would overflow float32. */
const LARGEST_SCALE = 1e18

/** The policy for a scenario's spaces. Leaves and their places in the flat rows are the engine's own. */
export function buildPolicySpec(
  description: Pick<ScenarioDescription, 'observation' | 'action'>,
  network: NetworkSettings,
): PolicySpec {
  const shape = network.boxActions === 'squashed' ? squashLeaf : withoutHugeScales
  const action = uniquelyNamed(actionLeaves(description.action), 'action', []).map(policyLeaf).map(shape)
  const { convolution, memory } = network
  const reserved = [...outputNames(action), ...(memory === undefined ? [] : [STATE_INPUT, STATE_OUTPUT])]
  const observation = uniquelyNamed(policyLeaves(description.observation), 'obs', reserved)
  return {
    version: 1,
    observation,
    action,
    hidden: [...network.hidden],
    activation: network.activation,
    embedding: network.embedding,
    normalizeObservation: network.normalizeObservation,
    ...(convolution !== undefined && observation.some(isImage) ? { convolution } : {}),
    ...(network.head === undefined ? {} : { head: network.head }),
    ...(memory === undefined ? {} : { memory }),
  }
}

/** What the policy keeps of the engine's leaf. */
function policyLeaf({ list, default: fixed, ...leaf }: EngineLeaf): ActionLeaf {
  return leaf
}

/** What the policy sees of the engine's leaves: a text that an encoder reads is a box of the encoder's numbers. */
function policyLeaves(space: SpaceDescription): ObservationLeaf[] {
  return observationLeaves(space).map(({ encoder, ...leaf }) => {
    if (encoder === undefined) return leaf
    return { ...leaf, name: `${leaf.name}.embedding`, kind: 'box', counts: [], encoder: declaredEncoder(encoder) }
  })
}

/** The network that a run's settings ask for, in a scenario that needs memory or not. */
export function networkOf(settings: TrainingPlan['settings'], needsMemory: boolean): NetworkSettings {
  const { convolution, filters, memory, memory_units } = settings
  const recurrent = memory === 'gru' || (memory === 'auto' && needsMemory)
  return {
    hidden: settings.hidden,
    activation: settings.activation,
    embedding: settings.embedding,
    normalizeObservation: settings.normalize_observation,
    boxActions: settings.box_actions,
    convolution: convolution === 'none' ? undefined : { kind: convolution === 'auto' ? 'small' : convolution, filters },
    memory: recurrent ? { kind: 'gru', units: memory_units } : undefined,
  }
}

/** All outputs of the exported model. */
export function outputNames(action: ActionLeaf[]): string[] {
  return [...action.flatMap((leaf) => Object.values(actionOutputNames(leaf))), 'value']
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
export function checkPolicySpaces(
  policy: PolicySpec,
  spaces: Pick<ScenarioDescription, 'observation' | 'action'>,
): void {
  const squashed = policy.action.some((leaf) => leaf.squash !== undefined)
  const own = buildPolicySpec(spaces, { ...policy, boxActions: squashed ? 'squashed' : 'clipped' })
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

import {
  type ActionLeaf,
  AgentGymError,
  describeSpace,
  type HostedAction,
  type PolicySpec,
  type SpaceDescription,
} from '@agentgym/contract'
import {
  actionDecoder,
  actionLeaves,
  maskEncoder,
  observationEncoder,
  Problem,
  type TextSink,
} from '@agentgym/scenario/engine'
import type { ActingSpaces } from './policy/policy-leaves.ts'
import { encodedLeaves } from './texts/sentence-encoders.ts'
import type { TextVectors } from './texts/text-vectors.ts'

/**
 * What an agent is asked: an observation as the scenario gives it, what is legal (null: everything; undefined: the caller did
 * not say), and what it remembered.
 */
export type Call = { observation: unknown; action_mask: unknown; state?: string | null }

/**
 * Writes a call into the rows that the policy reads, by the engine's own encoders: as in training. Throws
 * `observation_invalid` and `mask_required`; the rows then hold an observation of zeros and no mask.
 */
type CallEncoder = (call: Call, observation: Float32Array, mask: Uint8Array) => void

/**
 * Writes what a caller sent as an agent's memory into its row; nothing sent begins an episode. Throws `observation_invalid`
 * if it is not what this agent returned.
 */
export function writeState(state: string | null | undefined, row: Float32Array): void {
  row.fill(0)
  if (state === undefined || state === null) return
  const bytes = Buffer.from(state, 'base64')
  const fits = row.length > 0 && bytes.length === row.length * 4 && bytes.toString('base64') === state
  if (fits) for (let i = 0; i < row.length; i++) row[i] = bytes.readFloatLE(i * 4)
  if (fits && row.every(Number.isFinite)) return
  row.fill(0)
  const expected = row.length === 0 ? 'no state: this agent has no memory' : 'the state of an earlier call, unchanged'
  throw callInvalid('state', 'state is not one that this agent has returned.', expected)
}

/** The same for the way back. */
export function readState(row: Float32Array): string {
  const bytes = Buffer.alloc(row.length * 4)
  for (let i = 0; i < row.length; i++) bytes.writeFloatLE(row[i], i * 4)
  return bytes.toString('base64')
}

/** Compiles the encoders of an agent's spaces. */
export function callEncoder(
  { observation: observed, action, mask_required: maskRequired }: ActingSpaces,
  vectors: TextVectors,
): CallEncoder {
  const texts = new CallTexts()
  const writeObservation = observationEncoder(observed, '', null, texts)
  const encoded = encodedLeaves(observed)
  const writeMask = maskEncoder(action, 'action_mask')
  const expected = {
    observation: describeSpace(observed),
    action_mask: `booleans, one a choice of ${describeSpace(action)}`,
  }
  const invalid = (field: keyof typeof expected, message: string) => callInvalid(field, `${message}.`, expected[field])
  const asCallers = (field: keyof typeof expected, write: () => void) => {
    try {
      write()
    } catch (thrown) {
      throw Problem.is(thrown) ? invalid(field, thrown.message) : thrown
    }
  }
  const pointers = pointersOf(action)
  return (call, observation, mask) => {
    observation.fill(0)
    mask.fill(1)
    try {
      asCallers('observation', () => {
        const refuse = (message: string): never => {
          throw invalid('observation', message)
        }
        writeObservation(flattenBoxes(observed, call.observation, refuse), observation, 0)
        for (const [place, leaf] of encoded.entries()) {
          observation.set(vectors.vector(leaf, texts.read(place)), leaf.offset)
        }
      })
      if (call.action_mask === undefined && maskRequired) throw missingMask(expected.action_mask)
      if (call.action_mask === null || call.action_mask === undefined) {
        if (!maskPointers(pointers, call.observation, mask)) throw invalid('observation', NO_TOOL)
        return
      }
      // A box cannot be masked. Ignoring the mask would mislead the caller.
      if (mask.length === 0) throw invalid('action_mask', 'action_mask was sent, and the action has no choices to mask')
      asCallers('action_mask', () => writeMask(call.action_mask, mask, 0))
      if (!maskPointers(pointers, call.observation, mask)) throw invalid('action_mask', NO_TOOL)
    } catch (error) {
      observation.fill(0)
      mask.fill(1)
      throw error
    }
  }
}

function missingMask(expected: string): AgentGymError {
  return new AgentGymError({
    code: 'mask_required',
    message: 'This agent has only ever chosen among legal actions, and the call does not say which are.',
    hint: `Send the mask that the scenario's actionMask gives (${expected}), or offer only the tools or choices that are legal.`,
    data: { field: 'action_mask', expected },
  })
}

const NO_TOOL = 'no tool can be called: those that are legal choose from lists without a legal item'

/** `tools` are columns of the mask row, as `tool` is. */
type Pointer = { list: string; mask: number; slots: number; tool: number; tools: readonly [from: number, to: number] }

/** The pointers of an action: where their slots and their tool are in the mask row. */
function pointersOf(action: SpaceDescription): Pointer[] {
  const leaves = actionLeaves(action)
  return leaves.flatMap(({ list, maskOffset, counts, when }) => {
    if (list === undefined || when === undefined) return []
    const chooser = leaves.find(({ offset }) => offset === when.column)
    const [first, count] = [chooser?.maskOffset ?? 0, chooser?.counts[0] ?? 0]
    return [
      { list, mask: maskOffset, slots: counts[0], tool: first + when.choice, tools: [first, first + count] as const },
    ]
  })
}

/**
 * Empty slots cannot be chosen, whatever the caller's mask, and a tool whose list is empty cannot be called. Whether a tool is
 * left.
 */
function maskPointers(pointers: Pointer[], observation: unknown, mask: Uint8Array): boolean {
  for (const { list, mask: first, slots, tool } of pointers) {
    const filled = itemsIn(observation, list).length
    mask.fill(0, first + filled, first + slots)
    if (!mask.subarray(first, first + slots).includes(1)) mask[tool] = 0
  }
  return pointers.every(({ tools }) => mask.subarray(...tools).includes(1))
}

/** The texts of one call that a sentence encoder reads, in order of their leaves. */
class CallTexts implements TextSink {
  readonly #texts: string[] = []

  reserve(): number {
    return this.#texts.push('') - 1
  }

  write(place: number, text: string): void {
    this.#texts[place] = text
  }

  read(place: number): string {
    return this.#texts[place]
  }
}

/** Throws with the reason why a sample does not fit. */
type Refuse = (message: string) => never

/**
 * Flattens boxes that are nested by their shape into the lists that the encoder takes. Everything else is returned as it is,
 * for the encoder to validate.
 */
function flattenBoxes(space: SpaceDescription, sample: unknown, refuse: Refuse, name = ''): unknown {
  if (space.type === 'box') {
    if (space.shape.length < 2 || !Array.isArray(sample) || !sample.some(Array.isArray)) return sample
    const flat: unknown[] = []
    collect(sample, space.shape, 0, name === '' ? 'observation' : `observation "${name}"`, flat, refuse)
    return flat
  }
  if (space.type !== 'dict' || typeof sample !== 'object' || sample === null || Array.isArray(sample)) return sample
  const flattened: Record<string, unknown> = { ...sample }
  for (const { name: key, space: inner } of space.entries) {
    if (!Object.hasOwn(flattened, key)) continue
    flattened[key] = flattenBoxes(inner, flattened[key], refuse, name === '' ? key : `${name}.${key}`)
  }
  return flattened
}

function collect(value: unknown, shape: number[], depth: number, at: string, flat: unknown[], refuse: Refuse): void {
  if (depth === shape.length) {
    flat.push(value)
    return
  }
  if (!Array.isArray(value)) {
    refuse(`${at} is ${value === null ? 'null' : `a ${typeof value}`} where a list of ${shape[depth]} belongs`)
  } else if (value.length !== shape[depth]) {
    refuse(`${at} has ${value.length} entries where the box [${shape.join(', ')}] has ${shape[depth]}`)
  } else {
    for (const [i, inner] of value.entries()) collect(inner, shape, depth + 1, `${at}[${i}]`, flat, refuse)
  }
}

/** An invalid call. `message` names the field, the expected and the received value; `expected` describes the whole space. */
export function callInvalid(
  field: 'observation' | 'action_mask' | 'state',
  message: string,
  expected: string,
): AgentGymError {
  return new AgentGymError({
    code: 'observation_invalid',
    message,
    hint: `Send ${field} as the scenario gives it: ${expected}.`,
    data: { field, expected },
  })
}

type Json = HostedAction['action']

/**
 * The action in a row of the policy, as the scenario's `step` would get it, and its label. Arguments of a tool are as its `run`
 * gets them: words, and ids of the observation's items.
 */
type ActionDescriber = (row: Float32Array, observation: unknown) => Pick<HostedAction, 'action' | 'label'>

/** Compiles the engine's own decoder of an action space. */
export function actionDescriber(space: SpaceDescription): ActionDescriber {
  const decode = actionDecoder(space)
  return (row, observation) => {
    const action = toJson(space, decode(row, 0))
    return { action: argumentsOf(space, action, observation), label: labelOf(space, action) }
  }
}

/** Numbers of a box lie within its bounds as JSON has them too, where the float32 next to a bound does not. */
function toJson(space: SpaceDescription, action: unknown): Json {
  if (space.type === 'box') {
    const inside = (number: number, i: number) =>
      Math.min(space.high[i] ?? Number.POSITIVE_INFINITY, Math.max(space.low[i] ?? Number.NEGATIVE_INFINITY, number))
    return typeof action === 'number' ? inside(action, 0) : Array.from(action as Float32Array, inside)
  }
  if (space.type === 'dict') {
    const entries = action as Record<string, unknown>
    // Of a choice between entries, only the chosen one is there.
    const present = space.entries.filter(({ name }) => Object.hasOwn(entries, name))
    return Object.fromEntries(present.map(({ name, space: inner }) => [name, toJson(inner, entries[name])]))
  }
  return action as Json
}

/** The action of a tool scenario with words and ids in place of their numbers; any other as it is. */
function argumentsOf(space: SpaceDescription, action: Json, observation: unknown): Json {
  if (space.type !== 'dict' || space.choice === undefined) return action
  const parts = action as Record<string, Json>
  return Object.fromEntries(
    space.entries.flatMap(({ name, space: inner }) => {
      if (!Object.hasOwn(parts, name)) return []
      return [[name, name === space.choice ? parts[name] : argumentIn(inner, parts[name], observation)]]
    }),
  )
}

function argumentIn(space: SpaceDescription, value: Json, observation: unknown): Json {
  if (space.type === 'dict') {
    const parts = value as Record<string, Json>
    return Object.fromEntries(
      space.entries.map(({ name, space: inner }) => [name, argumentIn(inner, parts[name], observation)]),
    )
  }
  if (space.type !== 'discrete') return value
  const index = (value as number) - space.start
  if (space.list === undefined) return space.labels?.[index] ?? value
  return itemsIn(observation, space.list)[index]?.id ?? value
}

/** Items of a list in a valid observation, by its dotted name. */
function itemsIn(observation: unknown, list: string): { id: string }[] {
  const part = list
    .split('.')
    .reduce((parts, key) => (parts as Record<string, unknown> | undefined)?.[key], observation)
  return Array.isArray(part) ? part : []
}

/** The label of a discrete action; of a dict with one labelled choice, that choice's: the tool of a tool scenario. */
function labelOf(space: SpaceDescription, action: Json): string | null {
  if (space.type === 'discrete') return space.labels?.[(action as number) - space.start] ?? null
  if (space.type !== 'dict') return null
  const labelled = space.entries.filter(({ space: inner }) => inner.type === 'discrete' && inner.labels !== undefined)
  if (labelled.length !== 1) return null
  return labelOf(labelled[0].space, (action as Record<string, Json>)[labelled[0].name])
}

/**
 * The leaf whose choice is the action, or the tool; null where the action is several choices or numbers, or the policy knows
 * values instead of probabilities.
 */
export function choosingLeaf({ action, head }: PolicySpec): ActionLeaf | null {
  if (head === 'q' || head === 'dueling_q') return null
  const tools = action.find(({ when }) => when !== undefined)?.when?.column
  const leaf = tools === undefined ? action[0] : action.find(({ offset }) => offset === tools)
  const alone = tools !== undefined || action.length === 1
  return alone && leaf?.kind === 'discrete' && leaf.fixed === undefined ? leaf : null
}

/** Probabilities of a leaf's choices in order, 0 for masked ones, to float32's seven digits. Every number of `distribution` is finite. */
export function choiceProbabilities(leaf: ActionLeaf, distribution: Float32Array, mask: Uint8Array): number[] {
  const logits = distribution.subarray(leaf.distributionOffset, leaf.distributionOffset + leaf.counts[0])
  const legal = (i: number) => mask[leaf.maskOffset + i] === 1
  const largest = logits.reduce((most, logit, i) => (legal(i) ? Math.max(most, logit) : most), Number.NEGATIVE_INFINITY)
  const weights = Array.from(logits, (logit, i) => (legal(i) ? Math.exp(logit - largest) : 0))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => Number((weight / total).toPrecision(7)))
}

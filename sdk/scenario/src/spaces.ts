import { definitionError } from './engine/faults.ts'
import { append, objectFreeze, objectKeys } from './engine/primordials.ts'
import { readSpace, type SpaceDescription, type TextEncoderName, textEncoders } from './engine/read-space.ts'

type Bounds = readonly (number | null)[]

/** Real numbers in an array of fixed shape, row-major, carried as float32. */
export type BoxSpace = {
  readonly type: 'box'
  readonly shape: readonly number[]
  readonly low: Bounds
  readonly high: Bounds
}
/** One of `n` integers, from `start` on. */
export type DiscreteSpace = {
  readonly type: 'discrete'
  readonly n: number
  readonly start: number
  readonly labels?: readonly string[]
  /** A pointer's: the list of the observation whose slots are the choices. */
  readonly list?: string
}
/** Several integers, component i in [0, nvec[i]). */
export type MultiDiscreteSpace = { readonly type: 'multiDiscrete'; readonly nvec: readonly number[] }
/** Up to `slots` items, each `features` numbers under an id that the agent can choose by a pointer. */
export type ListSpace = { readonly type: 'list'; readonly slots: number; readonly features: number }
/** An item of a list. The policy sees its features; a tool is given its id. */
export type ListItem = { readonly id: string; readonly features: NumberList }
/**
 * A text. Without `encoder` it is carried as `maxTokens` token ids (see `tokenize`), and the policy learns an embedding of
 * each. With one, the runtime gives the policy the vector of a sentence encoder, which is not trained.
 */
export type TextSpace = {
  readonly type: 'text'
  readonly maxTokens: number
  readonly vocabulary: number
  readonly encoder?: TextEncoderName
}

declare const entriesOf: unique symbol
/** Named spaces, in the order in which they were written. */
export type DictSpace<Entries extends SpaceRecord = SpaceRecord> = {
  readonly type: 'dict'
  readonly entries: readonly { readonly name: string; readonly space: Space }[]
  /** For the type checker only. */
  readonly [entriesOf]?: Entries
}
// An interface, because a type alias may not refer to itself through DictSpace's default.
export interface SpaceRecord {
  readonly [name: string]: Space
}
export type Space = BoxSpace | DiscreteSpace | MultiDiscreteSpace | TextSpace | ListSpace | DictSpace

/** Spaces that an agent can act in: no text, no list. */
export type ActionSpace = BoxSpace | DiscreteSpace | MultiDiscreteSpace | DictSpace<ActionSpaceRecord>
export interface ActionSpaceRecord {
  readonly [name: string]: ActionSpace
}

export type NumberList =
  | readonly number[]
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array

/** What `observe` returns for a space. */
export type SampleOf<S extends Space> = S extends BoxSpace
  ? NumberList
  : S extends DiscreteSpace
    ? number
    : S extends MultiDiscreteSpace
      ? NumberList
      : S extends TextSpace
        ? string
        : S extends ListSpace
          ? readonly ListItem[]
          : S extends DictSpace<infer Entries>
            ? { readonly [Name in keyof Entries]: SampleOf<Entries[Name]> }
            : never

/** What `step` is given for an action space. */
export type ActionOf<S extends ActionSpace> = S extends BoxSpace
  ? Float32Array
  : S extends DiscreteSpace
    ? number
    : S extends MultiDiscreteSpace
      ? number[]
      : S extends DictSpace<infer Entries extends ActionSpaceRecord>
        ? { [Name in keyof Entries]: ActionOf<Entries[Name]> }
        : never

/** An action as an author's own code writes it: what `ActionOf` is, with any list of numbers in place of arrays. */
export type ChosenActionOf<S extends ActionSpace> = S extends BoxSpace
  ? NumberList
  : S extends DiscreteSpace
    ? number
    : S extends MultiDiscreteSpace
      ? NumberList
      : S extends DictSpace<infer Entries extends ActionSpaceRecord>
        ? { readonly [Name in keyof Entries]: ChosenActionOf<Entries[Name]> }
        : never

/** What `actionMask` returns for an action space: true is legal. Boxes have no mask. */
export type ActionMaskOf<S extends ActionSpace> = S extends BoxSpace
  ? never
  : S extends DiscreteSpace
    ? readonly boolean[]
    : S extends MultiDiscreteSpace
      ? readonly (readonly boolean[])[]
      : S extends DictSpace<infer Entries extends ActionSpaceRecord>
        ? {
            readonly [Name in keyof Entries as Entries[Name] extends BoxSpace ? never : Name]: ActionMaskOf<
              Entries[Name]
            >
          }
        : never

function freezeSpace(space: SpaceDescription): SpaceDescription {
  if (space.type === 'box') {
    objectFreeze(space.shape)
    objectFreeze(space.low)
    objectFreeze(space.high)
  } else if (space.type === 'multiDiscrete') objectFreeze(space.nvec)
  else if (space.type === 'discrete' && space.labels !== undefined) objectFreeze(space.labels)
  else if (space.type === 'dict') {
    for (let i = 0; i < space.entries.length; i += 1) {
      objectFreeze(space.entries[i])
      freezeSpace(space.entries[i].space)
    }
    objectFreeze(space.entries)
  }
  return objectFreeze(space)
}

function requireOptions(options: unknown, example: string): void {
  if (typeof options !== 'object' || options === null)
    throw definitionError(`${example}: the argument must be an object`)
}

/** Elements of the largest box; see readSpace. */
const LARGEST_BOX = 1 << 20

/** One bound for all elements, written out. */
function spread(bound: number | readonly number[], shape: readonly number[]): unknown {
  if (typeof bound !== 'number') return bound
  let size = 1
  for (let i = 0; i < shape.length; i += 1) size *= shape[i]
  const bounds: number[] = []
  // readSpace refuses such a shape, in better words.
  if (!(size <= LARGEST_BOX)) return bounds
  for (let i = 0; i < size; i += 1) append(bounds, bound)
  return bounds
}

/**
 * Real numbers. `shape` as in Gymnasium: `[4]` four numbers, `[8, 8, 3]` an image, given flat and row-major. `low` and
 * `high` are one number for all elements or one an element; infinite (the default) means unbounded.
 */
export function box(options: {
  shape: readonly number[]
  low?: number | readonly number[]
  high?: number | readonly number[]
}): BoxSpace {
  requireOptions(options, 'box({ shape: [4] })')
  const { shape, low = -Infinity, high = Infinity } = options
  const shapeIsList = typeof shape === 'object' && shape !== null
  if (shapeIsList && shape.length === 0) throw definitionError('box.shape: must have 1 to 8 entries, has 0')
  const candidate = {
    type: 'box',
    shape,
    low: shapeIsList ? spread(low, shape) : [],
    high: shapeIsList ? spread(high, shape) : [],
  }
  return freezeSpace(readSpace(candidate, 'box')) as BoxSpace
}

/** The integers from `start` (default 0) to `start + n - 1`. `labels` name them, in order. */
export function discrete(options: { n: number; start?: number; labels?: readonly string[] }): DiscreteSpace {
  requireOptions(options, 'discrete({ n: 2 })')
  const { n, start = 0, labels } = options
  return freezeSpace(readSpace({ type: 'discrete', n, start, labels }, 'discrete')) as DiscreteSpace
}

/** One integer a component, component i from 0 to `nvec[i] - 1`. */
export function multiDiscrete(options: { nvec: readonly number[] }): MultiDiscreteSpace {
  requireOptions(options, 'multiDiscrete({ nvec: [3, 2] })')
  return freezeSpace(readSpace({ type: 'multiDiscrete', nvec: options.nvec }, 'multiDiscrete')) as MultiDiscreteSpace
}

/**
 * A text of at most `maxTokens` words that count; `vocabulary` (default 4096) is the number of token ids.
 *
 * With `encoder: 'minilm'` the policy sees 384 numbers that a frozen sentence encoder (all-MiniLM-L6-v2, English) makes of
 * the text, close to one another for texts of one meaning: it also understands wordings that share no word with those it was
 * trained on. `maxTokens` (default 128, at most 256) then counts word pieces, two of which mark the beginning and the end;
 * of a longer text the rest is cut off, and so are characters beyond 8 × `maxTokens`.
 */
export function text(
  options: { maxTokens: number; vocabulary?: number } | { encoder: TextEncoderName; maxTokens?: number },
): TextSpace {
  requireOptions(options, 'text({ maxTokens: 64 })')
  const { encoder, maxTokens, vocabulary } = options as {
    encoder?: TextEncoderName
    maxTokens?: number
    vocabulary?: number
  }
  const known = encoder === undefined ? undefined : textEncoders[encoder]
  const candidate = {
    type: 'text',
    maxTokens: maxTokens ?? known?.defaultTokens,
    vocabulary: vocabulary ?? known?.vocabulary ?? 4096,
    encoder,
  }
  return freezeSpace(readSpace(candidate, 'text')) as TextSpace
}

/**
 * Up to `slots` items: what tools have found, for example. `observe` returns an array of `{ id, features }`, ids unique.
 * A parameter `pointer(…)` of a tool chooses one of them.
 */
export function list(options: { slots: number; features: number }): ListSpace {
  requireOptions(options, 'list({ slots: 8, features: 3 })')
  const { slots, features } = options
  return freezeSpace(readSpace({ type: 'list', slots, features }, 'list')) as ListSpace
}

/** Named spaces. Observations and actions are objects with exactly these keys. */
export function dict<const Entries extends SpaceRecord>(entries: Entries): DictSpace<Entries> {
  requireOptions(entries, 'dict({ position: box({ shape: [2] }) })')
  const list: { name: string; space: unknown }[] = []
  const names = objectKeys(entries)
  for (let i = 0; i < names.length; i += 1) append(list, { name: names[i], space: entries[names[i]] })
  return freezeSpace(readSpace({ type: 'dict', entries: list }, 'dict')) as DictSpace<Entries>
}

/** Of an action: a choice named `choice`, and for some of its labels an entry of that name, which counts only where it is chosen. */
export function branches(
  choice: string,
  entries: readonly { readonly name: string; readonly space: unknown }[],
): DictSpace<ActionSpaceRecord> {
  return freezeSpace(readSpace({ type: 'dict', entries, choice }, 'tools')) as DictSpace<ActionSpaceRecord>
}

/** One number rather than a list of one, for a parameter of a tool. */
export function scalar(
  options: { low: number; high: number; integer: boolean; default: number },
  path: string,
): BoxSpace {
  const { low, high, integer } = options
  const candidate = { type: 'box', shape: [], low: [low], high: [high], integer, default: options.default }
  return freezeSpace(readSpace(candidate, path)) as BoxSpace
}

/** A choice whose default or list a tool's parameter has given. */
export function choiceSpace(
  options: { n: number; labels?: readonly string[]; list?: string; default?: number },
  path: string,
): DiscreteSpace {
  return freezeSpace(readSpace({ type: 'discrete', start: 0, ...options }, path)) as DiscreteSpace
}

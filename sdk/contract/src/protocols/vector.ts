import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { type ErrorCode, errorCatalog } from '../error-catalog.ts'
import { type SpaceDescription, spaceDescriptionSchema } from '../space-description.ts'

/** The vector protocol: N environments over one WebSocket, a binary frame a step. docs/vector-protocol.md specifies it. */
export const VECTOR_PROTOCOL = 1
export const VECTOR_PATH = '/v1/vector'

/** What a server may lower and no client may exceed. */
export const vectorLimits = {
  environments: 65_536,
  /** Bytes of a text frame: the bounds of a large box are written out in `opened`. */
  textFrame: 32 * 2 ** 20,
  /** Bytes of a binary frame. */
  binaryFrame: 256 * 2 ** 20,
  /** Requests that a client may have unanswered. */
  pending: 16,
}

/** Where an ended episode's successor begins. Names and meaning are Gymnasium's. */
export const autoresetSchema = z.enum(['same_step', 'next_step', 'disabled'])
export type Autoreset = z.infer<typeof autoresetSchema>

export const vectorDtypeSchema = z.enum(['float32', 'int32', 'uint8', 'text'])
export type VectorDtype = z.infer<typeof vectorDtypeSchema>

const size = z.int().positive()
const seed = z.int().nonnegative()

/** One array of a frame: a leaf of a space, `[environments, ...shape]`. */
export const vectorFieldSchema = z.strictObject({
  /** Keys of the dicts around it joined by dots; `obs` or `action` for a space that is no dict. */
  name: z.string().min(1).max(1_000),
  dtype: vectorDtypeSchema,
  shape: z.array(size),
})
export type VectorField = z.infer<typeof vectorFieldSchema>

/** The first frame of a client. */
export const openFrameSchema = z.strictObject({
  type: z.literal('open'),
  protocol: z.literal(VECTOR_PROTOCOL),
  /** `acme/cart-pole@1.2.0`, for a server that has several. */
  scenario: z.string().min(1).max(400).optional(),
  environments: z.int().positive().max(vectorLimits.environments),
  seed: seed.default(0),
  /** Number of the first environment among all of a run, whose other environments other connections have. */
  first_environment: z.int().nonnegative().default(0),
  split: z.enum(['train', 'eval']).default('train'),
  autoreset: autoresetSchema.default('next_step'),
})
export type OpenFrame = z.infer<typeof openFrameSchema>
/** An `open` frame as a client writes it. */
export type OpenRequest = z.input<typeof openFrameSchema>

/** The answer to `open`. */
export const openedFrameSchema = z.object({
  type: z.literal('opened'),
  protocol: z.literal(VECTOR_PROTOCOL),
  /** `acme/cart-pole`; of an environment that is no scenario, its own name, such as `CartPole-v1`. */
  name: z.string().min(1).max(400),
  /** The scenario's; or what the environment comes from, such as `gymnasium 1.4.0`. */
  version: z.string().min(1).max(400),
  /** SHA-256 (hex) of the scenario's bundle; null for an environment that is no scenario. */
  hash: z.string().nullable(),
  environments: size,
  autoreset: autoresetSchema,
  spaces: z.object({ observation: spaceDescriptionSchema, action: spaceDescriptionSchema }),
  /** Steps after which an episode is truncated; null where the server does not know. */
  max_steps: size.nullable(),
  fields: z.object({ observation: z.array(vectorFieldSchema).min(1), action: z.array(vectorFieldSchema).min(1) }),
  /** Columns of a mask: one for each choice of each categorical component of the action; 0 without masks. */
  mask: z.int().nonnegative(),
  /** Ways in which `render` shows an environment. */
  render_modes: z.array(z.enum(['ansi'])),
})
export type OpenedFrame = z.infer<typeof openedFrameSchema>

/** Asks for what one environment looks like; answered in order with the binary frames. */
const renderFrameSchema = z.strictObject({
  type: z.literal('render'),
  mode: z.literal('ansi'),
  environment: z.int().nonnegative(),
})
export type RenderFrame = z.infer<typeof renderFrameSchema>

const renderedFrameSchema = z.object({ type: z.literal('rendered'), text: z.string() })

/** A code that this version does not know is that of an environment, which says the rest in words. */
const anyCode = z.string().transform((code): ErrorCode => (isErrorCode(code) ? code : 'environment_failed'))

/** `data` names `environment` and `step` where they are known. */
export const errorFrameSchema = z.object({
  type: z.literal('error'),
  /** Number of the binary request that failed; null where it was a text frame, or none. */
  request: z.int().nonnegative().nullable(),
  /** False: the request changed nothing, and the connection goes on. True: the server closes it after this frame. */
  fatal: z.boolean(),
  error: errorReportSchema.extend({ code: anyCode }),
})
export type ErrorFrame = z.infer<typeof errorFrameSchema>

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalog, code)
}

/** A text frame of a client. */
export const vectorRequestSchema = z.discriminatedUnion('type', [openFrameSchema, renderFrameSchema])
/** A text frame of a server. */
export const vectorAnswerSchema = z.discriminatedUnion('type', [
  openedFrameSchema,
  renderedFrameSchema,
  errorFrameSchema,
])

/** All that the binary frames of a connection depend on. */
export type VectorLayout = Pick<OpenedFrame, 'environments' | 'autoreset' | 'fields' | 'mask'>

/** The fields of a space, one for each leaf, in order of the leaves. `root` names a space that is no dict. */
export function fieldsOf(space: SpaceDescription, root: 'obs' | 'action', path: readonly string[] = []): VectorField[] {
  const field = (dtype: VectorDtype, shape: number[]) => [{ name: path.join('.') || root, dtype, shape }]
  switch (space.type) {
    case 'dict':
      return space.entries.flatMap(({ name, space: inner }) => fieldsOf(inner, root, [...path, name]))
    case 'box':
      return field('float32', space.shape)
    case 'discrete':
      return field('int32', [])
    case 'multiDiscrete':
      return field('int32', [space.nvec.length])
    case 'text':
      return field('text', [])
    case 'list':
      return field('float32', [space.slots, 1 + space.features])
  }
}

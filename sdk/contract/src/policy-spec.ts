import { z } from 'zod'

const count = z.int().nonnegative()
const positive = z.int().positive()

/**
 * One leaf of the observation space in the flat float32 row that the engine writes and the policy reads.
 * `box`: `size` numbers. `discrete`, `multiDiscrete`: one index a component, `counts` values each (one-hot in the
 * network). `text`: `size` token ids below `counts[0]`, 0 is padding.
 */
export const observationLeafSchema = z.strictObject({
  /** Name of the ONNX input: `obs` for a space that is one leaf, else the dict path joined by dots. */
  name: z.string().min(1),
  kind: z.enum(['box', 'discrete', 'multiDiscrete', 'text']),
  /** First column in the flat observation row. */
  offset: count,
  /** Columns in the flat observation row. */
  size: positive,
  /** Values a component (discrete, multiDiscrete) or `[vocabulary]` (text); empty for a box. */
  counts: z.array(positive),
  /** Shape of a box; `[size]` otherwise. */
  shape: z.array(positive),
})
export type ObservationLeaf = z.infer<typeof observationLeafSchema>

/**
 * One leaf of the action space. Categorical leaves (`discrete`, `multiDiscrete`) have `counts` and take
 * sum(counts) columns of the distribution row (logits); a `box` leaf takes `size` columns (the Gaussian's means).
 */
export const actionLeafSchema = z.strictObject({
  name: z.string().min(1),
  kind: z.enum(['discrete', 'multiDiscrete', 'box']),
  /** First column in the flat action row (categorical: index from 0; box: the number itself). */
  offset: count,
  /** Columns in the flat action row. */
  size: positive,
  counts: z.array(positive),
  /** First column in the distribution row: logits or means. */
  distributionOffset: count,
  /** First column in the mask row (one 0/1 a logit); meaningless for a box. */
  maskOffset: count,
  /** Box only: first element in `log_std`. */
  logStdOffset: count,
  /** Box only, one a column: bounds (null: none), and the affine map mean = center + scale * network output. */
  low: z.array(z.number().nullable()),
  high: z.array(z.number().nullable()),
  center: z.array(z.number()),
  scale: z.array(z.number()),
  /** Discrete only: what index 0 means to the scenario. */
  start: z.int(),
})
export type ActionLeaf = z.infer<typeof actionLeafSchema>

/** What gives both the libtorch module and the ONNX graph. Actor and critic are separate networks of one shape. */
export const policySpecSchema = z.strictObject({
  version: z.literal(1),
  observation: z.array(observationLeafSchema).min(1),
  action: z.array(actionLeafSchema).min(1),
  /** Units of each hidden layer. */
  hidden: z.array(positive),
  activation: z.enum(['tanh', 'relu']),
  /** Width of a token embedding; used by text leaves only. */
  embedding: positive,
  /** Box leaves are standardised by running statistics that are part of the graph, then clipped to ±10. */
  normalizeObservation: z.boolean(),
})
export type PolicySpec = z.infer<typeof policySpecSchema>

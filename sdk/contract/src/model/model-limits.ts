/** What a model may hold. Every limit has a default; whoever runs models of their own making may widen it. */
export type ModelLimits = {
  /** Of the file. */
  bytes: number
  /** Fields of all messages together, and integers that are written one by one. */
  fields: number
  nodes: number
  /** Initializers, inputs and outputs of the graph, declared values, names in one node's list: each kind by itself. */
  parts: number
  /** Dimensions of one tensor. */
  rank: number
  /** Attributes of one node. */
  attributes: number
  /** Longest chain of nodes. */
  depth: number
  /** Of a name, in bytes of UTF-8. */
  nameBytes: number
  /** Of a documentation string or a metadata value, in bytes. */
  textBytes: number
  /** Elements of one value between nodes: for each row of the batch, or in all where it does not depend on the batch. */
  elements: number
  /** Elements of all such values together. */
  elementsTotal: number
  /** Multiplications and additions for each row of the batch. */
  work: number
}

/**
 * For models that are published. At evaluation's 64 rows a single value stays below 64 MiB, all together below 512 MiB,
 * and one run below a second or two of one core.
 */
export const modelLimits: Readonly<ModelLimits> = {
  bytes: 64 * 2 ** 20,
  fields: 2 ** 18,
  nodes: 8_192,
  parts: 4_096,
  rank: 8,
  attributes: 16,
  depth: 1_024,
  nameBytes: 512,
  textBytes: 64 * 1_024,
  elements: 2 ** 18,
  elementsTotal: 2 ** 21,
  work: 2 ** 28,
}

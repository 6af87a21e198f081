/**
 * A space as JSON; the same type as `SpaceDescription` of @agentgym/contract, which this package must not import.
 * A `dict` is an ordered list, because its order is the layout of the flat rows.
 */
export type SpaceDescription =
  | { type: 'box'; shape: number[]; low: (number | null)[]; high: (number | null)[] }
  | { type: 'discrete'; n: number; start: number; labels?: string[] }
  | { type: 'multiDiscrete'; nvec: number[] }
  | { type: 'text'; maxTokens: number; vocabulary: number }
  | { type: 'dict'; entries: { name: string; space: SpaceDescription }[] }

export type BoxDescription = Extract<SpaceDescription, { type: 'box' }>
export type DiscreteDescription = Extract<SpaceDescription, { type: 'discrete' }>
export type MultiDiscreteDescription = Extract<SpaceDescription, { type: 'multiDiscrete' }>
export type TextDescription = Extract<SpaceDescription, { type: 'text' }>
export type DictDescription = Extract<SpaceDescription, { type: 'dict' }>

import { arrangements } from './arrangements.ts'
import { elementwise } from './elementwise.ts'
import { layers } from './layers.ts'
import type { Operator } from './operator-call.ts'
import { pools } from './pools.ts'
import { sizes } from './sizes.ts'

/** Every operator that a model may use: those of our own exports, and plain layers of others'. No name is inherited. */
export const operators: ReadonlyMap<string, Operator> = new Map(
  [elementwise, layers, pools, arrangements, sizes].flatMap((table) => Object.entries(table)),
)

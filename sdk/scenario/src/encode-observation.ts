import { Problem } from './engine/engine-fault.ts'
import { observationEncoder } from './engine/observation-encoder.ts'
import { PlainTypeError } from './engine/primordials.ts'
import { columnsOf, readSpace } from './engine/read-space.ts'
import type { SpaceDescription } from './engine/space-description.ts'
import type { Space } from './spaces.ts'

/**
 * Writes one sample into a flat float32 row from `offset` on, exactly as the engine does in training: a served agent
 * must encode with this. `space` is a space or its description out of a package. Returns how many columns were written.
 * Throws a TypeError where the sample does not fit the space.
 */
export function encodeObservation(
  space: Space | SpaceDescription,
  sample: unknown,
  target: Float32Array,
  offset = 0,
): number {
  const description = readSpace(space, 'space')
  const columns = columnsOf(description)
  if (target.length < offset + columns) {
    throw new PlainTypeError(`encodeObservation: the target has no room for ${columns} columns from ${offset} on`)
  }
  try {
    observationEncoder(description)(sample, target, offset)
  } catch (thrown) {
    if (Problem.is(thrown)) throw new PlainTypeError(thrown.message)
    throw thrown
  }
  return columns
}

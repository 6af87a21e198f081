import { defineConstant, PlainTypeError } from './primordials.ts'

const NAME = 'ScenarioDefinitionError'

/** A mistake in a definition or a space: a TypeError to the author, told apart by its name from what an author throws. */
export function definitionError(message: string): TypeError {
  const error = new PlainTypeError(message)
  defineConstant(error, 'name', NAME)
  return error
}

/**
 * Whether something thrown is such a mistake. By name, not by class: a bundle carries a copy of this code of its own.
 * Reading the name may run an author's getter, whose failure means no.
 */
export function isDefinitionError(thrown: unknown): boolean {
  try {
    return typeof thrown === 'object' && thrown !== null && (thrown as { name?: unknown }).name === NAME
  } catch {
    return false
  }
}

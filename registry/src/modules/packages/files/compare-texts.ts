import { structuredPatch } from 'diff'

/** Lines that differ, with their surroundings: each begins with a space, + or -. Line numbers are from 1. */
export type Hunk = { before_line: number; after_line: number; lines: string[] }

/** Myers' algorithm takes time and memory in the square of the edits: beyond these, texts are not compared. */
const limits = { maxEditLength: 2_000, timeout: 300 }
const contextLines = 3

/** What changed from one text to another; null if that is too much to compute. */
export function compareTexts(before: string, after: string): Hunk[] | null {
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: contextLines, ...limits })
  if (patch === undefined) return null
  return patch.hunks.map(({ oldStart, newStart, lines }) => ({ before_line: oldStart, after_line: newStart, lines }))
}

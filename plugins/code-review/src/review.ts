/** A review under way: what has been read, found and decided, and what is still to be done. */
import { type Change, type File, hasDependencies, mustBeHeldBack } from './change.ts'
import type { Kind } from './hunks.ts'

/** Tests that failed twice do not fail by chance. */
export const TEST_RUNS = 2

export type Verdict = 'approve' | 'request_changes'

export type Review = {
  change: Change
  /** The file whose hunk is shown, until it is commented on or marked as viewed. */
  open: File | null
  /** Names of files that were opened. */
  read: Set<string>
  /** Kinds of findings by the name of the file. */
  comments: Map<string, Kind>
  /** Test runs that ended. */
  testRuns: number
  /** Results of the checks; undefined before them. */
  testsPassed: boolean | undefined
  covered: boolean | undefined
  auditClean: boolean | undefined
  /** Whether the last call timed out. */
  timedOut: boolean
  verdict: Verdict | null
}

export function dueVerdict(change: Change): Verdict {
  return mustBeHeldBack(change) ? 'request_changes' : 'approve'
}

/** Until they pass, and once more after a failure. */
export function areTestsDue({ testRuns, testsPassed }: Review): boolean {
  return testsPassed !== true && testRuns < TEST_RUNS
}

export function isAuditDue({ change, auditClean }: Review): boolean {
  return hasDependencies(change) && auditClean === undefined
}

/** Whether all sources were read and all faults found, with no comment that is wrong, and the checks have ended. */
export function isComplete(review: Review): boolean {
  const { change, comments, read } = review
  const reviewed = change.files.every(
    ({ name, content, fault }) => (content !== 'source' || read.has(name)) && (comments.get(name) ?? null) === fault,
  )
  return reviewed && !areTestsDue(review) && !isAuditDue(review)
}

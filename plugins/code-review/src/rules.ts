/** What a team would write without training: a linter with a pattern for each kind of fault, and the order of the checks. */
import type { ToolCall } from '@agentgym/scenario'
import { contents } from './change.ts'
import { isSerious, type Kind, kinds } from './hunks.ts'
import { TEST_RUNS } from './review.ts'

type Seen = {
  before: string
  after: string
  files: readonly { id: string; features: ArrayLike<number> }[]
  facts: ArrayLike<number>
  comments: ArrayLike<number>
}
type Call = ToolCall<
  'open' | 'comment' | 'mark_viewed' | 'run_tests' | 'audit_dependencies' | 'approve' | 'request_changes'
>

const patterns: readonly [RegExp, Kind][] = [
  [/\bto \w+\.length/, 'off_by_one'],
  [/\.get\b/, 'missing_null_check'],
  [/" concat /, 'sql_injection'],
  [/(token|password|\w*Key) = "/, 'secret_in_code'],
  [/println/, 'debug_output'],
]

function faultIn(before: string, after: string, majorVersion: boolean): Kind | null {
  const found = patterns.find(([pattern]) => pattern.test(after))
  if (found !== undefined) return found[1]
  const breaks = before.startsWith('public def') && after !== before && !after.includes('default')
  return breaks && !majorVersion ? 'breaking_change' : null
}

export function rulesFor({ before, after, files, facts, comments }: Seen, available: readonly string[]): Call {
  const [open, majorVersion, testRuns, testsPassed, covered, auditClean] = Array.from(facts)
  if (open === 1) {
    const kind = faultIn(before, after, majorVersion === 1)
    return kind === null ? { tool: 'mark_viewed' } : { tool: 'comment', arguments: { kind } }
  }
  const [source, read] = [contents.indexOf('source'), contents.length]
  const unread = files.find(({ features }) => features[source] === 1 && features[read] === 0)
  if (unread !== undefined) return { tool: 'open', arguments: { file: unread.id } }
  if (testsPassed !== 1 && testRuns * TEST_RUNS < TEST_RUNS) return { tool: 'run_tests' }
  if (available.includes('audit_dependencies')) return { tool: 'audit_dependencies' }
  const serious = kinds.some((kind, i) => isSerious(kind) && comments[i] > 0)
  return { tool: serious || testsPassed !== 1 || covered < 0 || auditClean < 0 ? 'request_changes' : 'approve' }
}

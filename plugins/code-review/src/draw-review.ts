/** A review as its page: the files with their comments, the open hunk, the checks. */
import type { Scene } from '@agentgym/scenario'
import type { Review } from './review.ts'

type Shape = Scene['shapes'][number]
type Color = NonNullable<Shape['color']>

const WIDTH = 60
const HEIGHT = 45
const LINE = 3
/** About as many characters fit across. */
const COLUMNS = 54

export function drawReview(review: Review): Scene {
  const { change, open, read, comments, testRuns, testsPassed, covered, auditClean, timedOut, verdict } = review
  const shapes: Shape[] = []
  const write = (x: number, y: number, words: string, color: Color = 'ink') =>
    shapes.push({ kind: 'text', x, y, text: words.slice(0, COLUMNS), color })
  const rule = (y: number) =>
    shapes.push({
      kind: 'line',
      points: [
        [1, y],
        [WIDTH - 1, y],
      ],
      color: 'line',
    })

  for (const [i, file] of change.files.entries()) {
    const y = LINE * (i + 1)
    if (file === open) shapes.push({ kind: 'rect', x: 0.5, y: y - 2.2, width: WIDTH - 1, height: LINE, color: 'line' })
    write(1, y, file.name, read.has(file.name) ? 'ink' : 'dim')
    const finding = comments.get(file.name)
    if (finding !== undefined) write(26, y, finding.replaceAll('_', ' '), 'warning')
    else if (file === open) write(26, y, 'open', 'accent')
    else if (read.has(file.name)) write(26, y, 'viewed', 'green')
  }

  rule(14)
  const lines = (code: string, sign: string) => (code === '' ? [] : code.split('\n').map((line) => `${sign} ${line}`))
  const { before, after } = open?.hunk ?? { before: '', after: '' }
  const removed = lines(before, '-')
  for (const [i, line] of [...removed, ...lines(after, '+')].entries()) {
    write(1, 17 + LINE * i, line, i < removed.length ? 'failure' : 'green')
  }

  rule(30)
  const check = (y: number, name: string, passed: boolean | undefined, yes: string, no: string) => {
    write(1, y, name, 'dim')
    const color = passed === undefined ? 'dim' : passed ? 'green' : 'failure'
    write(16, y, passed === undefined ? '-' : passed ? yes : no, color)
  }
  check(33.5, 'tests', testsPassed, 'passed', testRuns > 1 ? 'failed twice' : 'failed')
  check(36.5, 'coverage', covered, 'change is tested', 'not tested')
  check(39.5, 'dependencies', auditClean, 'clean', 'vulnerable')
  write(37, 33.5, change.majorVersion ? 'new major version' : 'minor version', 'dim')
  if (timedOut) write(37, 36.5, 'last check timed out', 'warning')
  if (verdict !== null) write(1, 43.5, verdict === 'approve' ? 'APPROVED' : 'CHANGES REQUESTED', 'accent')
  return { width: WIDTH, height: HEIGHT, shapes }
}

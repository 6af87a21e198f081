/**
 * Code review: read the hunks of a change, run its checks, comment on what is wrong by its kind, and approve the change or request
 * changes. Checks fail once without a reason or time out; a wrong verdict costs the author's time or breaks the product.
 */
import {
  answer,
  box,
  choice,
  defineToolScenario,
  dict,
  fails,
  list,
  pointer,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import { contents, FILES, generateChange, hasDependencies } from './change.ts'
import { drawReview } from './draw-review.ts'
import { type Kind, kinds } from './hunks.ts'
import { areTestsDue, dueVerdict, isAuditDue, isComplete, type Review, TEST_RUNS, type Verdict } from './review.ts'
import { rulesFor } from './rules.ts'

const MAX_CALLS = 18
/** Enough that no name of held-out changes shares its number with a word that matters. */
export const VOCABULARY = 2048
const TRAIN_CHANGES = 100_000
const HELD_OUT_CHANGES = 1_000_000_000

export default defineToolScenario({
  observation: dict({
    /** The open hunk. */
    before: text({ maxTokens: 16, vocabulary: VOCABULARY }),
    after: text({ maxTokens: 16, vocabulary: VOCABULARY }),
    /** Content, opened, commented on. */
    files: list({ slots: FILES, features: contents.length + 2 }),
    facts: box({ shape: [8] }),
    /** How many comments of each kind were made. */
    comments: box({ shape: [kinds.length], low: 0, high: 1 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_CHANGES, eval: HELD_OUT_CHANGES },
  rewards: { right: 0.3, wrong: -0.1, tokenSaving: 0.5, timeSaving: 0.5 },
  /** A reviewer who takes a quarter of an hour. */
  baselines: { tokens: 4000, seconds: 900 },

  start({ task }): Review {
    return {
      change: generateChange(task.split, taskRng(task, TRAIN_CHANGES)),
      ...{ open: null, read: new Set(), comments: new Map() },
      ...{ testRuns: 0, testsPassed: undefined, covered: undefined, auditClean: undefined, timedOut: false },
      verdict: null,
    }
  },

  tools: {
    open: tool({
      description: 'Read the hunk of a file',
      parameters: { file: pointer('files') },
      cost: { tokens: 150, seconds: 8 },
      allowed: ({ change, read }: Review) => ({
        file: change.files.flatMap(({ name }) => (read.has(name) ? [] : [name])),
      }),
      run(review: Review, { file }) {
        review.timedOut = false
        review.open = review.change.files.find(({ name }) => name === file) ?? null
        review.read.add(file)
        return { right: review.open?.content === 'source' }
      },
    }),
    comment: tool({
      description: 'Comment on the open hunk with the kind of its fault',
      parameters: { kind: choice(kinds) },
      cost: { tokens: 80, seconds: 5 },
      run: comment,
    }),
    mark_viewed: {
      description: 'Leave the open hunk without a comment',
      cost: { tokens: 10, seconds: 1 },
      run: markViewed,
    },
    run_tests: {
      description: 'Run the tests and measure whether they run the change. May fail without a fault, or time out',
      run(review) {
        const right = areTestsDue(review)
        review.timedOut = fails(review.change.timeouts, 'run_tests')
        if (review.timedOut) return { right, tokens: 20, seconds: 120 }
        review.testRuns += 1
        review.testsPassed = review.change.testsPass && !fails(review.change.flaky, 'run_tests')
        review.covered = review.change.covered
        return { right, tokens: 60, seconds: 60 }
      },
    },
    audit_dependencies: {
      description: 'Look the dependencies up in the list of known vulnerabilities. May time out',
      run(review) {
        const right = isAuditDue(review)
        review.timedOut = fails(review.change.timeouts, 'audit_dependencies')
        if (!review.timedOut) review.auditClean = !review.change.vulnerable
        return { right, tokens: 40, seconds: review.timedOut ? 40 : 15 }
      },
    },
    approve: {
      description: 'Approve the change, which is then merged',
      cost: { tokens: 40, seconds: 3 },
      run: (review) => decide(review, 'approve'),
    },
    request_changes: {
      description: 'Send the change back to its author',
      cost: { tokens: 80, seconds: 5 },
      run: (review) => decide(review, 'request_changes'),
    },
  },

  observe({ change, open, read, comments, testRuns, testsPassed, covered, auditClean, timedOut }, { step }) {
    const made = [...comments.values()]
    return {
      before: open?.hunk.before ?? '',
      after: open?.hunk.after ?? '',
      files: change.files.map(({ name, content }) => ({
        id: name,
        features: [...contents.map((each) => each === content), read.has(name), comments.has(name)].map(Number),
      })),
      facts: [
        Number(open !== null),
        Number(change.majorVersion),
        testRuns / TEST_RUNS,
        answer(testsPassed),
        answer(covered),
        answer(auditClean),
        Number(timedOut),
        step / MAX_CALLS,
      ],
      comments: kinds.map((kind) => made.filter((each) => each === kind).length / FILES),
    }
  },

  available({ change, open, testsPassed, auditClean }) {
    if (open !== null) return ['comment', 'mark_viewed']
    return [
      ...(['open', 'approve', 'request_changes'] as const),
      ...(testsPassed === true ? [] : (['run_tests'] as const)),
      ...(auditClean === undefined && hasDependencies(change) ? (['audit_dependencies'] as const) : []),
    ]
  },

  rules: (observation, { available }) => rulesFor(observation, available),

  oracle(review, { rng }) {
    const { change, open, read } = review
    if (open !== null)
      return open.fault === null ? { tool: 'mark_viewed' } : { tool: 'comment', arguments: { kind: open.fault } }
    const unread = change.files.flatMap(({ name, content }) => (content === 'source' && !read.has(name) ? [name] : []))
    if (unread.length > 0) return { tool: 'open', arguments: { file: rng.pick(unread) } }
    if (areTestsDue(review)) return { tool: 'run_tests' }
    if (isAuditDue(review)) return { tool: 'audit_dependencies' }
    return { tool: dueVerdict(change) }
  },

  outcome(review) {
    if (review.verdict === null) return -1
    if (review.verdict !== dueVerdict(review.change)) return -2
    return isComplete(review) ? 4 : 0
  },

  metrics({ change, verdict, comments }) {
    const faulty = change.files.filter(({ fault }) => fault !== null)
    const found = faulty.filter(({ name, fault }) => comments.get(name) === fault).length
    const due = dueVerdict(change)
    const badApproval = verdict === 'approve' && due !== 'approve'
    const needlessBlock = verdict === 'request_changes' && due === 'approve'
    return {
      found: faulty.length === 0 ? 1 : found / faulty.length,
      false_comments: comments.size - found,
      bad_approval: badApproval ? 1 : 0,
      needless_block: needlessBlock ? 1 : 0,
      harmless: badApproval || needlessBlock ? 0 : 1,
    }
  },

  render: drawReview,
})

function comment(review: Review, { kind }: { kind: Kind }) {
  const { open, comments } = review
  if (open === null) return {}
  review.open = null
  comments.set(open.name, kind)
  if (open.fault === kind) return { right: true, reward: 0.2 }
  // The right place with a wrong kind still leads the author to the fault.
  return { right: false, reward: open.fault === null ? -0.2 : 0.3 }
}

function markViewed(review: Review) {
  const { open } = review
  review.open = null
  // Files that need not be read pay nothing.
  if (open?.content !== 'source') return {}
  return open.fault === null ? { right: true, reward: 0.2 } : { right: false, reward: -0.2 }
}

function decide(review: Review, verdict: Verdict) {
  review.verdict = verdict
  return { done: true }
}

const words: Readonly<Record<string, number>> = {
  ...{
    true: 1,
    yes: 1,
    pass: 1,
    passed: 1,
    success: 1,
    solved: 1,
    resolved: 1,
    correct: 1,
    good: 1,
    positive: 1,
    up: 1,
  },
  ...{
    false: 0,
    no: 0,
    fail: 0,
    failed: 0,
    failure: 0,
    unsolved: 0,
    unresolved: 0,
    incorrect: 0,
    bad: 0,
    negative: 0,
    down: 0,
  },
}

/** An outcome as a number: yes is 1 and no is 0, in the usual words for them. Null for anything else. */
export function scoreOf(value: unknown): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string') return null
  return words[value.trim().toLowerCase()] ?? null
}

/** Names under which logs usually keep whether a request was solved, the first that a log has. */
export const usualOutcomes = [
  ...[
    'solved',
    'resolved',
    'success',
    'outcome',
    'correct',
    'correctness',
    'score',
    'reward',
    'user_feedback',
    'feedback',
    'thumbs',
  ],
] as const

/** What release notes and test results say. */
import { fillIn, type Rng } from '@agentgym/scenario'
import type { Input, Outcome, Screen } from './application.ts'

type Split = 'train' | 'eval'

/** Names of screens, as people call them. */
const places: Record<Screen, readonly string[]> = {
  sign_in: ['sign-in page', 'login form', 'password screen', 'login dialog'],
  search: ['search page', 'product search', 'search box', 'catalog search'],
  basket: ['basket', 'shopping cart', 'cart page', 'shopping basket'],
  payment: ['payment page', 'checkout', 'card payment', 'checkout form'],
  profile: ['profile page', 'account settings', 'user profile', 'settings screen'],
}

/** Changes, by the inputs that test them. */
const changes: Record<Input, readonly string[]> = {
  typical: ['new layout', 'fresh design', 'reworded labels', 'larger buttons'],
  limit: ['higher maximum', 'raised limit', 'longer maximum length', 'changed upper limit'],
  invalid: ['stricter validation', 'new error messages', 'checks of wrong entries', 'validation of bad input'],
  twice: [
    'faster double clicks',
    'safe repeated requests',
    'protection against double submission',
    'idempotent retries',
  ],
}

const frames: Record<Split, readonly string[]> = {
  train: [
    'The {place} now has {change}.',
    'We shipped {change} for the {place}.',
    '{change} on the {place}',
    'Improved: {place}, {change}.',
    'This release brings {change} to the {place}.',
  ],
  eval: [
    'The {place} has {change} with this release.',
    'Now on the {place}: {change}.',
    'We improved the {place} with {change}.',
  ],
}

/** A release note. Evaluation has other sentences than training. */
export function writeNote(screen: Screen, input: Input, split: Split, rng: Rng): string {
  return fillIn(rng.pick(frames[split]), { place: places[screen], change: changes[input] }, rng)
}

/** What a tester sees after a test, compared with the specification. */
export function describeOutcome(actual: Outcome, expected: Outcome, rng: Rng): string {
  const begin = rng.pick(['', 'Result: ', 'What it did: ', 'After the test: '])
  return begin + rng.pick(outcomes[nameOf(actual, expected)])
}

function nameOf({ answer, stored, intact }: Outcome, expected: Outcome): keyof typeof outcomes {
  if (answer === 'crashed') return 'crashed'
  if (answer !== expected.answer) return answer === 'refused' ? 'wronglyRefused' : 'wronglyAccepted'
  if (!intact) return 'lost'
  if (stored > expected.stored) return 'twice'
  return answer === 'refused' ? 'rightlyRefused' : 'rightlyAccepted'
}

const outcomes = {
  crashed: ['the page crashed with error 500.', 'error 500, the server crashed.'],
  lost: ['the record is empty.', 'saved, but the record is empty.'],
  wronglyRefused: ['the highest value was refused.', 'refused, although the value is allowed.'],
  wronglyAccepted: ['the wrong entry was saved.', 'saved, although the entry is wrong.'],
  twice: ['the record was saved twice.', 'saved twice, there are two records.'],
  rightlyRefused: ['refused with a message, as specified.'],
  rightlyAccepted: ['saved, as specified.'],
} as const

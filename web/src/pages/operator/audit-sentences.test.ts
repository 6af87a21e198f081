import { expect, it } from 'vitest'
import { auditSentence } from './audit-sentences.ts'

it('reads as a sentence after the name of the actor', () => {
  const said = (action: string, subject: string, data: Record<string, unknown> = {}) =>
    auditSentence({ action, subject, data })
  expect(said('package.take_down', '@acme/maze', { reason: 'Copied.', for_all: true })).toEqual({
    sentence: 'took @acme/maze down, for its buyers too',
    reason: 'Copied.',
  })
  expect(said('member.put', 'account:acme', { member: 'ann', role: 'admin' }).sentence).toBe('made ann admin of acme')
  expect(said('token.create', 'token:1', { name: 'ci', scopes: ['worker'] }).sentence).toContain('“ci” (worker)')
  expect(said('run.make_public', 'run:1').sentence).toBe('made run 1 public')
  expect(said('package.deprecate', '@acme/maze@1.0.0', { message: '' }).sentence).toContain('removed the deprecation')
  expect(said('something.new', 'thing:1').sentence).toBe('something new: 1')
  // Data that an older release wrote differently.
  expect(said('token.create', 'token:1', { scopes: 7 }).sentence).toBe('created the token “” ()')
})

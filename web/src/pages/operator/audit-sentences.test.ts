import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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
  expect(said('something.new', 'thing:1').sentence).toBe('something new: 1')
  // Data that an older release wrote differently.
  expect(said('token.create', 'token:1', { scopes: 7 }).sentence).toBe('created the token “” ()')
})

it('every action that the registry records has a sentence', () => {
  const root = join(import.meta.dirname, '../../../../registry/src')
  const sources = globSync('**/*.ts', { cwd: root }).filter((path) => !path.includes('test'))
  const actions = new Set(
    sources.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\baction: '([a-z-]+\.[a-z_-]+)'/g)].map(
        ([, action]) => action,
      ),
    ),
  )
  // Of idempotency keys, not of the audit log.
  const others = new Set(['top-up.request'])
  const unknown = [...actions].filter(
    (action) =>
      !others.has(action) &&
      auditSentence({ action, subject: 'x', data: {} }).sentence.startsWith(action.replaceAll(/[._-]/g, ' ')),
  )
  expect(actions.size).toBeGreaterThan(50)
  expect(unknown).toEqual([])
})

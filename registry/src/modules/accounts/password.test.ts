import type { AgentGymError } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { hashPassword, verifyPassword } from './log-in.ts'

it('hashes with Argon2id at the cost that OWASP asks for, salted', async () => {
  const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(first).not.toBe(second)
  expect(await verifyPassword(first, 'correct horse')).toBe(true)
  expect(await verifyPassword(first, 'correct horsf')).toBe(false)
})

it('takes a letter with an accent for the same, however the keyboard composes it', async () => {
  const stored = await hashPassword('caf\u00e9 caf\u00e9')
  expect(await verifyPassword(stored, 'cafe\u0301 cafe\u0301')).toBe(true)
})

it('has no password for those who have none', async () => {
  expect(await verifyPassword(null, 'anything at all')).toBe(false)
})

it('does not take the beginning of a long password for the password', async () => {
  const stored = await hashPassword('x'.repeat(200))
  expect(await verifyPassword(stored, 'x'.repeat(200))).toBe(true)
  expect(await verifyPassword(stored, 'x'.repeat(201))).toBe(false)
})

it('sends away whom it has no room for, and serves all others', async () => {
  const stored = await hashPassword('correct horse')
  const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => verifyPassword(stored, 'correct horse')))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused).toHaveLength(80 - 66)
  for (const { reason } of refused) expect((reason as AgentGymError).code).toBe('rate_limited')
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value)).toHaveLength(66)
  expect(await verifyPassword(stored, 'correct horse')).toBe(true)
})

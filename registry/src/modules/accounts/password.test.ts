import type { AgentGymError } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { hashPassword, verifyPassword } from './log-in.ts'

it("hashes with salted Argon2id at OWASP's recommended cost", async () => {
  const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(first).not.toBe(second)
  expect(await verifyPassword(first, 'correct horse')).toBe(true)
  expect(await verifyPassword(first, 'correct horsf')).toBe(false)
})

it('normalizes composed and decomposed accents', async () => {
  const stored = await hashPassword('caf\u00e9 caf\u00e9')
  expect(await verifyPassword(stored, 'cafe\u0301 cafe\u0301')).toBe(true)
})

it('never accepts a password for accounts without one', async () => {
  expect(await verifyPassword(null, 'anything at all')).toBe(false)
})

it('does not truncate long passwords', async () => {
  const stored = await hashPassword('x'.repeat(200))
  expect(await verifyPassword(stored, 'x'.repeat(200))).toBe(true)
  expect(await verifyPassword(stored, 'x'.repeat(201))).toBe(false)
})

it('refuses logins beyond its capacity, and serves the others', async () => {
  const stored = await hashPassword('correct horse')
  const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => verifyPassword(stored, 'correct horse')))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused).toHaveLength(80 - 66)
  for (const { reason } of refused) expect((reason as AgentGymError).code).toBe('rate_limited')
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value)).toHaveLength(66)
  expect(await verifyPassword(stored, 'correct horse')).toBe(true)
})

import { balanceSchema, type Order, orderListSchema } from '@agentgym/contract'
import { expect } from 'vitest'
import type { Person } from './registry-people.ts'

/** What the command prints last under `--json`; throws where it fails. */
export async function done(person: Person, words: string[], environment?: Record<string, string>): Promise<unknown> {
  const { status, lines, stdout, stderr } = await person.run([...words, '--json'], environment)
  if (status !== 0) throw new Error(`agentgym ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return lines.at(-1)
}

/** What people read. */
export async function told(person: Person, words: string[]): Promise<string> {
  const { status, stdout, stderr } = await person.run(words)
  expect(status, stderr).toBe(0)
  return stdout
}

export async function refusal(person: Person, words: string[], environment?: Record<string, string>) {
  const { status, lines } = await person.run([...words, '--json'], environment)
  const { error } = lines.at(-1) as { error?: { code: string; hint?: string } }
  return { status, code: error?.code, hint: error?.hint }
}

export async function available(person: Person, ...words: string[]): Promise<number> {
  return balanceSchema.parse(await done(person, ['balance', ...words])).available_minor
}

export async function newestOrder(person: Person, ...words: string[]): Promise<Order> {
  return orderListSchema.parse(await done(person, ['orders', ...words])).orders[0]
}

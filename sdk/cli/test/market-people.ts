import { type Order, orderListSchema } from '@agentgym/contract'
import { expect } from 'vitest'
import { listOrders, readBalance } from '../src/market/market-api.ts'
import type { Person } from './registry-people.ts'

/** What the command prints last under `--json`; throws where it fails. */
export async function done(person: Person, words: string[], environment?: Record<string, string>): Promise<unknown> {
  const { status, lines, stdout, stderr } = await person.run([...words, '--json'], environment)
  if (status !== 0) throw new Error(`agentgym ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return lines.at(-1)
}

/** What people read. */
export async function output(person: Person, words: string[]): Promise<string> {
  const { status, stdout, stderr } = await person.run(words)
  expect(status, stderr).toBe(0)
  return stdout
}

export async function refusal(person: Person, words: string[], environment?: Record<string, string>) {
  const { status, lines } = await person.run([...words, '--json'], environment)
  const { error } = lines.at(-1) as { error?: { code: string; hint?: string } }
  return { status, code: error?.code, hint: error?.hint }
}

/** Asked of the server: often, so that a command each would be dear. */
export async function available(person: Person): Promise<number> {
  return (await readBalance(person.connection())).available_minor
}

export async function newestOrder(person: Person): Promise<Order> {
  return (await listOrders(person.connection(), { limit: 1 })).orders[0]
}

/** The same, as the command tells it. */
export async function listedOrder(person: Person, ...words: string[]): Promise<Order> {
  return orderListSchema.parse(await done(person, ['orders', ...words])).orders[0]
}

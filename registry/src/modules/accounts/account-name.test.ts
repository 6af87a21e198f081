import { AgentGymError } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { checkUsername } from './account-name.ts'

const codeOf = (username: string, operator = false): string | undefined => {
  try {
    checkUsername(username, { operator })
  } catch (error) {
    if (error instanceof AgentGymError) return error.code
    throw error
  }
}

describe('checkUsername', () => {
  it.each(['t', 'acme', 'jane-doe', 'a_b', 'a.b', '9lives', 'x'.repeat(39)])('takes %s', (username) => {
    expect(codeOf(username)).toBeUndefined()
  })

  it.each([
    ...['', 'Acme', 'a b', '-a', 'a-', '.a', '_a', 'a--b', 'a..b', '@acme', 'a/b', 'a%2fb', 'ac\u200bme', 'аcme'],
    ...['x'.repeat(40), 'api', 'ap1', 'me', 'node_modules', 'node-modules', 'constructor', '__proto__', 'null'],
  ])('refuses %j', (username) => {
    expect(codeOf(username)).toBe('name_invalid')
    expect(codeOf(username, true)).toBe('name_invalid')
  })

  it.each(['agentgym', 'agent-gym', 'admin', 'adm1n', 'r00t'])('keeps %s for operators', (username) => {
    expect(codeOf(username)).toBe('name_invalid')
    expect(codeOf(username, true)).toBeUndefined()
  })
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SpaceDescription } from '../space-description.ts'
import { askedOf, type McpAgent, mcpDecision, mcpToolName, mcpTools, readMcpArguments } from './mcp-tools.ts'

const action: SpaceDescription = { type: 'discrete', n: 3, start: 0, labels: ['refund', 'close', 'wait'] }
const observation: SpaceDescription = {
  type: 'dict',
  entries: [{ name: 'risk', space: { type: 'box', shape: [2], low: [0, 0], high: [1, null] } }],
}
const agent: McpAgent = { name: '@acme/desk', model: '@acme/desk@1.0.0', observation, action, remembers: false }

it('names of tools are what model APIs take, and no two agents share one (B37)', () => {
  const scoped = fc.stringMatching(/^@[a-z0-9._-]{1,30}\/[a-z0-9._-]{1,60}$/)
  const names = fc.uniqueArray(fc.oneof(scoped, fc.string({ maxLength: 90 })), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(names, (given) => {
      const tools = given.flatMap((name) => [mcpToolName('start_episode', name), mcpToolName('act', name)])
      expect(new Set(tools).size).toBe(2 * given.length)
      for (const name of tools) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    }),
  )
  expect(mcpToolName('decide', '@acme/maze-v2')).toBe('decide-acme_maze-v2')
})

it('a tool says what it takes, and what an agent that needs a mask needs', () => {
  const [decide] = mcpTools(agent)
  expect(decide.inputSchema).toMatchObject({
    properties: {
      observation: {
        properties: { risk: { type: 'array', items: { type: 'number', minimum: 0 }, minItems: 2, maxItems: 2 } },
        required: ['risk'],
      },
      choices: { items: { enum: ['refund', 'close', 'wait'] } },
      mask: { type: 'array', items: { type: 'boolean' }, minItems: 3, maxItems: 3 },
    },
    required: ['observation'],
  })
  const unnamed: McpAgent = { ...agent, action: { type: 'discrete', n: 3, start: 0 }, mask_required: true }
  expect(mcpTools(unnamed)[0].inputSchema).toMatchObject({ required: ['observation', 'mask'] })
})

it('arguments that clients leave out, or send as nothing, are an empty object (B35)', () => {
  const [start] = mcpTools({ ...agent, remembers: true })
  for (const nothing of [undefined, null, '', {}]) expect(readMcpArguments(start, nothing)).toEqual({})
  expect(() => readMcpArguments(start, [])).toThrow('takes an object')
  expect(() => readMcpArguments(start, { seed: 1 })).toThrow('takes no arguments')
})

it('choices become a mask, and the answer has the word and its probability', () => {
  const asked = askedOf({ observation: { risk: [0, 1] }, choices: ['wait'], mask: '' }, agent)
  expect(asked).toEqual({ observation: { risk: [0, 1] }, mask: [false, false, true] })
  const answer = { action: 1, label: 'close', probabilities: [0.25, 0.5, 0.25] }
  expect(mcpDecision(answer, agent)).toMatchObject({ choice: 'close', probability: 0.5, arguments: null, action: 1 })
})

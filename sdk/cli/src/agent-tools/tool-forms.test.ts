import { tool as aiTool, asSchema } from 'ai'
import { tool as langchainTool } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MAX_TOOLS, readToolForms } from './tool-forms.ts'

const parameters = { type: 'object', properties: { team: { type: 'string', enum: ['billing', 'support'] } } }
const read = { name: 'escalate', description: 'Hand over', schema: parameters, readOnly: null }

describe('forms', () => {
  it.each([
    ['OpenAI chat', { type: 'function', function: { name: 'escalate', description: 'Hand over', parameters } }],
    ['OpenAI responses', { type: 'function', name: 'escalate', description: 'Hand over', parameters, strict: true }],
    ['MCP', { name: 'escalate', description: 'Hand over', inputSchema: parameters }],
    [
      'the AI SDK for a provider',
      { type: 'function', name: 'escalate', description: 'Hand over', inputSchema: parameters },
    ],
    ['LangChain', { name: 'escalate', description: 'Hand over', schema: parameters }],
    ['LangChain for Python', { name: 'escalate', description: 'Hand over', args_schema: parameters }],
    [
      'LangChain for Python, arguments alone',
      { name: 'escalate', description: 'Hand over', args: parameters.properties },
    ],
    ['Anthropic', { name: 'escalate', description: 'Hand over', input_schema: parameters }],
  ])('%s', (_, form) => {
    for (const value of [[form], { tools: [form] }, { jsonrpc: '2.0', id: 1, result: { tools: [form] } }])
      expect(readToolForms(value, 'x')).toEqual([read])
  })

  it('of the AI SDK by name, as its own package writes them', () => {
    const inputSchema = z.object({ team: z.enum(['billing', 'support']) })
    const tools = { escalate: aiTool({ description: 'Hand over', inputSchema }) }
    const written = Object.fromEntries(
      Object.entries(tools).map(([name, { description, inputSchema }]) => [
        name,
        { description, inputSchema: asSchema(inputSchema).jsonSchema },
      ]),
    )
    expect(readToolForms(JSON.parse(JSON.stringify(written)), 'x')).toMatchObject([
      { name: 'escalate', description: 'Hand over', schema: { properties: parameters.properties } },
    ])
  })

  it('of LangChain, as its own package writes them', () => {
    const tool = langchainTool(() => 'done', {
      name: 'escalate',
      description: 'Hand over',
      schema: z.object({ team: z.enum(['billing', 'support']) }),
    })
    const { name, description } = tool
    const written = [{ name, description, schema: z.toJSONSchema(tool.schema as z.ZodType) }]
    expect(readToolForms(JSON.parse(JSON.stringify(written)), 'x')).toMatchObject([
      { name: 'escalate', schema: { properties: parameters.properties } },
    ])
  })

  it('a tool without parameters', () => {
    expect(readToolForms([{ type: 'function', name: 'stop' }], 'x')).toEqual([
      { name: 'stop', description: '', schema: null, readOnly: null },
    ])
  })
})

it.each([
  ['nothing', [], /has no tools/],
  ['a number', 7, /has no tools/],
  ['an entry that is no tool', [{ type: 'function', function: {} }], /^Entry 1 of x is not a tool/],
  [
    'a named entry without a schema',
    { good: { parameters }, bad: { hello: 1 } },
    /^Entry 2 of x \("bad"\) is not a tool/,
  ],
  ['too many', Array.from({ length: MAX_TOOLS + 1 }, () => ({ name: 'a', parameters })), /at most 128/],
])('%s is refused', (_, value, message) => {
  expect(() => readToolForms(value, 'x')).toThrow(
    expect.objectContaining({ code: 'tools_invalid', message: expect.stringMatching(message) }),
  )
})

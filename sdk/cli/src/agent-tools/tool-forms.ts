import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'

/** A tool as an agent declares it to a language model. */
export type ToolDeclaration = {
  name: string
  description: string
  /** JSON schema of the arguments; null for a tool without any. */
  schema: unknown
  /** Whether the tool only reads, as an MCP server says; null if it does not say. */
  readOnly: boolean | null
}

/** More than a policy can sensibly choose from; providers of models refuse more as well. */
export const MAX_TOOLS = 128

const named = { name: z.string().min(1).max(1_000), description: z.string().nullish() }
const record = z.record(z.string(), z.unknown())

/** One reader a form, tried in this order. Unknown fields are allowed: frameworks add their own. */
const forms = [
  // OpenAI chat completions; LangChain's convertToOpenAITool writes it, too.
  z
    .looseObject({ type: z.literal('function'), function: z.looseObject({ ...named, parameters: record.nullish() }) })
    .transform(({ function: tool }) => declare(tool, tool.parameters)),
  // MCP, and the AI SDK's tools as a provider gets them.
  z
    .looseObject({
      ...named,
      inputSchema: record,
      annotations: z.looseObject({ readOnlyHint: z.boolean().optional() }).nullish(),
    })
    .transform((tool) => declare(tool, unwrapSchema(tool.inputSchema), tool.annotations?.readOnlyHint ?? null)),
  // OpenAI responses.
  z.looseObject({ ...named, parameters: record }).transform((tool) => declare(tool, unwrapSchema(tool.parameters))),
  // LangChain's structured tools, in JavaScript and Python.
  z.looseObject({ ...named, schema: record }).transform((tool) => declare(tool, tool.schema)),
  z.looseObject({ ...named, args_schema: record }).transform((tool) => declare(tool, tool.args_schema)),
  z
    .looseObject({ ...named, args: record })
    .transform((tool) => declare(tool, { type: 'object', properties: tool.args })),
  // Anthropic.
  z.looseObject({ ...named, input_schema: record }).transform((tool) => declare(tool, tool.input_schema)),
  // OpenAI without parameters.
  z.looseObject({ ...named, type: z.literal('function') }).transform((tool) => declare(tool, null)),
]

type Named = { name: string; description?: string | null }

function declare({ name, description }: Named, schema: unknown, readOnly: boolean | null = null): ToolDeclaration {
  return { name, description: description ?? '', schema: schema ?? null, readOnly }
}

/** The AI SDK's `jsonSchema()` keeps the schema in a field of its own. */
function unwrapSchema(schema: Record<string, unknown>): unknown {
  return schema.jsonSchema ?? schema
}

/**
 * Reads the tools of an agent: a list, an object with `tools` (a request to a model, what an MCP server answers), or tools by
 * their names (the AI SDK). Throws `tools_invalid`, which names the entry.
 */
export function readToolForms(value: unknown, from: string): ToolDeclaration[] {
  const entries = toolEntries(value)
  if (entries === null || entries.length === 0) {
    throw new AgentGymError({
      code: 'tools_invalid',
      message: `${from} has no tools`,
      hint: 'Give a JSON list of tools as LangChain, the AI SDK, OpenAI or MCP declare them, or an object with the field "tools".',
      data: { from },
    })
  }
  if (entries.length > MAX_TOOLS) {
    throw new AgentGymError({
      code: 'tools_invalid',
      message: `${from} has ${entries.length} tools, and at most ${MAX_TOOLS} can be read`,
      hint: 'Keep the tools that the agent should choose from.',
      data: { from, tools: entries.length },
    })
  }
  return entries.map((entry, index) => readEntry(entry, index, from))
}

function readEntry(entry: unknown, index: number, from: string): ToolDeclaration {
  for (const form of forms) {
    const parsed = form.safeParse(entry)
    if (parsed.success) return parsed.data
  }
  const { name } = z.object({ name: z.string() }).catch({ name: '' }).parse(entry)
  throw new AgentGymError({
    code: 'tools_invalid',
    message: `Entry ${index + 1} of ${from}${name === '' ? '' : ` (${JSON.stringify(name.slice(0, 100))})`} is not a tool`,
    hint: 'A tool has a name and a JSON schema of its arguments: "parameters" (OpenAI), "inputSchema" (MCP, AI SDK) or "schema" (LangChain).',
    data: { from, entry: index },
  })
}

/** The list of tools in what was given; null where there is none. */
function toolEntries(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  const object = record.safeParse(value)
  if (!object.success) return null
  const { tools, result } = object.data
  // The answer to `tools/list` as JSON-RPC wraps it.
  if (tools === undefined && result !== undefined) return toolEntries(result)
  if (tools !== undefined) return toolEntries(tools)
  const byName = Object.entries(object.data)
  const sets = byName.map(([name, tool]) => {
    const fields = record.safeParse(tool)
    if (!fields.success) return null
    return { ...fields.data, name: typeof fields.data.name === 'string' ? fields.data.name : name }
  })
  return sets.includes(null) ? null : sets
}

import type { JsonSchema } from '../space-schema.ts'
import { isOmitted } from './mcp-tools.ts'

/** What a server of agents says of itself to clients, which may tell it to language models. */
export const mcpInstructions =
  'Trained agents that choose the next action. Send them what is observed in the form of the tool’s schema, and do what they answer.'

/** A call of a tool without arguments, in the form that the protocol has for it: several clients send "" or null. */
export function withArguments(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(withArguments)
  const { method, params } = Object(message)
  if (method !== 'tools/call' || typeof params !== 'object' || params === null) return message
  return isOmitted(params.arguments) ? { ...Object(message), params: { ...params, arguments: {} } } : message
}

/** The result of a tool as an object for programs and, for clients without structured results, as text. */
export function mcpResult(structuredContent: Record<string, unknown>) {
  return { structuredContent, content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }] }
}

/**
 * A JSON Schema in the form of standardschema.dev that SDKs of MCP take. It refuses nothing: arguments are read by
 * `readMcpArguments` and by the agent's own encoders, which name what is wrong.
 */
export function standardSchema(schema: JsonSchema) {
  const validate = (value: unknown) => ({ value })
  const jsonSchema = { input: () => schema, output: () => schema }
  return { '~standard': { version: 1 as const, vendor: 'agentgym', validate, jsonSchema } }
}

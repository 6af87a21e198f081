import { AgentGymError, parseJson } from '@agentgym/contract'
import type { Context } from 'hono'
import type { z } from 'zod'

/**
 * The JSON body of a request; an empty one is an object without fields. The server limits its size before. Throws
 * `request_invalid` for what is not JSON.
 */
export async function readBody(c: Context): Promise<unknown> {
  const text = await c.req.text()
  const body = text === '' ? {} : parseJson(text)
  if (body !== undefined) return body
  throw new AgentGymError({
    code: 'request_invalid',
    message: 'The body is not valid JSON.',
    data: { field: 'body' },
  })
}

/** As `readBody`, in the form of a schema. Throws `request_invalid`, which names the field. */
export async function readRequest<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  return readFields(await readBody(c), schema)
}

/** A value of a client's in the form of a schema. Throws `request_invalid`, which names the field, or `whole`. */
export function readFields<Schema extends z.ZodType>(value: unknown, schema: Schema, whole = 'body'): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalidField(issue.path.map(String).join('.') || whole, issue.message)
}

export function invalidField(field: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `The field "${field}" is invalid: ${why}.`,
    data: { field },
  })
}

import { AgentGymError } from '@agentgym/contract'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { z } from 'zod'
import type { Env } from './env.ts'

/**
 * An app for one room's routes. What does not match a route's schema is thrown as `request_invalid`; the server turns
 * that, as every AgentGymError, into an answer.
 */
export function createRoutes(): OpenAPIHono<Env> {
  return new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw requestInvalid(result.error, result.target)
    },
  })
}

/** The content of a body that is JSON, for a route's description. */
export const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': { schema } })

/** `request_invalid`, naming the first field that is wrong and listing all of them. */
export function requestInvalid(error: z.core.$ZodError, target: string): AgentGymError {
  const fields = error.issues.flatMap(fieldsOf)
  const [{ field, message }] = fields
  const where =
    field === '' ? `The ${places[target] ?? target}` : `The field "${field}" of the ${places[target] ?? target}`
  return new AgentGymError({
    code: 'request_invalid',
    message: `${where} is invalid: ${message}.`,
    data: { field, in: target, fields },
  })
}

const places: Record<string, string> = {
  json: 'body',
  form: 'form',
  query: 'query',
  param: 'path',
  header: 'headers',
  cookie: 'cookies',
}

function fieldsOf(issue: z.core.$ZodIssue): { field: string; message: string }[] {
  const parent = issue.path.join('.')
  const message = issue.message.replace(/\.$/, '')
  if (issue.code !== 'unrecognized_keys') return [{ field: parent, message }]
  return issue.keys.map((key) => ({
    field: parent === '' ? key : `${parent}.${key}`,
    message: 'there is no such field',
  }))
}

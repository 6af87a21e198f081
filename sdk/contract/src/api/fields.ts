import { z } from 'zod'

/** Single-line text: no control characters, and no lone surrogates, which databases reject. */
export const line = (schema: z.ZodString) =>
  schema.refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must not contain control characters')

/** Multi-line text. No bidirectional control characters either, which could disguise the text around them. */
export const lines = (schema: z.ZodString) =>
  schema.refine(
    (text) =>
      text.isWellFormed() && !/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(text.replaceAll('\r\n', '\n')),
    'must not contain control characters',
  )

/** The account that a request acts for. */
export const accountField = line(z.string().max(100))
  .optional()
  .describe('Act for this organization. Default: your own account.')

/** Query fields of every paginated list. */
export const pageFields = {
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(200).optional(),
}

/** Deeper than any space, and shallow enough to walk recursively. */
const deepest = 64

type JsonValue = z.core.util.JSONType

/**
 * Any JSON, nested at most 64 deep. `z.json()` validates recursively, which a small hostile body can overflow, and has no
 * finite JSON schema.
 */
export const jsonValue = z
  .unknown()
  .refine(isJson, `must be JSON, nested at most ${deepest} deep`) as unknown as z.ZodType<JsonValue, JsonValue>

function isJson(value: unknown): boolean {
  const left: { value: unknown; depth: number }[] = [{ value, depth: 1 }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next
    if (value === null || typeof value === 'string' || typeof value === 'boolean') continue
    if (typeof value === 'number' ? !Number.isFinite(value) : typeof value !== 'object' || depth > deepest) return false
    if (typeof value === 'object') for (const part of Object.values(value)) left.push({ value: part, depth: depth + 1 })
  }
  return true
}

/**
 * What stands between a job and its worker's machine, beside the isolate: a file system of its own with the few folders
 * that it reads, process, network and IPC namespaces of its own, a filter of system calls, no privileges to gain, and a
 * limit on processes and threads.
 */
export const wallSchema = z.enum(['file-system', 'processes', 'network', 'system-calls', 'privileges', 'task-limit'])
export type Wall = z.infer<typeof wallSchema>

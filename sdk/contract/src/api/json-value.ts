import { z } from 'zod'

/** Deeper than any space: what walks a value may do so by recursion. */
const deepest = 64

type JsonValue = z.core.util.JSONType

/**
 * Any JSON, nested at most 64 deep. `z.json()` itself walks by recursion, which a small hostile body overflows, and is endless
 * to whoever describes it.
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

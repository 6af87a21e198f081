import { createHash } from 'node:crypto'

/** SHA-256 (hex) of a request, the same in whatever order its fields came. */
export function requestHash(request: Record<string, unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered(request)))
    .digest('hex')
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  // As pairs: an object would put keys that look like numbers first, and lose `__proto__`.
  return Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, ordered(part)])
}

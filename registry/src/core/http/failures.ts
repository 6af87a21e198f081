import { type ErrorCode, errorCatalogue, errorResponseSchema } from '@agentgym/contract'

type DocumentedFailure = {
  description: string
  content: { 'application/json': { schema: typeof errorResponseSchema } }
}

/**
 * The answers of a route that are not a success, for its `responses`: `...failures('package_not_found', 'forbidden')`.
 * Codes of one status become one answer. `request_invalid` and `internal_error` can come from anywhere and are added.
 */
export function failures(...codes: ErrorCode[]): Record<number, DocumentedFailure> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set<ErrorCode>([...codes, 'request_invalid', 'internal_error'])) {
    const { status } = errorCatalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const entries = [...byStatus].map(([status, group]) => [
    status,
    {
      description: group.map((code) => `\`${code}\`: ${errorCatalogue[code].summary}`).join(' '),
      content: { 'application/json': { schema: errorResponseSchema } },
    },
  ])
  return Object.fromEntries(entries)
}

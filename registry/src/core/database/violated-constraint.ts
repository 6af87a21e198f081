/** SQLSTATE of a database error, the same on both drivers; undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/**
 * Name of the constraint or guard trigger that refused a statement (`packages_name_key`, `versions_immutable`), so that
 * a store can report the broken rule to its caller; undefined for anything else.
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!sqlState(error)?.startsWith('23')) return undefined
  const { constraint } = error as { constraint?: unknown }
  return typeof constraint === 'string' ? constraint : undefined
}

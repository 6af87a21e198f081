/** SQLSTATE of a database error, the same on both drivers; undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/**
 * The name of the constraint or of the guarding trigger that refused a statement (`packages_name_key`,
 * `versions_immutable`), so that a store can tell its caller which rule was broken; undefined for anything else.
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!sqlState(error)?.startsWith('23')) return undefined
  const { constraint } = error as { constraint?: unknown }
  return typeof constraint === 'string' ? constraint : undefined
}

import { AgentGymError } from '@agentgym/contract'
import { canonicalName } from '../accounts/index.ts'

export type PackageName = {
  /** `@scope/name`, lower case. */
  full: string
  /** Without `@`: the username of the account that owns it. */
  scope: string
  base: string
  /** Canonical form shared by similar names within a scope; unique. */
  canonical: string
}

/** npm's limit for the whole name. */
const maxLength = 214
const part = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/
/** Names with a special meaning to npm, JavaScript objects or file systems. */
const reserved = new Set(['node_modules', 'favicon.ico', 'constructor', 'prototype', 'package', 'package.json'])

/** Served by every server from its own installation: the library that scenarios import. */
export const builtInName = '@agentgym/scenario'

/** Validates the name to publish under: upper case is refused, not converted. Throws `name_invalid`. */
export function parsePackageName(text: string): PackageName {
  const [, scope, base] = /^@([^/]*)\/([^/]*)$/.exec(text) ?? []
  if (scope === undefined) throw nameInvalid(text, 'it must have the form @scope/name')
  if (text.length > maxLength) throw nameInvalid(text, `it is longer than ${maxLength} characters`)
  if (text !== text.toLowerCase()) throw nameInvalid(text, 'it must be lower-case')
  if (!part.test(scope)) throw nameInvalid(text, 'its scope is not a username')
  if (reserved.has(base)) throw nameInvalid(text, `"${base}" is reserved`)
  if (text === builtInName) throw nameInvalid(text, 'servers serve a package of their own under this name')
  if (!part.test(base)) throw nameInvalid(text, 'it must consist of letters and digits, joined by single . _ or -')
  return { full: text, scope, base, canonical: `@${scope}/${canonicalName(base)}` }
}

/**
 * Normalizes a requested package name. Every casing means the same package, so that upper case cannot bypass visibility
 * rules. Null if no package can have that name, which readers see as a missing package.
 */
export function findablePackageName(text: string): string | null {
  try {
    return parsePackageName(text.toLowerCase()).full
  } catch (error) {
    if (error instanceof AgentGymError) return null
    throw error
  }
}

function nameInvalid(name: string, why: string): AgentGymError {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return new AgentGymError({
    code: 'name_invalid',
    message: `${JSON.stringify(shown)} is not a valid package name: ${why}.`,
    hint: 'For example @acme/cart-pole.',
    data: { field: 'name' },
  })
}

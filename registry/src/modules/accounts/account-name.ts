import { AgentGymError } from '@agentgym/contract'

const maxLength = 39
/** Length limit: a username is also an npm scope, a part of URLs and a folder name. */
const pattern = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/

/** Names that suggest AgentGym itself: for operators only. */
const ofOperators = [
  'agentgym',
  'admin',
  'administrator',
  'official',
  'operator',
  'root',
  'security',
  'staff',
  'support',
]
/** Reserved names: paths of this site, or names with a meaning to npm, JavaScript or readers. */
const ofNobody = [
  ...['about', 'account', 'accounts', 'agents', 'api', 'assets', 'auth', 'blog', 'browse', 'device', 'docs', 'healthz'],
  ...[
    'help',
    'jobs',
    'login',
    'logout',
    'me',
    'metrics',
    'new',
    'npm',
    'orders',
    'organisations',
    'packages',
    'pricing',
  ],
  ...['readyz', 'registry', 'rpc', 'runs', 'scenarios', 'search', 'sessions', 'settings', 'signup', 'static', 'status'],
  ...['terms', 'tokens', 'users', 'www', 'node', 'node_modules', 'verdaccio', 'constructor', 'prototype', 'package'],
  ...['anonymous', 'everyone', 'nobody', 'null', 'undefined', 'system', 'unknown'],
]
// By canonical form, so that adm1n is admin.
const operatorsOnly = new Set(ofOperators.map(canonicalName))
const never = new Set(ofNobody.map(canonicalName))

/** Validates the name of a new user or organization. Throws `name_invalid`. */
export function checkUsername(username: string, { operator }: { operator: boolean }): string {
  const canonical = canonicalName(username)
  if (username.length > maxLength) throw nameInvalid(username, `it is longer than ${maxLength} characters`)
  if (username !== username.toLowerCase()) throw nameInvalid(username, 'it must be lower-case')
  if (!pattern.test(username))
    throw nameInvalid(username, 'it must consist of letters a to z and digits, joined by single - _ or .')
  if (never.has(canonical) || (operatorsOnly.has(canonical) && !operator))
    throw nameInvalid(username, 'it is reserved, or too similar to a reserved name')
  return username
}

/** The name in lower case; null if no account can have it, which saves the lookup. */
export function findableUsername(text: string): string | null {
  const username = text.toLowerCase()
  return username.length <= maxLength && pattern.test(username) ? username : null
}

/** The stored form of an email address; null if no account can have it, as with U+0000, which the database can't store. */
export function findableEmail(text: string): string | null {
  return text.length <= 254 && /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(text) ? text.toLowerCase() : null
}

function nameInvalid(username: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'name_invalid',
    message: `${JSON.stringify(username)} is not a valid username: ${why}.`,
    hint: 'Examples: acme, jane-doe.',
    data: { field: 'username' },
  })
}

/**
 * The form that look-alike names share, after PyPI's `ultranormalize_name`: lower case, without `.`, `_` and `-`; l and
 * i as 1, o as 0. A unique constraint in the database allows one name per canonical form.
 */
export function canonicalName(text: string): string {
  return text.toLowerCase().replace(/[._-]/g, '').replace(/[li]/g, '1').replace(/o/g, '0')
}

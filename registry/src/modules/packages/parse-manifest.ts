import { tarballFailure } from '@agentgym/contract/tarball'

export const maxManifestBytes = 256 * 1024
const maxDepth = 32

/**
 * Parses a package.json so that all readers agree on it: JSON in UTF-8, without duplicate keys or keys that reach an
 * object's prototype. Throws the codes `package_manifest_…`.
 */
export function parseManifest(bytes: Uint8Array): Record<string, unknown> {
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw notJson(error instanceof Error ? error.message : 'it cannot be read', error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notJson('it is not an object')
  checkKeys(text)
  return value as Record<string, unknown>
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw notJson('it is not UTF-8', error)
  }
}

/** JSON.parse silently keeps the last of two equal keys; other parsers keep the first. `text` is valid JSON. */
function checkKeys(text: string): void {
  const objects: (Set<string> | null)[] = []
  let lastText: string | undefined
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') {
      objects.push(token === '{' ? new Set() : null)
      if (objects.length > maxDepth) throw notJson(`it is nested deeper than ${maxDepth} levels`)
    } else if (token === '}' || token === ']') {
      objects.pop()
    } else if (token === ':') {
      addKey(objects.at(-1), JSON.parse(lastText ?? '""'))
    } else {
      lastText = token
      checkText(token)
    }
  }
}

/** PostgreSQL's jsonb supports neither NUL nor unpaired surrogates. */
function checkText(token: string): void {
  if (!token.includes('\\u')) return
  const text: string = JSON.parse(token)
  if (text.includes('\0') || !text.isWellFormed()) throw notJson(`the text ${token.slice(0, 80)} is not Unicode`)
}

function addKey(keys: Set<string> | null | undefined, key: string): void {
  if (key === '__proto__') {
    const message = 'package.json has a key "__proto__".'
    throw tarballFailure('package_manifest_forbidden_key', message, { key }, 'Remove it.')
  }
  if (keys?.has(key)) {
    const message = `package.json has the key ${JSON.stringify(key)} twice in one object.`
    throw tarballFailure('package_manifest_duplicate_key', message, { key }, 'Remove one of the two.')
  }
  keys?.add(key)
}

function notJson(why: string, cause?: unknown): Error {
  const failure = tarballFailure('package_manifest_not_json', `package.json: ${why}.`, {}, 'Correct it and pack again.')
  if (cause !== undefined) failure.cause = cause
  return failure
}

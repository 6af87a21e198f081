/** The target of a request to the npm registry. `name` is as requested, in any casing. */
export type NpmTarget =
  | { kind: 'package'; name: string }
  | { kind: 'version'; name: string; version: string }
  | { kind: 'tarball'; name: string; file: string }
  /** `…/-rev/REV`, which npm uses to unpublish and to change owners. */
  | { kind: 'revision'; name: string; file: string | null }
  | { kind: 'tags'; name: string; tag: string | null }
  /** Everything else below `/-/`, without the slash in front: `-/ping`. */
  | { kind: 'service'; path: string }

/** Requests that Verdaccio answers. */
export type ReadTarget = Extract<NpmTarget, { kind: 'package' | 'version' | 'tarball' }>

/**
 * Parses the path of a request, still percent-encoded and without the mount point. `@scope/name`, `@scope%2fname` and
 * `@scope%2Fname` are one package: npm sends the second, pnpm the third, and proxies turn either into the first. A
 * doubly encoded path is an impossible name. Undefined for paths that no npm client sends.
 */
export function parseNpmPath(path: string): NpmTarget | undefined {
  const segments = decodeSegments(path)
  if (segments === undefined || segments.length === 0) return undefined
  if (segments[0] === '-') {
    if (segments[1] === 'package' && segments[3] === 'dist-tags') return parseTags(segments[2], segments.slice(4))
    return { kind: 'service', path: segments.join('/') }
  }
  const [name, first, ...rest] = segments
  if (first === undefined) return { kind: 'package', name }
  if (first === '-rev') return rest.length === 1 ? { kind: 'revision', name, file: null } : undefined
  if (first !== '-') return rest.length === 0 ? { kind: 'version', name, version: first } : undefined
  if (rest.length === 1) return { kind: 'tarball', name, file: rest[0] }
  return rest.length === 3 && rest[1] === '-rev' ? { kind: 'revision', name, file: rest[0] } : undefined
}

function parseTags(name: string, tags: string[]): NpmTarget | undefined {
  return tags.length > 1 ? undefined : { kind: 'tags', name, tag: tags[0] ?? null }
}

/** Decodes each segment once, and joins scoped names into one segment. */
function decodeSegments(path: string): string[] | undefined {
  const decoded: string[] = []
  for (const segment of path.split('/').slice(1)) {
    const text = decodeOnce(segment)
    if (text === undefined) return undefined
    const previous = decoded.at(-1)
    if (previous !== undefined && isBareScope(previous)) {
      if (text.includes('/')) return undefined
      decoded[decoded.length - 1] = `${previous}/${text}`
    } else if (text.includes('/') && !/^@[^/]+\/[^/]+$/.test(text)) return undefined
    else decoded.push(text)
  }
  return decoded
}

const isBareScope = (segment: string) => segment.startsWith('@') && !segment.includes('/')

/**
 * Rejects segments that no name, version, tag or file can be: empty, `.`, `..`, or with a percent sign, a backslash or
 * a control character.
 */
function decodeOnce(segment: string): string | undefined {
  let text: string
  try {
    text = decodeURIComponent(segment)
  } catch {
    return undefined
  }
  return /^\.{0,2}$|[%\\]|\p{Cc}/u.test(text) ? undefined : text
}

/** The canonical path of a target, as passed to Verdaccio. */
export function canonicalPath(target: ReadTarget): string {
  const name = `/@${target.name.slice(1).split('/').map(encodeURIComponent).join('%2f')}`
  if (target.kind === 'package') return name
  if (target.kind === 'version') return `${name}/${encodeURIComponent(target.version)}`
  return `${name}/-/${encodeURIComponent(target.file)}`
}

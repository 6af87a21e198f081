import { existsSync, readFileSync, statSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { type Manifest, owningPackage, type WorkspacePackage } from './workspace.ts'

export type SyntaxNode = { type: string; start: number; end: number } & Record<string, unknown>
type Parse = (file: string, source: string) => SyntaxNode

export type ReachedFiles = {
  /** JavaScript by the path of its TypeScript below the repository. */
  modules: Map<string, string>
  /** Other files that modules name: styles, vocabularies, data. */
  assets: Set<string>
  /** By name of the workspace's package, the exports in use: `.`, `./engine`. */
  exports: Map<string, Set<string>>
  /** By name of the workspace's package, the packages of the registry that its modules name. */
  installed: Map<string, Set<string>>
}

/**
 * Follows the modules from `entries` through everything that a string in them names: imports, addresses of processes and
 * threads, styles, packages. Tests and what only tests use are never reached. `unfollowed` are imports
 * that stay out.
 */
export function reachFiles(
  root: string,
  entries: readonly string[],
  { packages, unfollowed, parse }: { packages: WorkspacePackage[]; unfollowed: readonly string[]; parse: Parse },
): ReachedFiles {
  const reached: ReachedFiles = { modules: new Map(), assets: new Set(), exports: new Map(), installed: new Map() }
  const waiting = [...entries]
  const seen = new Set(entries)
  const reach = (file: string) => {
    if (!file.endsWith('.ts')) reached.assets.add(file)
    else if (!seen.has(file)) {
      seen.add(file)
      waiting.push(file)
    }
  }
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const source = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'))
    const owner = owningPackage(packages, file)
    const rewritten: { start: number; end: number; text: string }[] = []
    for (const { value, start, end } of stringsOf(parse(file, source))) {
      const beside = fileBeside(root, owner, file, value)
      if (beside !== undefined) {
        reach(beside)
        if (beside.endsWith('.ts')) rewritten.push({ start, end, text: `'${value.replace(/\.ts$/, '.js')}'` })
        continue
      }
      const name = packageName(value)
      if (name === undefined || !Object.hasOwn(owner.manifest.dependencies ?? {}, name)) continue
      const other = packages.find(({ manifest }) => manifest.name === name)
      if (other === undefined) {
        entryOf(reached.installed, owner.manifest.name).add(name)
        continue
      }
      const subpath = `.${value.slice(name.length)}`
      const target = exportTarget(other.manifest, subpath)
      if (target === undefined || unfollowed.includes(value)) continue
      entryOf(reached.exports, name).add(subpath)
      reach(join(other.folder, target))
    }
    reached.modules.set(file, replaced(source, rewritten))
  }
  return reached
}

function* stringsOf(node: unknown): Generator<{ value: string; start: number; end: number }> {
  if (Array.isArray(node)) for (const one of node) yield* stringsOf(one)
  else if (typeof node === 'object' && node !== null) {
    const { type, value, start, end } = node as SyntaxNode
    if (type === 'Literal' && typeof value === 'string') yield { value, start, end }
    else for (const part of Object.values(node)) yield* stringsOf(part)
  }
}

/** The file of the same package that a relative path names, below the repository. What is built there is no source. */
function fileBeside(root: string, owner: WorkspacePackage, from: string, value: string): string | undefined {
  if (!/^[\w./-]+\.\w+$/.test(value) || /\.(md|sh)$|package\.json$/.test(value)) return undefined
  // A name without `./` is a path to what is joined with the module's folder, and never a module.
  if (!value.startsWith('.') && value.endsWith('.ts')) return undefined
  const file = join(dirname(from), value)
  const inside = relative(owner.folder, file).split(sep)
  if (inside.some((part) => ['..', 'build', 'dist', 'node_modules'].includes(part))) return undefined
  const path = join(root, file)
  return existsSync(path) && statSync(path).isFile() ? file : undefined
}

/** `@scope/name` of `@scope/name/part`. */
function packageName(value: string): string | undefined {
  return /^(@[\w.-]+\/)?[\w.-]+(?=\/|$)/.exec(value)?.[0]
}

function exportTarget({ exports }: Manifest, subpath: string): string | undefined {
  const target = exports?.[subpath]
  return typeof target === 'string' ? target : target?.['agentgym-source']
}

function entryOf(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set()
  map.set(key, known)
  return known
}

function replaced(source: string, changes: { start: number; end: number; text: string }[]): string {
  let text = ''
  let from = 0
  for (const { start, end, text: change } of changes.sort((a, b) => a.start - b.start)) {
    text += source.slice(from, start) + change
    from = end
  }
  return text + source.slice(from)
}

import { posix } from 'node:path'

/** A module of the registry, and the modules that it may import. */
export type ModuleRow = { name: string; mayImport: string[] }

const floors = /^registry\/src\/(?:(core|modules)\/([^/]+)|(app))\//

/**
 * The table of modules in ARCHITECTURE.md, lowest first: rows `| name | what it is | modules it may import |` under the
 * heading "Modules of the registry".
 */
export function moduleTable(architecture: string): ModuleRow[] {
  const section = architecture.split(/^## /m).find((part) => part.startsWith('Modules of the registry')) ?? ''
  return [...section.matchAll(/^\| `([a-z]+)` \|[^|\n]*\|([^|\n]*)\|$/gm)].map(([, name, list]) => ({
    name,
    mayImport: [...list.matchAll(/`([a-z]+)`/g)].map(([, other]) => other),
  }))
}

/** What is wrong with the table itself: an import of a module that does not come before, one that is not there. */
export function tableFaults(table: ModuleRow[]): string[] {
  return table.flatMap(({ name, mayImport }, index) =>
    mayImport
      .filter((other) => !table.slice(0, index).some((earlier) => earlier.name === other))
      .map((other) => `${name} may import ${other}, which is not above it in the table`),
  )
}

/**
 * Imports of the registry's sources (types included, tests and their fixtures not) that the floors forbid: into a module
 * that the table does not name, past another module's index.ts, and circles of folders.
 */
export function floorViolations(files: { path: string; text: string }[], table: ModuleRow[]): string[] {
  const edges = files.filter(({ path }) => isSource(path)).flatMap(importsOf)
  const found: string[] = []
  for (const { from, to } of edges) {
    const [here, there] = [moduleOf(from), moduleOf(to)]
    if (there === undefined || here === there) continue
    if (!to.endsWith(`modules/${there}/index.ts`)) found.push(`${from} → ${to}: past the module's index.ts`)
    if (here !== undefined && !table.find(({ name }) => name === here)?.mayImport.includes(there))
      found.push(`${from} → ${to}: ${here} may not import ${there}`)
  }
  return [...found, ...folderCircles(edges)]
}

type Edge = { from: string; to: string }

function isSource(path: string): boolean {
  // benchmarks.ts and testing.ts pass modules' fixtures to other packages' benchmarks and tests.
  return path.startsWith('registry/src/') && !/\.test\.ts$|\/(test|testing)\/|src\/(benchmarks|testing)\.ts$/.test(path)
}

function importsOf({ path, text }: { path: string; text: string }): Edge[] {
  return [...text.matchAll(/(?:from|import\() ?'(\.[^'\n]+)'/g)].map(([, specifier]) => ({
    from: path,
    to: posix.normalize(posix.join(posix.dirname(path), specifier)),
  }))
}

function moduleOf(path: string): string | undefined {
  return /^registry\/src\/modules\/([^/]+)\//.exec(path)?.[1]
}

/** Folders of core and modules that reach themselves through others. */
function folderCircles(edges: Edge[]): string[] {
  const folderOf = (path: string) => {
    const match = floors.exec(path)
    return match === null ? undefined : (match[3] ?? `${match[1]}/${match[2]}`)
  }
  const reached = new Map<string, Set<string>>()
  for (const { from, to } of edges) {
    const [here, there] = [folderOf(from), folderOf(to)]
    if (here === undefined || there === undefined || here === there) continue
    reached.set(here, (reached.get(here) ?? new Set()).add(there))
  }
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(reached.get(from) ?? [])].some((next) => {
      if (next === to) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, to, seen)
    })
  return [...reached.keys()].filter((folder) => reaches(folder, folder)).map((folder) => `${folder}: in a circle`)
}

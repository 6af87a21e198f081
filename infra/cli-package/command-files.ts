import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { PackedFile } from '@agentgym/contract/tarball'
import { parseSync } from 'vite'
import { type ReachedFiles, reachFiles, type SyntaxNode } from './reached-files.ts'
import { type Manifest, owningPackage, type WorkspacePackage, workspacePackages } from './workspace.ts'

const entry = 'sdk/cli/src/main.ts'
/** A server comes as a container image or from source: its database and npm registry would double the download. */
const unfollowed = ['@agentgym/registry', '@agentgym/registry/processes', '@agentgym/web']
/** Scenarios are bundled and type-checked against its TypeScript. */
const library = 'sdk/scenario'
const learnerFiles = ['agentgym_learner.node', 'instructions'].map((name) => `runtime/learner/build/${name}`)

/**
 * The files of the package `agentgym` for npm: what the command reaches, as JavaScript, at the same paths as in the
 * repository; the workspace's packages are in its node_modules, and all others are its dependencies. Node strips no types
 * below node_modules.
 */
export function commandFiles(root: string): PackedFile[] {
  const packages = workspacePackages(root)
  const reached = reachFiles(root, [entry], { packages, unfollowed, parse: parseJavaScript })
  const bundled = packages.filter(({ manifest }) => reached.exports.has(manifest.name))
  const files = new Map<string, string | Uint8Array>()
  const copy = (path: string, to: string = packedPath(packages, path)) => files.set(to, readFileSync(join(root, path)))
  for (const [path, source] of reached.modules) files.set(packedPath(packages, path).replace(/\.ts$/, '.js'), source)
  for (const path of reached.assets) copy(path)
  for (const path of globSync(['src/**/*.ts', '*.d.ts'], { cwd: join(root, library) }))
    if (!path.endsWith('.test.ts')) copy(join(library, path))
  for (const path of foldersFiles(root)) copy(path)
  for (const path of learnerFiles) if (existsSync(join(root, path))) copy(path)
  copy('LICENSE', 'LICENSE')
  copy('infra/cli-package/launcher.cjs', 'bin/agentgym.cjs')
  copy('infra/cli-package/package-readme.md', 'README.md')
  for (const one of bundled) {
    files.set(
      packedPath(packages, `${one.folder}${sep}package.json`),
      json(bundledManifest(one, [...(reached.exports.get(one.manifest.name) ?? [])].sort())),
    )
    copy('LICENSE', packedPath(packages, `${one.folder}${sep}LICENSE`))
  }
  const own = owningPackage(packages, entry)
  files.set('sdk/cli/package.json', json(identityOf(own.manifest)))
  files.set('package.json', json(rootManifest(own.manifest, bundled, reached, packages)))
  return [...files].map(([path, content]) => ({
    path: path.replaceAll(sep, '/'),
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
  }))
}

function parseJavaScript(file: string, source: string): SyntaxNode {
  const { program, errors } = parseSync(file.replace(/\.ts$/, '.js'), source)
  if (errors.length > 0) throw new Error(`${file} does not parse without its types: ${errors[0].message}`)
  return program as unknown as SyntaxNode
}

/** Where the package has a file of the repository. */
function packedPath(packages: readonly WorkspacePackage[], path: string): string {
  if (path.startsWith(`sdk${sep}cli${sep}`) || path.startsWith(`plugins${sep}`)) return path
  const { folder, manifest } = owningPackage(packages, path)
  return join('node_modules', manifest.name, path.slice(folder.length))
}

/** Folders that the command reads as they are: templates, built-in scenarios, the engine for language models. */
function foldersFiles(root: string): string[] {
  const paths = [
    ...globSync('sdk/cli/templates/**/*', { cwd: root, withFileTypes: true }),
    ...globSync('runtime/src/comparison/engine/*', { cwd: root, withFileTypes: true }),
    ...globSync('plugins/*/{package.json,README.md,LICENSE,src/**/*}', { cwd: root, withFileTypes: true }).filter(
      ({ name }) => !name.endsWith('.test.ts'),
    ),
  ]
  return paths
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name).slice(root.length + 1))
}

function identityOf({ name, version, description, license, type }: Manifest): Omit<Manifest, 'dependencies'> {
  return { name, version, description, license, type }
}

/** Without dependencies: npm takes those of a bundled package for bundled, too. */
function bundledManifest({ manifest }: WorkspacePackage, subpaths: readonly string[]): Manifest {
  const target = (subpath: string) => String(manifest.exports?.[subpath]).replace(/\.ts$/, '.js')
  const { sideEffects } = manifest
  return {
    ...identityOf(manifest),
    ...(sideEffects === undefined ? {} : { sideEffects }),
    exports: Object.fromEntries(subpaths.map((subpath) => [subpath, target(subpath)])),
  }
}

function rootManifest(
  manifest: Manifest,
  bundled: readonly WorkspacePackage[],
  { installed }: ReachedFiles,
  packages: readonly WorkspacePackage[],
): Record<string, unknown> {
  const names = new Set([...installed.values()].flatMap((some) => [...some]))
  return {
    ...identityOf(manifest),
    bin: { agentgym: 'bin/agentgym.cjs' },
    engines: { node: '24' },
    dependencies: {
      ...Object.fromEntries(bundled.map((one) => [one.manifest.name, one.manifest.version])),
      ...versionsOf(names, packages),
    },
    bundleDependencies: bundled.map((one) => one.manifest.name),
  }
}

/** The one version of each package that the workspace has. */
function versionsOf(names: ReadonlySet<string>, packages: readonly WorkspacePackage[]): Record<string, string> {
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const versions = new Set(packages.flatMap(({ manifest }) => manifest.dependencies?.[name] ?? []))
      const [version] = versions
      if (versions.size !== 1 || !/^\d+\.\d+\.\d+/.test(version)) throw new Error(`${name} has no exact version`)
      return [name, version]
    }),
  )
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

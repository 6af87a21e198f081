import { type PackedFile, type WrittenTarball, writeTarball } from './write-tarball.ts'

type Manifest = Record<string, unknown>

/** Dependencies that installing a package fetches; the last ones override the first. */
const installed = ['peerDependencies', 'optionalDependencies', 'dependencies']

/** Fields that make clients run, fetch or link something, or that only mean something in the author's own folder. */
const dropped = new Set([
  ...installed,
  'peerDependenciesMeta',
  'dependenciesMeta',
  'bundleDependencies',
  'bundledDependencies',
  'scripts',
  'bin',
  'directories',
  'gypfile',
  'man',
  'workspaces',
  'overrides',
  'resolutions',
  'pnpm',
  'publishConfig',
  'packageManager',
  'devEngines',
  'hasInstallScript',
])

/**
 * A package.json as it is installed: nothing in it runs, and nothing in it is fetched. Dependencies become development
 * dependencies, because the bundle contains them: who rebuilds the sources finds them there. Returns `manifest` itself if
 * it is already so.
 */
function installedManifest(manifest: Manifest): Manifest {
  // npm keeps its own notes in fields that begin with "_", such as `_hasShrinkwrap`, and believes those that it finds.
  const kept = Object.entries(manifest).filter(([field]) => !dropped.has(field) && !field.startsWith('_'))
  if (kept.length === Object.keys(manifest).length) return manifest
  const copy = Object.fromEntries(kept)
  const bundled = Object.assign({}, ...installed.map((field) => manifest[field] ?? {}))
  if (Object.keys(bundled).length > 0) copy.devDependencies = { ...asObject(manifest.devDependencies), ...bundled }
  return copy
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

/**
 * The tarball that the registry serves for these files; `manifest` is their package.json, parsed. Authors' tools call this
 * to know the integrity before they upload.
 */
export function writePublishedTarball(files: readonly PackedFile[], manifest: Manifest): Promise<WrittenTarball> {
  const published = installedManifest(manifest)
  if (published === manifest) return writeTarball(files)
  const bytes = Buffer.from(`${JSON.stringify(published, null, 2)}\n`)
  return writeTarball(files.map((file) => (file.path === 'package.json' ? { path: file.path, bytes } : file)))
}

const clientFiles = new Set([
  'npm-shrinkwrap.json',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'bun.lock',
  'bun.lockb',
  'bunfig.toml',
  'deno.lock',
  'lerna.json',
  'rush.json',
  '.npmrc',
  '.pnpmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.yarnrc.yaml',
  '.pnpmfile.cjs',
  '.pnpmfile.mjs',
  'pnpmfile.js',
  '.pnp.js',
  '.pnp.cjs',
  '.pnp.loader.mjs',
  '.yarn-integrity',
  '.package-lock.json',
  '.modules.yaml',
])

/**
 * Is this a lock file or a settings file of a package manager? Installed with a package, those decide what else a client
 * fetches and runs, or hold an author's tokens.
 */
export function isClientFile(path: string): boolean {
  const segments = path.toLowerCase().split('/')
  return clientFiles.has(segments[segments.length - 1]) || segments.slice(0, -1).includes('.yarn')
}

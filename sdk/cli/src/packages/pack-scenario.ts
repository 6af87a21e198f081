import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AgentGymError,
  type ErrorCode,
  findReadmePlaceholder,
  findSummaryProblem,
  placeholderMessage,
} from '@agentgym/contract'
import { isClientFile, type PackedFile, writePublishedTarball, writeTarball } from '@agentgym/contract/tarball'
import type { BuiltScenario } from '@agentgym/runtime'
import packlist from 'npm-packlist'
import type { PackedPackage } from './publish-package.ts'

export type PackedScenario = PackedPackage & {
  /** Dependencies of the author's workspace, which the bundle includes and package.json no longer lists. */
  bundledDependencies: string[]
}

const bundlePath = 'dist/scenario.js'
/** Leads errors to the author's files, where the package ships them. Never needed: a large one is left out. */
const mapPath = `${bundlePath}.map`
const mostMapBytes = 8 * 2 ** 20
const dependencyFields = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies']
/** Ranges that only the author's workspace can resolve. */
const localRange = /^(workspace|file|link|portal|catalog):/

/**
 * The tarball of a scenario: the files that `npm pack` would take, and the bundle. package.json stays as it is, without
 * dependencies on the author's own workspace: they are in the bundle, and cannot be installed elsewhere.
 *
 * Throws what the server would refuse: `name_invalid`, `package_license_missing`, `package_readme_missing`,
 * `package_readme_placeholder`, `package_summary_placeholder`, `package_marked_private`, `manifest_invalid`.
 */
export async function packScenario(scenario: BuiltScenario): Promise<PackedScenario> {
  const text = await readFile(join(scenario.folder, 'package.json'), 'utf8')
  const manifest: Record<string, unknown> = JSON.parse(text)
  const { name, version } = scenario.package
  const paths = await packedPaths(scenario.folder, manifest)
  const readme = refuseUnpublishable(manifest, paths, scenario)
  refuseReadmePlaceholder(await readFile(join(scenario.folder, readme), 'utf8'), { name, version })
  refuseUnwrittenSummary(scenario)
  const { published, left } = publishedManifest(text, manifest)

  const files: PackedFile[] = []
  for (const path of paths) {
    if (path === 'package.json') files.push({ path, bytes: Buffer.from(published) })
    else if (path === bundlePath) files.push({ path, bytes: Buffer.from(scenario.source) })
    else if (path !== mapPath) files.push({ path, bytes: await readFile(join(scenario.folder, path)) })
  }
  const { publishedSourceMap } = await import('@agentgym/runtime')
  const map = Buffer.from(publishedSourceMap(scenario, new Set(paths)) ?? '')
  if (map.length > 0 && map.length <= mostMapBytes) files.push({ path: mapPath, bytes: map })
  return {
    bytes: (await writeTarball(files)).bytes,
    integrity: (await writePublishedTarball(files, JSON.parse(published))).integrity,
    name,
    version,
    files: files.map(({ path, bytes }) => ({ path, bytes: bytes.length })),
    unpackedBytes: files.reduce((sum, file) => sum + file.bytes.length, 0),
    bundledDependencies: left,
  }
}

/** In the same order on every system: package.json first, so that readers get it early, then by code point. */
async function packedPaths(folder: string, manifest: Record<string, unknown>): Promise<string[]> {
  const listed = await packlist({
    path: folder,
    package: manifest,
    isProjectRoot: true,
    edgesOut: new Map<string, never>(),
  })
  const paths = [...new Set([...listed, 'package.json', bundlePath])]
  const rank = (path: string) => (path === 'package.json' ? 0 : 1)
  return paths.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

function publishedManifest(text: string, manifest: Record<string, unknown>): { published: string; left: string[] } {
  const left: string[] = []
  const copy: Record<string, unknown> = { ...manifest }
  for (const field of dependencyFields) {
    const entries = Object.entries((manifest[field] ?? {}) as Record<string, unknown>)
    const kept = entries.filter(([, range]) => !(typeof range === 'string' && localRange.test(range)))
    if (kept.length === entries.length) continue
    left.push(...entries.filter((entry) => !kept.includes(entry)).map(([name]) => name))
    if (kept.length > 0) copy[field] = Object.fromEntries(kept)
    else delete copy[field]
  }
  return { published: left.length === 0 ? text : `${JSON.stringify(copy, null, 2)}\n`, left: [...new Set(left)] }
}

/** Refuses what the server would; returns the path of the README. */
function refuseUnpublishable(manifest: Record<string, unknown>, paths: string[], scenario: BuiltScenario): string {
  const { name, version, agentgym } = scenario.package
  const refuse = (code: ErrorCode, message: string, hint: string, field: string) =>
    new AgentGymError({ code, message: `${name}@${version}: ${message}`, hint, data: { name, version, field } })
  if (!name.startsWith('@')) {
    const hint = `Add the scope of your account to the name in package.json: "@you/${name}". agentgym whoami shows your account.`
    throw refuse('name_invalid', 'published packages need a scope', hint, 'name')
  }
  if (manifest.private === true) {
    throw refuse(
      'package_marked_private',
      'package.json says "private": true',
      'Remove "private" to publish.',
      'private',
    )
  }
  if (typeof manifest.license !== 'string' || manifest.license.trim() === '') {
    const hint = 'Set "license", such as "MIT" or "SEE LICENSE IN LICENSE".'
    throw refuse('package_license_missing', 'package.json has no "license"', hint, 'license')
  }
  const readme = paths.find((path) => /^readme(\.(md|markdown|txt))?$/i.test(path))
  if (readme === undefined) {
    const hint = 'Add README.md: the task, its observation, actions and reward.'
    throw refuse('package_readme_missing', 'README.md is missing', hint, 'readme')
  }
  const clientFile = paths.find(isClientFile)
  if (clientFile !== undefined) {
    const hint = 'Remove it, or omit it with "files" in package.json. The bundle needs no lock file.'
    const message = `${clientFile} is a lock file or settings of a package manager`
    throw refuse('package_client_file', message, hint, 'files')
  }
  // Installed packages run the bundle. An entry inside dist would be packed, and built again.
  if (/^dist[\\/]/.test(join(agentgym.entry))) {
    const hint = 'Move the entry out of dist, for example to src/index.ts. Publishing writes to dist.'
    throw refuse(
      'manifest_invalid',
      `the field "agentgym.entry" (${agentgym.entry}) is in dist`,
      hint,
      'agentgym.entry',
    )
  }
  return readme
}

/** Throws `package_readme_placeholder`, as the server does. */
function refuseReadmePlaceholder(readme: string, { name, version }: { name: string; version: string }): void {
  const placeholder = findReadmePlaceholder(readme)
  if (placeholder === undefined) return
  const { message, hint } = placeholderMessage(placeholder)
  const data = { name, version, field: 'readme', line: placeholder.line }
  throw new AgentGymError({ code: 'package_readme_placeholder', message: `${name}@${version}: ${message}`, hint, data })
}

/** Throws `package_summary_missing` and `package_summary_placeholder`, as the server does. */
function refuseUnwrittenSummary({ package: { name, version, agentgym } }: BuiltScenario): void {
  const problem = findSummaryProblem(agentgym.summary, 'scenario')
  if (problem === undefined) return
  const { code, message, hint } = problem
  const data = { name, version, field: 'agentgym.summary' }
  throw new AgentGymError({ code, message: `${name}@${version}: ${message}`, hint, data })
}

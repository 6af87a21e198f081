import { AgentGymError } from '@agentgym/contract'
import semver from 'semver'
import type { TarballFile } from './read-tarball.ts'

/** Those that an installing client resolves. */
const installed = ['dependencies', 'optionalDependencies', 'peerDependencies']
/** What only the author's own folder can resolve. */
const local = /^(?:workspace|file|link|portal|catalog|patch):/

/**
 * Refuses dependencies that do not come from a registry by a version range, and those that the tarball carries as files.
 * What runs is the bundle; dependencies are what a client would fetch besides. Throws `package_dependency_forbidden`,
 * `package_dependencies_bundled`.
 */
export function vetDependencies(manifest: Record<string, unknown>, files: TarballFile[]): void {
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies
  const lists = bundled !== undefined && bundled !== false && !(Array.isArray(bundled) && bundled.length === 0)
  const carried = files.find(({ path }) => /(?:^|\/)node_modules\//i.test(path))
  if (lists || carried !== undefined)
    throw new AgentGymError({
      code: 'package_dependencies_bundled',
      message: carried ? `The tarball holds ${carried.path}.` : 'package.json lists bundled dependencies.',
      hint: 'Dependencies are bundled into dist/scenario.js; leave the files out.',
      data: { field: 'bundleDependencies' },
    })
  for (const field of [...installed, 'devDependencies']) {
    for (const [name, wanted] of entriesOf(manifest[field], field)) {
      const fits = typeof wanted === 'string' && (installed.includes(field) ? isRange(wanted) : !local.test(wanted))
      if (!fits) throw forbidden(`${field}.${name}`, wanted)
    }
  }
}

function entriesOf(value: unknown, field: string): [string, unknown][] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw forbidden(field, value)
  return Object.entries(value)
}

function isRange(text: string): boolean {
  return text.length <= 200 && semver.validRange(text) !== null
}

function forbidden(field: string, wanted: unknown): AgentGymError {
  return new AgentGymError({
    code: 'package_dependency_forbidden',
    message: `package.json: "${field}" is ${JSON.stringify(wanted)?.slice(0, 120)}, which is no version range.`,
    hint: 'Publish with `agentgym scenario publish`, which bundles dependencies, or give a range such as ^1.2.0.',
    data: { field },
  })
}

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

export type Manifest = {
  name: string
  version: string
  description: string
  license: string
  type: string
  sideEffects?: boolean
  exports?: Record<string, string | Record<string, string>>
  dependencies?: Record<string, string>
}

/** A package of this repository; `folder` is relative to its root. */
export type WorkspacePackage = { folder: string; manifest: Manifest }

/** Packages whose dependencies a user may install: all but the scenarios and what tests use. */
export function workspacePackages(root: string): WorkspacePackage[] {
  return globSync(['sdk/*/package.json', '{runtime,registry,web}/package.json'], { cwd: root })
    .sort()
    .map((path) => ({ folder: dirname(path), manifest: JSON.parse(readFileSync(join(root, path), 'utf8')) }))
}

export function owningPackage(packages: readonly WorkspacePackage[], file: string): WorkspacePackage {
  const found = packages.find(({ folder }) => file.startsWith(folder + sep))
  if (found === undefined) throw new Error(`${file} belongs to no package`)
  return found
}

import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { namingFile, parseJson } from '@agentgym/contract'
import semver from 'semver'
import { z } from 'zod'
import { sha256 } from '../sha256.ts'
import type { PackageTarget } from './package-target.ts'

/** Integrity by version: what this machine has had of a package. */
const versionsSchema = z.record(z.string(), z.string())

type Package = { server: string; name: string }

function versionsFile({ server, name }: Package, home: string): string {
  return join(home, 'resolved', `${sha256(`${server} ${name}`).slice(0, 32)}.json`)
}

async function readVersions(place: Package, home: string): Promise<Record<string, string>> {
  const text = await readFile(versionsFile(place, home), 'utf8').catch(() => '{}')
  return versionsSchema.safeParse(parseJson(text)).data ?? {}
}

/** Keeps what a server said a version is, for when it cannot be asked. */
export async function rememberVersion(
  { version, ...place }: Package & { version: string },
  integrity: string,
  home: string,
): Promise<void> {
  const known = await readVersions(place, home)
  if (known[version] === integrity) return
  const path = versionsFile(place, home)
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    await namingFile(path, async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(temporary, JSON.stringify({ ...known, [version]: integrity }))
      await rename(temporary, path)
    })
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Integrities of the remembered versions that fit, the newest first. Of a tag this machine knows nothing but versions: all fit. */
export async function recallVersion({ server, name, range }: Package & PackageTarget, home: string): Promise<string[]> {
  const known = await readVersions({ server, name }, home)
  const fits = range !== undefined && semver.validRange(range) !== null ? range : '*'
  const includePrerelease = fits === '*'
  return Object.keys(known)
    .filter((version) => semver.satisfies(version, fits, { includePrerelease }))
    .sort(semver.rcompare)
    .map((version) => known[version])
}

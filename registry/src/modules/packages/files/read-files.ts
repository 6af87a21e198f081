import {
  AgentGymError,
  type FileComparison,
  type FileList,
  type FileView,
  type VersionComparison,
} from '@agentgym/contract'
import { shownPath } from '@agentgym/contract/tarball'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Services } from '../../../core/services.ts'
import { requireTarball, tarballReading } from '../../entitlements/index.ts'
import { findReadablePackage, findReadableVersion } from '../packages.store.ts'
import type { CodeReader } from './code-reader.ts'
import { findFile, type ListedFile, listFiles } from './version-files.store.ts'
import type { VersionFile } from './version-files.ts'

type Reading = Pick<Services, 'database' | 'config'> & { code: CodeReader }
export type VersionOf = { name: string; version: string }

/** Shown to everyone who sees the version, whatever it costs: its page shows them, too. */
const documents = /^(?:package\.json|readme(?:\.(?:md|markdown|txt))?|changelog(?:\.(?:md|markdown))?)$/i

/**
 * The version, and whether the actor may read all of its files. Never uses a license, as a download does: a link of
 * another site could otherwise end a buyer's right to a refund.
 */
async function openVersion(
  { database: { query }, config }: Reading,
  actor: Actor | null,
  { name, version }: VersionOf,
) {
  const found = await findReadablePackage(query, actor, name)
  const row = await findReadableVersion(query, found, version)
  const request = { actor, found, version: row.version, publicUrl: config.publicUrl }
  const { refused, unused } = await tarballReading(query, request)
  return { found, row, request, refused: refused ?? (unused ? licenseUnused(found.name, row.version) : null) }
}

function licenseUnused(name: string, version: string): AgentGymError {
  return new AgentGymError({
    code: 'license_unused',
    message: `You have not used your license of ${name} yet. Opening its files uses it, as a download does.`,
    hint: `A used license can only be refunded by the seller. To open them: \`POST /v1/packages/${name}/versions/${version}/files\`.`,
    data: { name, version },
  })
}

/** Throws `package_not_found`, `package_taken_down`, `version_not_found`. */
export async function describeFiles(services: Reading, actor: Actor | null, wanted: VersionOf): Promise<FileList> {
  const { found, row, refused } = await openVersion(services, actor, wanted)
  const files = await listFiles(services.database.query, row.id)
  return {
    name: found.name,
    version: row.version,
    ready: row.files_kept,
    refused: refused === null ? null : { code: refused.code, message: refused.message },
    files: files.map(({ path, size, has_text }) => ({
      path,
      size,
      text: has_text,
      readable: refused === null || documents.test(path),
    })),
  }
}

/** Uses a buyer's license, as a download does. Throws what a download throws. */
export async function openFiles(services: Reading, actor: Actor | null, wanted: VersionOf): Promise<void> {
  const { request } = await openVersion(services, actor, wanted)
  await requireTarball(services.database.query, request, { use: true })
}

/**
 * A text file. Throws `package_not_found`, `package_taken_down`, `version_not_found`, `payment_required`, `hosted_only`,
 * `license_unused`, `package_file_not_found`.
 */
export async function readFile(
  services: Reading,
  actor: Actor | null,
  { path, ...wanted }: VersionOf & { path: string },
): Promise<{
  name: string
  version: string
  ownerId: string
  versionId: string
  file: VersionFile & { text: string }
}> {
  const { found, row, refused } = await openVersion(services, actor, wanted)
  if (refused !== null && !documents.test(path)) throw refused
  const file = await findFile(services.database.query, row.id, path)
  if (file === undefined || file.text === null) throw fileNotFound(found.name, row.version, path, file)
  const { text } = file
  return { name: found.name, version: row.version, ownerId: found.owner_id, versionId: row.id, file: { ...file, text } }
}

function fileNotFound(name: string, version: string, path: string, file: VersionFile | undefined): AgentGymError {
  return new AgentGymError({
    code: 'package_file_not_found',
    message:
      file === undefined
        ? `${name}@${version} has no file ${shownPath(path.slice(0, 200))}.`
        : `${shownPath(path)} of ${name}@${version} is not text, or too large to show.`,
    hint: file === undefined ? undefined : 'Download the package to read it.',
    data: { name, version, path: path.slice(0, 200) },
  })
}

/** A page shows this much of a file. */
const shownLimits = { lines: 2_000, characters: 256 * 1024 }

/** The beginning of a text file as HTML. Throws what `readFile` throws. */
export async function viewFile(
  services: Reading,
  actor: Actor | null,
  wanted: VersionOf & { path: string },
): Promise<FileView> {
  const { name, version, ownerId, versionId, file } = await readFile(services, actor, wanted)
  const all = file.text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n')
  let characters = 0
  const fitting = all.slice(0, shownLimits.lines).findIndex((line) => {
    characters += line.length + 1
    return characters > shownLimits.characters
  })
  // A first line that is too long is cut, rather than nothing shown.
  const lines = fitting < 0 ? all.slice(0, shownLimits.lines) : all.slice(0, Math.max(1, fitting))
  const text = lines.join('\n').slice(0, shownLimits.characters)
  const highlighting = { path: file.path, text, account: ownerId }
  const html = await services.code.highlight(`${versionId}/${file.path}`, highlighting)
  return {
    name,
    version,
    path: file.path,
    size: file.size,
    html,
    lines: all.length,
    shown_lines: lines.length,
    complete: lines.length === all.length && characters <= shownLimits.characters,
  }
}

/** How much of a comparison is computed and shown. */
const comparedLimits = { files: 300, compared: 50, bytes: 4 * 1024 * 1024, lines: 4_000, characters: 400_000 }

type Pair = { path: string; before: ListedFile | undefined; after: ListedFile | undefined }

/**
 * What a version changes in the files of another one that the actor may read, the bundle last. Throws `package_not_found`,
 * `package_taken_down`, `version_not_found`.
 */
export async function compareVersions(
  services: Reading,
  actor: Actor | null,
  { name, version, base }: VersionOf & { base: string },
): Promise<VersionComparison> {
  const after = await openVersion(services, actor, { name, version })
  const before = await openVersion(services, actor, { name, version: base })
  const refused = after.refused ?? before.refused
  const { query } = services.database
  const pairs = pairsOf(await listFiles(query, before.row.id), await listFiles(query, after.row.id))
  const changed = pairs.filter(
    ({ path, before: old, after: now }) => old?.hash !== now?.hash && (refused === null || documents.test(path)),
  )
  const left = { ...comparedLimits }
  const files: FileComparison[] = []
  for (const pair of changed.slice(0, comparedLimits.files)) files.push(await compareFile(pair))
  return {
    name: after.found.name,
    version: after.row.version,
    base: before.row.version,
    ready: after.row.files_kept && before.row.files_kept,
    refused: refused === null ? null : { code: refused.code, message: refused.message },
    files_changed: changed.length,
    files,
  }

  async function compareFile({ path, before: old, after: now }: Pair): Promise<FileComparison> {
    const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'modified'
    const file = { path, change, size_before: old?.size ?? null, size_after: now?.size ?? null } as const
    if ([old, now].some((one) => one !== undefined && !one.has_text)) return { ...file, hunks: null, omitted: 'binary' }
    left.compared--
    left.bytes -= (old?.size ?? 0) + (now?.size ?? 0)
    if (left.compared < 0 || left.bytes < 0) return { ...file, hunks: null, omitted: 'too_large' }
    const textOf = async (id: string, one: ListedFile | undefined) =>
      one === undefined ? '' : ((await findFile(query, id, path))?.text ?? '')
    const texts = { before: await textOf(before.row.id, old), after: await textOf(after.row.id, now) }
    const key = `${old?.hash ?? ''} ${now?.hash ?? ''}`
    const hunks = await services.code.compare(key, { ...texts, account: after.found.owner_id })
    const lines = hunks?.flatMap((hunk) => hunk.lines) ?? []
    const characters = lines.reduce((sum, line) => sum + line.length, 0)
    if (hunks === null || lines.length > left.lines || characters > left.characters)
      return { ...file, hunks: null, omitted: 'too_large' }
    left.lines -= lines.length
    left.characters -= characters
    return { ...file, hunks, omitted: null }
  }
}

/** Files of both versions by path; what a bundler wrote comes last. */
function pairsOf(before: ListedFile[], after: ListedFile[]): Pair[] {
  const old = new Map(before.map((file) => [file.path, file]))
  const now = new Map(after.map((file) => [file.path, file]))
  const paths = [...new Set([...now.keys(), ...old.keys()])].sort()
  const isBuilt = (path: string) => path.startsWith('dist/')
  return [...paths.filter((path) => !isBuilt(path)), ...paths.filter(isBuilt)].map((path) => ({
    path,
    before: old.get(path),
    after: now.get(path),
  }))
}

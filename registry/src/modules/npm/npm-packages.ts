import { createHash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { Context } from 'hono'
import { type Actor, packageNotFound } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import type { Services } from '../../core/services.ts'
import { searchPackages } from '../catalog/index.ts'
import { majorOf, tarballRefusal } from '../entitlements/index.ts'
import {
  deprecateVersions,
  findablePackageName,
  findReadablePackage,
  findReadableVersion,
  openTarball,
  type PackageServices,
  packumentOf,
} from '../packages/index.ts'
import { searchQuery } from '../search/index.ts'
import { immutable, npmErrorBody } from './npm-errors.ts'
import type { ReadTarget } from './npm-path.ts'
import type { Deprecations } from './publish-document.ts'
import type { NpmSource, Packument } from './verdaccio-plugins.ts'

/** `use`: the client downloads the file, rather than only checking for it. `play`: for a play in the page. */
type Client = { actor: Actor | null; ip: string; userAgent: string; use: boolean; play: boolean }

/** The requested package as visible to this reader. Throws `package_not_found` for impossible names. */
export function packageSource(
  services: PackageServices,
  target: ReadTarget,
  { actor, ip, userAgent, use, play }: Client,
): NpmSource {
  const { database } = services
  const name = findablePackageName(target.name)
  if (name === null) throw packageNotFound(target.name.slice(0, 214))
  let packument: Promise<Packument> | undefined
  const readPackument = () => {
    packument ??= npmPackument(services, actor, name, target.kind === 'version' ? target.version : null).then((read) =>
      isPnpm(userAgent) ? withRefusals(services, actor, read) : read,
    )
    return packument
  }
  return {
    username: actor?.username ?? null,
    name,
    async assertReadable() {
      await (target.kind === 'tarball' ? findReadablePackage(database.query, actor, name) : readPackument())
    },
    packument: readPackument,
    async tarball(file) {
      const version = versionOfFile(name, file)
      if (version === undefined) return undefined
      const { versionId, ...tarball } = await openTarball(services, actor, { name, version, use })
      const download = { versionId, ip, userAgent, accountId: actor?.accountId }
      const accountId = actor?.accountId ?? null
      const usage = { name, version, source: 'other', client: { ip, userAgent }, accountId } as const
      return {
        ...tarball,
        downloaded() {
          services.downloads.record(download)
          if (play) services.usage.record({ kind: 'play', ...usage })
        },
      }
    },
  }
}

/**
 * The packument with npm's revision. Contains only the README of `latest`, because the READMEs of all versions would
 * make it many times larger. The document of a single version has its own README.
 */
async function npmPackument(
  services: Services,
  actor: Actor | null,
  name: string,
  requestedVersion: string | null,
): Promise<Packument> {
  const packument = await packumentOf(services, actor, name)
  const version = requestedVersion === null ? undefined : (packument['dist-tags'][requestedVersion] ?? requestedVersion)
  if (version !== undefined && Object.hasOwn(packument.versions, version)) {
    const found = await findReadablePackage(services.database.query, actor, name)
    const { readme } = await findReadableVersion(services.database.query, found, version)
    packument.versions[version] = { ...packument.versions[version], readme }
  }
  return { ...packument, _rev: revisionOf(packument) }
}

/** pnpm prints no error when a tarball is refused, and retries for a minute at any status but 401, 403 and 404. */
export function isPnpm(userAgent: string): boolean {
  return userAgent.startsWith('pnpm/')
}

/**
 * It does print deprecations, so they carry the reason. Times are omitted: with them, pnpm would keep showing the
 * reason from its cache after the purchase, without revalidating.
 */
async function withRefusals(services: Services, actor: Actor | null, packument: Packument): Promise<Packument> {
  const { database, config } = services
  const found = await findReadablePackage(database.query, actor, packument.name)
  const refusals = new Map<number, string | null>()
  for (const version of Object.keys(packument.versions)) {
    const major = majorOf(version)
    if (refusals.has(major)) continue
    const refused = await tarballRefusal(database.query, { actor, found, version, publicUrl: config.publicUrl })
    refusals.set(major, refused && npmErrorBody(refused.toReport()).error)
  }
  if ([...refusals.values()].every((why) => why === null)) return packument
  const versions = Object.entries(packument.versions).map(([version, manifest]) => {
    const why = refusals.get(majorOf(version)) ?? null
    return [version, why === null ? manifest : { ...manifest, deprecated: why }]
  })
  return { ...packument, versions: Object.fromEntries(versions), time: {}, modified: '' }
}

/** `maze-1.0.0.tgz` of `@acme/maze`. */
function versionOfFile(name: string, file: string): string | undefined {
  const prefix = `${name.slice(name.indexOf('/') + 1)}-`
  return file.startsWith(prefix) && file.endsWith('.tgz') ? file.slice(prefix.length, -'.tgz'.length) : undefined
}

/** Changes with every deprecation message, so that writes based on an older document are refused. */
function revisionOf({ versions }: Pick<Packument, 'versions'>): string {
  const messages = Object.entries(versions).map(([version, { deprecated = '' }]) => [version, deprecated])
  return `1-${createHash('sha256').update(JSON.stringify(messages.sort())).digest('hex').slice(0, 32)}`
}

/**
 * Handles `npm deprecate`: npm sends the whole packument back with changed messages. Sets those that differ from what
 * this actor was served. Throws `document_outdated` if a message has changed since, `version_immutable` if versions are
 * missing, as in an attempt to unpublish.
 */
export async function deprecateByDocument(
  services: Services,
  name: string,
  { revision, messages }: Deprecations,
  { actor, ip }: Pick<Client, 'actor' | 'ip'>,
): Promise<void> {
  const served = await packumentOf(services, actor, name)
  if (revision !== undefined && revision !== revisionOf(served))
    throw new AgentGymError({
      code: 'document_outdated',
      message: `${served.name} has changed since npm read it.`,
      hint: 'Run the command again.',
    })
  if (Object.keys(served.versions).some((version) => !messages.has(version))) throw immutable(served.name)
  const changed = [...messages].filter(([version, message]) => message !== (served.versions[version]?.deprecated ?? ''))
  await deprecateVersions(services, { actor, name, ip }, new Map(changed))
}

/** Limit of `npm search`; the site and `GET /v1/packages` have none. */
const reach = 250

/** The catalog's search in the format of `npm search`. Finds packages that the actor may see. */
export async function npmSearch({ database, config }: Services, c: Context<Env>): Promise<Response> {
  const from = wholeNumber(c.req.query('from'), 0)
  const size = Math.min(wholeNumber(c.req.query('size'), 20), reach)
  const words = searchQuery((c.req.query('text') ?? '').slice(0, 200))
  const limit = Math.min(from + size, reach)
  const { rows } = await searchPackages(database, c.get('actor'), {
    words,
    sort: 'relevance',
    limit,
    after: null,
  })
  const objects = rows.slice(from, from + size).map((row) => {
    const quality = row.quality / 100
    const publisher = { username: row.name.slice(1, row.name.indexOf('/')), email: '' }
    return {
      package: {
        name: row.name,
        scope: publisher.username,
        version: row.latest_version ?? '',
        description: row.summary ?? '',
        keywords: row.keywords,
        date: row.updated_at.toISOString(),
        links: { npm: `${config.publicUrl}/npm/${row.name}` },
        publisher,
        maintainers: [publisher],
      },
      score: { final: quality, detail: { quality, popularity: 0, maintenance: 0 } },
      searchScore: 1,
    }
  })
  return c.json({ objects, total: rows.length, time: new Date().toISOString() })
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : otherwise
}

import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize, requireActor } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema, VersionState } from '../../core/database/schema.ts'
import { violatedConstraint } from '../../core/database/violated-constraint.ts'
import type { Services } from '../../core/services.ts'
import { startVerification, type VerificationServices, verificationEpisodes } from '../evaluations/index.ts'
import { keepUnrendered } from './documents/version-documents.store.ts'
import { type PackageName, parsePackageName } from './package-name.ts'
import type { PackageServices } from './package-services.ts'
import { findPackage, findVersion, lockObject, lockPackage, type PackageRow } from './packages.store.ts'
import { readTarball, type Tarball } from './read-tarball.ts'
import { rewriteTarball } from './rewrite-tarball.ts'
import { parseTag } from './tags.ts'
import { parseVersion, type VettedManifest, vetDeclaredManifest, vetManifest, vetModel } from './vet-manifest.ts'

export type Upload = {
  actor: Actor | null
  /** As in the request; must match the package.json inside. */
  name: string
  version: string
  /** The bytes, or a function that reads them, called only after the actor's permission to publish is checked. */
  tarball: Uint8Array | (() => Promise<Uint8Array>)
  /** package.json as sent outside the tarball, if it was. */
  declared?: Record<string, unknown>
  /** Only if requested by the user, without a client's default (npm's `latest`). */
  tag?: string
  /** Of a new package; an existing package keeps its own. Default: public. */
  visibility?: 'public' | 'private'
  ip: string | null
}

/** `integrity`: of the served tarball. */
export type PublishedVersion = { name: string; version: string; state: VersionState; integrity: string }

/** Rate limit of uploads per account, each up to the size limit. */
export const publishRate = { limit: 120, windowSeconds: 60 }

/**
 * Publishes a version: validates the tarball, makes its bytes durable, and then in one transaction writes package,
 * version, audit entry and check job, or nothing. A crash before the commit leaves at most an orphaned object, which
 * the sweeper deletes.
 *
 * The same bytes from the same account get the same response, so an upload whose response was lost can be repeated.
 * Other bytes for an existing version throw `version_exists`.
 */
export async function publishVersion(
  services: PackageServices,
  upload: Upload,
): Promise<PublishedVersion & { receivedIntegrity: string }> {
  const { database, objects } = services
  const actor = requireActor(upload.actor, 'packages:publish')
  await limitRate(database, `publish:${actor.accountId}`, publishRate)
  const name = parsePackageName(upload.name)
  parseVersion(upload.version)
  if (upload.tag !== undefined) parseTag(upload.tag)
  const ownerId = await authorizeScope(database.query, actor, name)
  const bytes = typeof upload.tarball === 'function' ? await upload.tarball() : upload.tarball
  const vetted = await vetPackage(services, bytes, { name: name.full, version: upload.version })
  if (upload.declared !== undefined) vetDeclaredManifest(upload.declared, vetted.tarball.manifest)
  const repeated = await findRepeated(services, actor, vetted)
  const answer = { name: name.full, version: upload.version, receivedIntegrity: vetted.receivedIntegrity }
  if (repeated !== undefined) return { ...answer, ...repeated }
  await requireRoomFor(services, { accountId: actor.accountId, ownerId }, vetted)
  const { queue } = services
  const objectKey = await objects.put(vetted.bytes)
  const { tag, visibility, ip } = upload
  const { state, integrity } = await database.transaction((query) =>
    createVersion(query, { ...services, queue }, { actor, vetted, objectKey, tag, visibility, ip }),
  )
  services.documents.wake(services)
  return { ...answer, state, integrity }
}

/** Checks that the account and the package's owner may have another version checked. Throws `rate_limited`. */
export async function requireRoomFor(
  { openJobs }: Pick<Services, 'openJobs'>,
  submitter: { accountId: string; ownerId: string },
  { manifest: { agent } }: VettedPackage,
): Promise<void> {
  if (agent === null) return openJobs.requireRoom('check', submitter)
  await openJobs.requireRoom('evaluate', submitter, verificationEpisodes(agent))
}

/** A tarball that has passed all static checks. */
export type VettedPackage = {
  /** The tarball as rewritten by the registry. */
  bytes: Uint8Array
  /** Integrity of the upload, for the sender to compare. */
  receivedIntegrity: string
  /** Facts of `bytes`; the manifest is the uploaded package.json. */
  tarball: Tarball
  manifest: VettedManifest
}

/**
 * Reads a tarball, checks it against the registry's rules, and rewrites it in the registry's form. Throws the codes of
 * `readTarball`, `vetManifest` and `vetModel`.
 */
export async function vetPackage(
  { config, models }: Pick<PackageServices, 'config' | 'models'>,
  bytes: Uint8Array,
  { name, version }: { name: string; version: string },
): Promise<VettedPackage> {
  const uploaded = await readTarball(bytes, config.limits)
  const manifest = vetManifest(uploaded, name, version)
  await vetModel(models, uploaded, manifest)
  const written = await rewriteTarball(bytes, config.limits, uploaded)
  return { ...written, receivedIntegrity: uploaded.integrity, manifest }
}

/**
 * The response to a repeated upload of this account whose version was stored with the same content in another form: by
 * a server that did not rewrite tarballs yet, or whose zlib compresses differently.
 */
async function findRepeated(
  { database, objects, config }: PackageServices,
  actor: Actor,
  { manifest, tarball }: VettedPackage,
): Promise<{ state: VersionState; integrity: string } | undefined> {
  const found = await findPackage(database.query, manifest.name)
  const earlier = found && (await findVersion(database.query, found.id, manifest.version))
  if (earlier?.published_by !== actor.accountId || earlier.integrity === tarball.integrity) return undefined
  const stored = await objects.get(earlier.object_key)
  if (stored === undefined) return undefined
  try {
    const read = await readTarball(stored, config.limits, 'stored')
    const again = await rewriteTarball(stored, config.limits, read, 'stored')
    if (again.tarball.integrity === tarball.integrity) return { state: earlier.state, integrity: earlier.integrity }
  } catch (error) {
    // An unreadable stored tarball cannot equal this one.
    if (!(error instanceof AgentGymError)) throw error
  }
  return undefined
}

export type NewVersion = {
  actor: Actor
  vetted: VettedPackage
  /** Key of the durable object with its bytes. */
  objectKey: string
  tag?: string | undefined
  visibility?: 'public' | 'private' | undefined
  ip: string | null
}

/**
 * Writes a validated version, its package if new, audit entry and job, in the caller's transaction, under the package's
 * lock. Throws `forbidden`, `name_taken`, `version_exists`, `package_kind_changed`, `package_visibility_fixed`.
 */
export async function createVersion(
  query: Transaction<Schema>,
  context: Pick<Services, 'objects'> & VerificationServices,
  added: NewVersion,
): Promise<{ id: string; state: VersionState; integrity: string }> {
  const { database, objects } = context
  const { actor, objectKey, vetted, visibility } = added
  const { manifest, tarball } = vetted
  const name = parsePackageName(manifest.name)
  await lockPackage(database, query, name.full)
  const ownerId = await authorizeScope(query, actor, name)
  const found = await openPackage(query, { name, ownerId, kind: manifest.kind, visibility })
  const { integrity } = tarball
  const earlier = await findVersion(query, found.id, manifest.version)
  if (earlier !== undefined) {
    if (earlier.integrity !== integrity || earlier.published_by !== actor.accountId)
      throw versionExists(name.full, manifest.version, earlier.state)
    return { id: earlier.id, state: earlier.state, integrity }
  }
  await lockObject(database, query, objectKey)
  // Stored again in case the sweeper deleted it meanwhile; writing an existing object is cheap.
  if (!(await objects.has(objectKey))) await objects.put(vetted.bytes)
  return { ...(await insertVersion(query, context, { packageId: found.id, ownerId }, added)), integrity }
}

/** The account that owns the scope, if the actor may publish there. */
export async function authorizeScope(query: Queries, actor: Actor, { scope }: PackageName): Promise<string> {
  const owner = await query.selectFrom('accounts').select('id').where('username', '=', scope).executeTakeFirst()
  if (owner === undefined)
    throw new AgentGymError({
      code: 'forbidden',
      message: `Account "${scope}" does not exist, so @${scope} cannot be published to.`,
      hint: `Publish under @${actor.username}, or create an organization "${scope}".`,
      data: { scope },
    })
  await authorize(query, actor, 'publish', owner.id, { scope: 'packages:publish' })
  return owner.id
}

type Wanted = Pick<PackageRow, 'kind'> & { name: PackageName; ownerId: string; visibility: Upload['visibility'] }

async function openPackage(query: Transaction<Schema>, wanted: Wanted): Promise<{ id: string }> {
  const { name, kind, visibility } = wanted
  const found = await findPackage(query, name.full)
  if (found === undefined) return insertPackage(query, wanted)
  if (found.kind !== kind)
    throw new AgentGymError({
      code: 'package_kind_changed',
      message: `${name.full} is a ${found.kind}; this version is a ${kind}.`,
      hint: 'Choose another name.',
    })
  if (visibility !== undefined && visibility !== found.visibility)
    throw new AgentGymError({
      code: 'package_visibility_fixed',
      message: `${name.full} is ${found.visibility}; publishing a version cannot make it ${visibility}.`,
      hint: 'Omit the visibility.',
    })
  return found
}

async function insertPackage(query: Transaction<Schema>, wanted: Wanted): Promise<{ id: string }> {
  const { name, ownerId, kind, visibility = 'public' } = wanted
  try {
    return await query
      .insertInto('packages')
      .values({
        name: name.full,
        name_canonical: name.canonical,
        owner_id: ownerId,
        kind,
        visibility,
        keywords: JSON.stringify([]),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (violatedConstraint(error) !== 'packages_name_canonical_key') throw error
    throw new AgentGymError({
      code: 'name_taken',
      message: `${name.full} is too similar to another package of @${name.scope}.`,
      hint: 'Choose a name that differs by more than . _ - or by l, i, 1, o, 0.',
      data: { name: name.full },
    })
  }
}

async function insertVersion(
  query: Transaction<Schema>,
  services: VerificationServices,
  { packageId, ownerId }: { packageId: string; ownerId: string },
  { actor, vetted, objectKey, ip, tag = '' }: NewVersion,
): Promise<{ id: string; state: VersionState }> {
  const { tarball, manifest } = vetted
  const { id } = await query
    .insertInto('versions')
    .values({
      package_id: packageId,
      version: manifest.version,
      state: 'checking',
      checks: JSON.stringify([]),
      manifest: JSON.stringify(tarball.manifest),
      readme: tarball.readme ?? '',
      integrity: tarball.integrity,
      shasum: tarball.shasum,
      object_key: objectKey,
      size: tarball.size,
      unpacked_size: tarball.unpackedSize,
      file_count: tarball.files.length,
      bundle_hash: manifest.kind === 'scenario' ? tarball.bundleHash : null,
      deprecated: null,
      yanked_at: null,
      published_by: actor.accountId,
      intended_tag: tag,
      published_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await keepUnrendered(query, id, tarball.readme ?? '')
  const account = actor.accountId
  if (manifest.agent === null) await services.queue.enqueue(query, 'check', id, { account, owner: ownerId })
  else await startVerification(query, services, { versionId: id, agent: manifest.agent, account, owner: ownerId })
  await recordAudit(query, {
    actor,
    action: 'package.publish',
    subject: `${manifest.name}@${manifest.version}`,
    ip,
    data: { integrity: tarball.integrity, tag: tag === '' ? null : tag },
  })
  return { id, state: 'checking' }
}

function versionExists(name: string, version: string, state: VersionState): AgentGymError {
  const became = { checking: 'is being checked', published: 'is published', rejected: 'was rejected' }[state]
  return new AgentGymError({
    code: 'version_exists',
    message: `${name}@${version} ${became} already, and version numbers cannot be reused.`,
    hint: 'Increase the version in package.json and publish again.',
    data: { name, version, state },
  })
}

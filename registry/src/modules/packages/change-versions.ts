import { AgentGymError, type AuditAction } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { indexPackage } from '../search/index.ts'
import {
  findReadablePackage,
  findVersion,
  lockPackage,
  type ReadablePackage,
  tagsOf,
  type VersionRow,
  versionNotFound,
} from './packages.store.ts'
import { isPrerelease, latestAfterYank, parseTag, putTag, removeTag, taggedVersions, tagOnPublish } from './tags.ts'

/** The actor and network address of a change, and its package. */
export type Change = { actor: Actor | null; name: string; ip: string | null }

const maxMessage = 1_000

/**
 * Points a tag at a published version. As an explicit request, it may move `latest` anywhere, including backwards or to
 * a prerelease.
 */
export async function setTag(services: Services, change: Change, tag: string, version: string): Promise<void> {
  parseTag(tag)
  await changePackage(services, change, 'publish', async (query, found, audit) => {
    const row = await requirePublished(query, found, version)
    if (row.yanked_at !== null)
      throw new AgentGymError({
        code: 'version_yanked',
        message: `${found.name}@${version} is yanked, so no tag can name it.`,
        hint: 'Undo the yank, or choose another version.',
      })
    await putTag(query, found.id, tag, version)
    await audit('package.tag', `${found.name}@${version}`, { tag })
  })
}

/** Throws `tag_not_found`, and `tag_protected` for `latest`, without which a plain install would find nothing. */
export async function deleteTag(services: Services, change: Change, tag: string): Promise<void> {
  await changePackage(services, change, 'publish', async (query, found, audit) => {
    const tags = await tagsOf(query, found.id)
    if (!tags.has(tag))
      throw new AgentGymError({
        code: 'tag_not_found',
        message: `${found.name} has no tag ${JSON.stringify(tag.slice(0, 80))}.`,
        data: { tags: [...tags.keys()] },
      })
    if (tag === 'latest')
      throw new AgentGymError({
        code: 'tag_protected',
        message: 'The tag "latest" cannot be removed.',
        hint: 'Set it to another version.',
      })
    await removeTag(query, found.id, tag)
    await audit('package.untag', found.name, { tag, version: tags.get(tag) })
  })
}

/**
 * Sets the message shown when each of these versions is installed; an empty one removes it. Works in any state, because
 * npm deprecates by range and a range may include rejected versions that members see.
 */
export async function deprecateVersions(
  services: Services,
  change: Change,
  messages: ReadonlyMap<string, string>,
): Promise<void> {
  await changePackage(services, change, 'publish', async (query, found, audit) => {
    for (const [version, message] of messages) {
      const row = await requireVersion(query, found, version)
      // Shown in terminals: without control characters and characters that reverse the text direction.
      const text = message
        .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
        .trim()
        .slice(0, maxMessage)
      const deprecated = text === '' ? null : text
      if (deprecated === row.deprecated) continue
      await query.updateTable('versions').set({ deprecated }).where('id', '=', row.id).execute()
      await audit('package.deprecate', `${found.name}@${version}`, { message: deprecated })
      if (version === found.latest_version) await indexPackage(query, found.id)
    }
  })
}

/**
 * Hides a version from ranges and tags; it can still be installed by its exact number. `latest` moves to the highest
 * remaining stable version, or is removed. Yanking twice has no further effect.
 */
export async function yankVersion(services: Services, change: Change, version: string): Promise<void> {
  await changePackage(services, change, 'manage', async (query, found, audit) => {
    const row = await requirePublished(query, found, version)
    if (row.yanked_at !== null) return
    await query.updateTable('versions').set({ yanked_at: sql<Date>`now()` }).where('id', '=', row.id).execute()
    for (const [tag, tagged] of await tagsOf(query, found.id)) {
      if (tagged !== version) continue
      const next = tag === 'latest' ? latestAfterYank(await taggedVersions(query, found.id)) : null
      if (next === null) await removeTag(query, found.id, tag)
      else await putTag(query, found.id, tag, next)
    }
    await audit('package.yank', `${found.name}@${version}`, {})
  })
}

/** Undoes a yank. A stable version above `latest` becomes `latest`, as if it were published now. */
export async function unyankVersion(services: Services, change: Change, version: string): Promise<void> {
  await changePackage(services, change, 'manage', async (query, found, audit) => {
    const row = await requirePublished(query, found, version)
    if (row.yanked_at === null) return
    await query.updateTable('versions').set({ yanked_at: null }).where('id', '=', row.id).execute()
    const tags = await tagsOf(query, found.id)
    const versions = await taggedVersions(query, found.id)
    const published = { version, yanked: false, createdAt: row.created_at }
    if (!isPrerelease(version) && tagOnPublish(published, null, tags, versions) === 'latest')
      await putTag(query, found.id, 'latest', version)
    await audit('package.unyank', `${found.name}@${version}`, {})
  })
}

type WriteAudit = (action: AuditAction, subject: string, data: Record<string, unknown>) => Promise<void>

const scopeOf = { publish: 'packages:publish', manage: 'packages:manage' } as const

async function changePackage(
  { database }: Services,
  { actor, name, ip }: Change,
  permission: 'publish' | 'manage',
  work: (query: Transaction<Schema>, found: ReadablePackage, audit: WriteAudit) => Promise<void>,
): Promise<void> {
  await database.transaction(async (query) => {
    const { name: full, owner_id, visibility } = await findReadablePackage(query, actor, name)
    await lockPackage(database, query, full)
    const hidden = visibility === 'private' ? full : undefined
    const scope = scopeOf[permission]
    const known = await authorize(query, actor, permission, owner_id, { scope, hidden })
    const found = await findReadablePackage(query, actor, full)
    await work(query, found, (action, subject, data) => recordAudit(query, { actor: known, action, subject, ip, data }))
  })
}

async function requirePublished(
  query: Transaction<Schema>,
  found: ReadablePackage,
  version: string,
): Promise<VersionRow> {
  const row = await requireVersion(query, found, version)
  if (row.state !== 'published')
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${found.name}@${version} ${row.state === 'rejected' ? 'was rejected' : 'is still being checked'}.`,
      data: { state: row.state },
    })
  return row
}

async function requireVersion(
  query: Transaction<Schema>,
  found: ReadablePackage,
  version: string,
): Promise<VersionRow> {
  const row = await findVersion(query, found.id, version)
  if (row === undefined) throw versionNotFound(found.name, version)
  return row
}

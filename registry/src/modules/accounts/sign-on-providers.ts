import { randomBytes } from 'node:crypto'
import { resolveTxt } from 'node:dns/promises'
import { AgentGymError, type AuditAction, type SignOn, type SignOnDomain } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize } from '../../core/access/authorize.ts'
import { seal, unseal } from '../../core/access/sealed.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Role, Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { requireAccount } from './accounts.store.ts'
import { discover } from './openid-client.ts'

/** An organization's OpenID provider. */
export type SignOnProvider = {
  organizationId: string
  issuer: string
  clientId: string
  clientSecret: string
  defaultRole: Role
}

/** The actor who changes an organization's sign-on. */
type Change = { actor: Actor; organisation: string; ip: string }

/** Looks up TXT records, like `resolveTxt` of node:dns. */
export type ResolveTxt = (name: string) => Promise<string[][]>

const recordPrefix = '_agentgym'

/** Redirect URI for the provider. */
export function redirectUri({ publicUrl }: Pick<ServerConfig, 'publicUrl'>): string {
  return `${publicUrl}/v1/sign-on/callback`
}

/** An organization's sign-on, for its admins. Throws like `authorize`. */
export async function showSignOn({ database, config }: Services, { actor, organisation }: Change): Promise<SignOn> {
  const { id } = await requireAccount(database.query, organisation, 'organisation')
  await authorize(database.query, actor, 'manage', id, { scope: 'account:manage' })
  const provider = await database.query
    .selectFrom('sign_on_providers')
    .select(['issuer', 'client_id', 'default_role'])
    .where('organisation_id', '=', id)
    .executeTakeFirst()
  const domains = await database.query
    .selectFrom('sign_on_domains')
    .selectAll()
    .where('organisation_id', '=', id)
    .orderBy('domain')
    .execute()
  return { provider: provider ?? null, domains: domains.map(shownDomain), redirect_uri: redirectUri(config) }
}

/**
 * Sets an organization's provider, if it answers discovery. Throws `config_invalid` for an issuer that this server does
 * not allow, `oauth_failed` for one that does not answer, and like `authorize`.
 */
export async function setProvider(
  services: Services,
  { actor, organisation, ip }: Change,
  { issuer, client_id: clientId, client_secret: clientSecret, default_role: defaultRole }: SetProvider,
): Promise<void> {
  const { database, config } = services
  await database.transaction(async (query) => {
    const { id } = await requireOwn(query, actor, organisation)
    await discover(config, { issuer, clientId, clientSecret })
    const values = {
      issuer,
      client_id: clientId,
      sealed_client_secret: seal({ secret: config.secret, purpose: 'sign-on client', id }, Buffer.from(clientSecret)),
      default_role: defaultRole,
    }
    await query
      .insertInto('sign_on_providers')
      .values({ organisation_id: id, ...values })
      .onConflict((conflict) => conflict.column('organisation_id').doUpdateSet(values))
      .execute()
    await audit(query, { actor, organisation, ip }, 'sign-on.set', { issuer, client_id: clientId, role: defaultRole })
  })
}

type SetProvider = {
  issuer: string
  client_id: string
  client_secret: string
  default_role: 'admin' | 'member' | 'viewer'
}

/**
 * Removes an organization's sign-on. Its members keep their accounts and sessions, and can log in with a password or
 * reset it by mail.
 */
export async function removeProvider({ database }: Services, change: Change): Promise<void> {
  await database.transaction(async (query) => {
    const { id } = await requireOwn(query, change.actor, change.organisation)
    await query.deleteFrom('sign_on_providers').where('organisation_id', '=', id).execute()
    await audit(query, change, 'sign-on.remove', {})
  })
}

/** Adds a domain whose addresses log in through the organization. A TXT record verifies it. Throws like `authorize`. */
export async function addDomain({ database }: Services, change: Change, domain: string): Promise<SignOnDomain> {
  return database.transaction(async (query) => {
    const { id } = await requireOwn(query, change.actor, change.organisation)
    await query
      .insertInto('sign_on_domains')
      .values({ organisation_id: id, domain, token: randomBytes(20).toString('hex') })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await audit(query, change, 'sign-on.domain.add', { domain })
    const row = await query
      .selectFrom('sign_on_domains')
      .selectAll()
      .where('organisation_id', '=', id)
      .where('domain', '=', domain)
      .executeTakeFirstOrThrow()
    return shownDomain(row)
  })
}

/**
 * Checks the domain's TXT record. Throws `domain_unverified` if it is missing or the domain belongs to another
 * organization, `request_invalid` if the domain was not added, and like `authorize`.
 */
export async function verifyDomain(
  { database }: Services,
  change: Change,
  domain: string,
  resolve: ResolveTxt = resolveTxt,
): Promise<SignOnDomain> {
  const { id } = await requireOwn(database.query, change.actor, change.organisation)
  const row = await database.query
    .selectFrom('sign_on_domains')
    .selectAll()
    .where('organisation_id', '=', id)
    .where('domain', '=', domain)
    .executeTakeFirst()
  if (row === undefined)
    throw new AgentGymError({
      code: 'request_invalid',
      message: `${domain} was not added to ${change.organisation}.`,
      data: { field: 'domain', in: 'path' },
    })
  const { record } = shownDomain(row)
  const records = await resolve(record.name).catch(() => [])
  if (!records.some((parts) => parts.join('') === record.value))
    throw new AgentGymError({
      code: 'domain_unverified',
      message: `${record.name} has no TXT record with the value ${record.value}.`,
      hint: 'Add the record at your DNS provider and try again; a new record can take an hour to appear.',
      data: { record },
    })
  return database.transaction(async (query) => {
    await requireOwn(query, change.actor, change.organisation)
    await database.lock(query, `sign-on-domain:${domain}`)
    const holder = await query
      .selectFrom('sign_on_domains')
      .select('organisation_id')
      .where('domain', '=', domain)
      .where('verified_at', 'is not', null)
      .executeTakeFirst()
    if (holder !== undefined && holder.organisation_id !== id)
      throw new AgentGymError({
        code: 'domain_unverified',
        message: `${domain} belongs to another organization of this server.`,
        hint: 'Its owner has to remove the domain there first.',
      })
    const verified = await query
      .updateTable('sign_on_domains')
      .set({ verified_at: row.verified_at ?? new Date() })
      .where('organisation_id', '=', id)
      .where('domain', '=', domain)
      .returningAll()
      .executeTakeFirstOrThrow()
    await audit(query, change, 'sign-on.domain.verify', { domain })
    return shownDomain(verified)
  })
}

export async function removeDomain({ database }: Services, change: Change, domain: string): Promise<void> {
  await database.transaction(async (query) => {
    const { id } = await requireOwn(query, change.actor, change.organisation)
    await query.deleteFrom('sign_on_domains').where('organisation_id', '=', id).where('domain', '=', domain).execute()
    await audit(query, change, 'sign-on.domain.remove', { domain })
  })
}

/** The provider for the addresses of a domain, or for an organization by its name. Throws `oauth_not_configured`. */
export async function findProvider(
  query: Queries,
  config: Pick<ServerConfig, 'secret'>,
  by: { domain: string } | { organizationId: string },
): Promise<SignOnProvider> {
  const row = await query
    .selectFrom('sign_on_providers')
    .selectAll()
    .where('organisation_id', 'in', (where) =>
      where
        .selectFrom('sign_on_domains')
        .select('organisation_id')
        .where('verified_at', 'is not', null)
        .where('domain' in by ? 'domain' : 'organisation_id', '=', 'domain' in by ? by.domain : by.organizationId),
    )
    .executeTakeFirst()
  const secret =
    row &&
    unseal({ secret: config.secret, purpose: 'sign-on client', id: row.organisation_id }, row.sealed_client_secret)
  if (row === undefined || secret === undefined)
    throw new AgentGymError({
      code: 'oauth_not_configured',
      message: 'No organization on this server uses single sign-on for this email domain.',
      hint: 'Log in with your password, or ask the owner of your organization to set up single sign-on.',
    })
  return {
    organizationId: row.organisation_id,
    issuer: row.issuer,
    clientId: row.client_id,
    clientSecret: secret.toString(),
    defaultRole: row.default_role,
  }
}

/** Whether the organization has verified the domain. */
export async function ownsDomain(query: Queries, organizationId: string, domain: string): Promise<boolean> {
  const row = await query
    .selectFrom('sign_on_domains')
    .select('domain')
    .where('organisation_id', '=', organizationId)
    .where('domain', '=', domain)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

async function requireOwn(query: Queries, actor: Actor, organisation: string) {
  const found = await requireAccount(query, organisation, 'organisation')
  await authorize(query, actor, 'own', found.id, { scope: 'account:manage' })
  return found
}

async function audit(
  query: Transaction<Schema>,
  { actor, organisation, ip }: Change,
  action: AuditAction,
  data: Record<string, string>,
): Promise<void> {
  await recordAudit(query, { actor, action, subject: `account:${organisation}`, ip, data })
}

function shownDomain({
  domain,
  token,
  verified_at,
}: {
  domain: string
  token: string
  verified_at: Date | null
}): SignOnDomain {
  return {
    domain,
    verified: verified_at !== null,
    record: { name: `${recordPrefix}.${domain}`, value: `agentgym-domain=${token}` },
  }
}

import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize, type Permission, rank, requireActor, type Scope } from '../../core/access/authorize.ts'
import { countOwners, putMember, removeMember, roleIn } from '../../core/access/memberships.store.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Role, Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { checkUsername } from './account-name.ts'
import { type Account, insertAccount, requestedAccount, requireAccount } from './accounts.store.ts'
import { invite, invitedAs, sendInvitation, withdrawInvitation } from './invitations.ts'

const scope = 'account:manage'

/** Throws `name_invalid`, `name_taken`, `rate_limited`. */
export async function createOrganization(
  { database }: Services,
  actor: Actor,
  { username, displayName, ip }: { username: string; displayName: string | null; ip: string },
): Promise<Account> {
  checkUsername(username, actor)
  return database.transaction(async (query) => {
    const made = await insertAccount(query, { kind: 'organisation', username, displayName })
    await putMember(query, made.id, actor.accountId, 'owner')
    await recordAudit(query, { actor, action: 'organisation.create', subject: `account:${username}`, ip })
    return made
  })
}

type MemberChange = { organisation: string; username: string; ip: string }

type MemberState = { username: string; role: Role; state: 'member' | 'invited' }

/**
 * Changes a member's role, or invites a user who is not a member. Throws like `authorize`, and `account_not_found`,
 * `last_owner`.
 */
export async function setMember(
  services: Services,
  actor: Actor | null,
  { role, ip, ...names }: MemberChange & { role: Role },
): Promise<MemberState> {
  const { database } = services
  const known = requireActor(actor, scope)
  const { organisation, user, state } = await database.transaction(async (query) => {
    const organisation = await requireAccount(query, names.organisation, 'organisation')
    // Two owners who demote each other concurrently must not both succeed.
    await database.lock(query, `organisation:${organisation.id}`)
    await authorize(query, actor, 'manage', organisation.id, { scope })
    const user = await requireAccount(query, names.username, 'user')
    const current = await roleIn(query, organisation.id, user.id)
    const affected = current ?? (await invitedAs(query, organisation.id, user.id))
    if (role === 'owner' || affected === 'owner') await authorize(query, actor, 'own', organisation.id, { scope })
    if (current === 'owner' && role !== 'owner') await keepAnOwner(query, organisation)
    const state = current === null ? ('invited' as const) : ('member' as const)
    if (state === 'invited') await invite(query, known, { organisation, user, role })
    else await putMember(query, organisation.id, user.id, role)
    await recordAudit(query, {
      actor,
      action: state === 'invited' ? 'invitation.put' : 'member.put',
      subject: `account:${organisation.username}`,
      ip,
      data: { member: user.username, role, before: current },
    })
    return { organisation, user, state }
  })
  if (state === 'invited') sendInvitation(services, { organisation, user, actor: known, role })
  return { username: user.username, role, state }
}

/** Removes a member or withdraws an invitation; anyone may remove themselves. Throws like `setMember`. */
export async function dropMember(
  { database }: Services,
  actor: Actor | null,
  { organisation: organizationName, username, ip }: MemberChange,
): Promise<void> {
  const { accountId } = requireActor(actor, scope)
  await database.transaction(async (query) => {
    const organisation = await requireAccount(query, organizationName, 'organisation')
    await database.lock(query, `organisation:${organisation.id}`)
    const user = await requireAccount(query, username, 'user')
    const current = await roleIn(query, organisation.id, user.id)
    const affected = current ?? (await invitedAs(query, organisation.id, user.id))
    if (user.id !== accountId || current === null)
      await authorize(query, actor, affected === 'owner' ? 'own' : 'manage', organisation.id, { scope })
    const invited = current === null && (await withdrawInvitation(query, organisation.id, user.id))
    if (current === null && !invited)
      throw new AgentGymError({
        code: 'account_not_found',
        message: `${user.username} is not a member of ${organisation.username}.`,
      })
    if (current === 'owner') await keepAnOwner(query, organisation)
    await removeMember(query, organisation.id, user.id)
    await recordAudit(query, {
      actor,
      action: invited ? 'invitation.withdraw' : 'member.remove',
      subject: `account:${organisation.username}`,
      ip,
      data: { member: user.username, before: current },
    })
  })
}

/** For changes that remove an owner. */
async function keepAnOwner(query: Transaction<Schema>, organisation: Account): Promise<void> {
  if ((await countOwners(query, organisation.id)) > 1) return
  throw new AgentGymError({
    code: 'last_owner',
    message: `This is the last owner of ${organisation.username}.`,
    hint: 'Make another member an owner first.',
  })
}

export type Party = { id: string; username: string }

/**
 * The account that a request acts for: the caller's own, or an organization in which the caller's role allows it. Pass
 * the transaction of the write. Throws `unauthenticated`, `account_not_found`, `forbidden`.
 */
export async function findParty(
  query: Queries,
  actor: Actor | null,
  account: string | undefined,
  { permission, scope }: { permission: Permission; scope: Scope },
): Promise<Party> {
  const known = requireActor(actor, scope)
  const hint = 'Name an organization you belong to, or omit it to use your own account.'
  const found = await requestedAccount(query, known, account, hint)
  if (found.id !== known.accountId) await authorize(query, known, permission, found.id, { scope })
  return found
}

/** The accounts in which a user has at least that role: their own, and organizations. */
export async function accountsWithRole(query: Queries, { accountId }: Actor, weakest: Role): Promise<string[]> {
  const rows = await query
    .selectFrom('memberships')
    .select(['organisation_id', 'role'])
    .where('user_id', '=', accountId)
    .execute()
  const allowed = rows.filter(({ role }) => rank[role] >= rank[weakest])
  return [accountId, ...allowed.map(({ organisation_id }) => organisation_id)]
}

/** Either scope is enough, because buyers and sellers read their own data. */
export function readingScope(actor: Actor | null): Scope {
  return actor?.scopes.has('market:sell') && !actor.scopes.has('market:buy') ? 'market:sell' : 'market:buy'
}

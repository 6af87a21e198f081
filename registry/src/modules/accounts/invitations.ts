import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, rank } from '../../core/access/authorize.ts'
import { putMember, roleIn } from '../../core/access/memberships.store.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Role, Schema } from '../../core/database/schema.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { type Account, findAccount, findAccountById } from './accounts.store.ts'

/** How long an invitation can be accepted. */
const invitationDays = 14

/**
 * Invites a user, or changes the role of an open invitation. The caller has checked the actor's permission. Membership
 * always requires acceptance, because it affects which packages a user may buy and review.
 */
export async function invite(
  query: Transaction<Schema>,
  actor: Actor,
  { organisation, user, role }: { organisation: Account; user: Account; role: Role },
): Promise<void> {
  const offer = {
    role,
    invited_by: actor.accountId,
    expires_at: sql<Date>`now() + ${invitationDays} * interval '1 day'`,
  }
  await query
    .insertInto('invitations')
    .values({ organisation_id: organisation.id, user_id: user.id, ...offer })
    .onConflict((conflict) => conflict.columns(['organisation_id', 'user_id']).doUpdateSet(offer))
    .execute()
}

/** Emails the invited user if their address is confirmed. Does not wait for delivery. */
export function sendInvitation(
  { mail, config, log }: Services,
  { organisation, user, actor, role }: { organisation: Account; user: Account; actor: Actor; role: Role },
): void {
  const { username, email } = user
  if (email === null || user.email_verified_at === null) return
  inBackground(log, 'sending an invitation', () =>
    sendLetter(mail, {
      to: { username, email },
      subject: `Join ${organisation.username} on AgentGym`,
      paragraphs: [
        `${actor.username} invites you to join the organization ${organisation.username} as ${role}.`,
        `Accept or decline: ${config.publicUrl}/settings/organisations`,
        `The invitation expires in ${invitationDays} days. If you don't know why you got it, ignore this message.`,
      ],
    }),
  )
}

const open = (query: Queries) =>
  query
    .selectFrom('invitations')
    .innerJoin('accounts as host', 'host.id', 'invitations.organisation_id')
    .innerJoin('accounts as invited', 'invited.id', 'invitations.user_id')
    .innerJoin('accounts as inviter', 'inviter.id', 'invitations.invited_by')
    .select(['invitations.role', 'invitations.created_at', 'invitations.expires_at'])
    .select(['host.username as host', 'host.display_name'])
    .select(['invited.username', 'inviter.username as invited_by'])
    .where('invitations.expires_at', '>', sql<Date>`now()`)
    .orderBy('invitations.created_at', 'desc')
    .orderBy('host.username')

/** A user's pending invitations, newest first. */
export function invitationsOf(query: Queries, userId: string) {
  return open(query).where('invitations.user_id', '=', userId).execute()
}

/** An organization's pending invitations, newest first. */
export function invitationsTo(query: Queries, organizationId: string) {
  return open(query).where('invitations.organisation_id', '=', organizationId).execute()
}

/** The role that a user's invitation offers; null if there is none. */
export async function invitedAs(query: Queries, organizationId: string, userId: string): Promise<Role | null> {
  const row = await query
    .selectFrom('invitations')
    .select('role')
    .where('organisation_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row?.role ?? null
}

/** Whether there was one. */
export async function withdrawInvitation(query: Queries, organizationId: string, userId: string): Promise<boolean> {
  const row = await query
    .deleteFrom('invitations')
    .where('organisation_id', '=', organizationId)
    .where('user_id', '=', userId)
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}

type Answer = { organisation: string; ip: string }

/**
 * Accepts an invitation. Its sender must still be allowed to invite, so that invitations of a removed admin stop
 * working. Throws `invitation_not_found` if it was withdrawn, has expired, or offers another role.
 */
export async function acceptInvitation(
  { database }: Services,
  actor: Actor,
  { organisation: name, role, ip }: Answer & { role: Role },
): Promise<void> {
  await database.transaction(async (query) => {
    const organisation = await findAccount(query, name)
    if (organisation === undefined) throw noInvitation(name)
    // The lock of all membership changes: the inviter's role cannot change meanwhile.
    await database.lock(query, `organisation:${organisation.id}`)
    const found = await query
      .deleteFrom('invitations')
      .where('organisation_id', '=', organisation.id)
      .where('user_id', '=', actor.accountId)
      .where('role', '=', role)
      .where('expires_at', '>', sql<Date>`now()`)
      .returning('invited_by')
      .executeTakeFirst()
    if (found === undefined || !(await mayInvite(query, organisation.id, found.invited_by, role)))
      throw noInvitation(name)
    await putMember(query, organisation.id, actor.accountId, role)
    await recordAudit(query, {
      actor,
      action: 'invitation.accept',
      subject: `account:${organisation.username}`,
      ip,
      data: { member: actor.username, role },
    })
  })
}

async function mayInvite(query: Queries, organizationId: string, inviterId: string, role: Role): Promise<boolean> {
  const inviter = await findAccountById(query, inviterId)
  const has = await roleIn(query, organizationId, inviterId)
  if (has === null || inviter === undefined || inviter.disabled_at !== null) return false
  return rank[has] >= rank[role === 'owner' ? 'owner' : 'admin']
}

/** Declines an invitation. Throws `invitation_not_found`. */
export async function declineInvitation(
  { database }: Services,
  actor: Actor,
  { organisation: name, ip }: Answer,
): Promise<void> {
  await database.transaction(async (query) => {
    const organisation = await findAccount(query, name)
    if (organisation === undefined || !(await withdrawInvitation(query, organisation.id, actor.accountId)))
      throw noInvitation(name)
    const subject = `account:${organisation.username}`
    await recordAudit(query, {
      ...{ actor, action: 'invitation.decline', subject, ip },
      data: { member: actor.username },
    })
  })
}

function noInvitation(organisation: string): AgentGymError {
  return new AgentGymError({
    code: 'invitation_not_found',
    message: `You have no matching invitation to ${JSON.stringify(organisation.slice(0, 100))}.`,
    hint: 'It was withdrawn, changed or has expired. List your invitations again.',
    data: { organisation: organisation.slice(0, 100) },
  })
}

import assert from 'node:assert/strict'
import { AgentGymError, type EmailChange } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireSession } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { hashSecret, isSecret, makeSecret } from '../../core/access/secret.ts'
import type { Database } from '../../core/database/database.ts'
import type { EmailChangeTable, Schema } from '../../core/database/schema.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { type Account, findAccountByEmail, findAccountById, requireAccount, updateAccount } from './accounts.store.ts'
import { verifyPassword } from './log-in.ts'
import { dropEmailChange, voidMailTokens } from './mail-tokens.store.ts'
import { sendVerification } from './sign-up.ts'

type PendingChange = Selectable<EmailChangeTable>

/** Long enough if the mailboxes are read the next day. */
const openHours = 24

/** The pending change, or null. */
export async function showEmailChange({ database }: Services, actor: Actor): Promise<EmailChange | null> {
  const row = await database.query
    .selectFrom('email_changes')
    .selectAll()
    .where('account_id', '=', actor.accountId)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row === undefined ? null : shown(row)
}

function shown(row: PendingChange): EmailChange {
  return {
    email: row.new_email,
    requested_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    confirmed: {
      new: row.new_confirmed_at !== null,
      old: row.old_hash === null ? null : row.old_confirmed_at !== null,
    },
  }
}

type Request = { email: string; password: string | undefined; ip: string }

/**
 * Sends a link to the new address and, if the current one is confirmed, another to it. The address changes once all
 * links were used. Replaces an earlier request. Throws `forbidden`, `credentials_invalid`, `email_taken`,
 * `request_invalid`, `rate_limited`.
 */
export async function requestEmailChange(
  services: Services,
  caller: Actor,
  { email, password, ip }: Request,
): Promise<EmailChange> {
  const { database } = services
  const actor = requireSession(caller)
  const newEmail = email.toLowerCase()
  const known = await findAccountById(database.query, actor.accountId)
  const stored = known?.password_hash ?? null
  if (stored !== null && !(await verifyPassword(stored, password ?? '')))
    throw new AgentGymError({ code: 'credentials_invalid', message: 'The current password is wrong.' })
  await limitRate(database, `change-email:${newEmail}`, { limit: 5, windowSeconds: 3_600 })
  const links = { new: makeSecret('agm_'), old: makeSecret('agm_'), cancel: makeSecret('agm_') }
  const { account, row } = await database.transaction(async (query) => {
    const account = await lockedAccount(query, actor.accountId)
    if (account === undefined)
      throw new AgentGymError({ code: 'unauthenticated', message: 'The account no longer exists.' })
    if (account.email === newEmail) throw sameAddress()
    if ((await findAccountByEmail(query, newEmail)) !== undefined) throw emailTaken()
    const asksOld = needsOld(account)
    const values = {
      account_id: account.id,
      old_email: account.email,
      new_email: newEmail,
      old_hash: asksOld ? hashSecret(links.old) : null,
      cancel_hash: asksOld ? hashSecret(links.cancel) : null,
      new_hash: hashSecret(links.new),
      old_confirmed_at: null,
      new_confirmed_at: null,
      expires_at: new Date(Date.now() + openHours * 3_600_000),
      created_at: new Date(),
    }
    const row = await query
      .insertInto('email_changes')
      .values(values)
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
      .returningAll()
      .executeTakeFirstOrThrow()
    const data = { from: account.email, to: newEmail }
    await recordAudit(query, {
      actor,
      action: 'email.change_request',
      subject: `account:${account.username}`,
      ip,
      data,
    })
    return { account, row }
  })
  mailLinks(services, account, row, links)
  return shown(row)
}

/** An unconfirmed address may be a typing mistake or belong to a stranger, so it need not agree. */
function needsOld({ email, email_verified_at }: Account): boolean {
  return email !== null && email_verified_at !== null
}

type Links = { new: string; old: string; cancel: string }

function mailLinks(
  { mail, config, log }: Services,
  { username }: Account,
  { old_email, new_email, old_hash }: PendingChange,
  links: Links,
): void {
  const address = (page: string, token: string) => `${config.publicUrl}/${page}?token=${token}`
  inBackground(log, 'sending the links of an email change', async () => {
    await sendLetter(mail, {
      to: { username, email: new_email },
      subject: 'Confirm your new email address for AgentGym',
      paragraphs: [
        `confirm this address for your account ${username}:`,
        address('change-email', links.new),
        `The link can be used once, within ${openHours} hours. If you did not request this, ignore this message.`,
      ],
    })
    if (old_email === null || old_hash === null) return
    await sendLetter(mail, {
      to: { username, email: old_email },
      subject: 'Confirm the change of your AgentGym email address',
      paragraphs: [
        `someone who is logged in to your account asked to change its email address to ${new_email}. If it was you, confirm:`,
        address('change-email', links.old),
        'If it was not you, cancel the change and choose a new password:',
        address('cancel-email-change', links.cancel),
        `Nothing changes until both addresses have confirmed, within ${openHours} hours.`,
      ],
    })
  })
}

/**
 * Confirms by the link of one address. Resolves to whether this completed the change. Throws `link_invalid`,
 * `email_taken`, `rate_limited`.
 */
export async function confirmEmailChange(
  services: Services,
  { token, ip }: { token: string; ip: string },
): Promise<{ changed: boolean }> {
  const { database } = services
  await limitRate(database, `email-change-link:${clientNetwork(ip)}`, { limit: 60, windowSeconds: 3_600 })
  const result = await changingAddress(() =>
    database.transaction(async (query) => {
      const { account, row, side } = await useLink(query, token)
      const subject = `account:${account.username}`
      const actor = { accountId: account.id, tokenId: null }
      await recordAudit(query, { actor, action: 'email.change_confirm', subject, ip, data: { address: side } })
      const confirmed = { new: row.new_confirmed_at !== null, old: row.old_confirmed_at !== null, [side]: true }
      if (!confirmed.new || (row.old_hash !== null && !confirmed.old)) return { changed: false as const }
      await setAddress(query, account, { email: row.new_email, verified: true })
      const data = { from: row.old_email, to: row.new_email }
      await recordAudit(query, { actor, action: 'email.change', subject, ip, data })
      return { changed: true as const, account, to: row.new_email }
    }),
  )
  if (result.changed) notifyChanged(services, result.account, { to: result.to, by: 'links' })
  return { changed: result.changed }
}

/** Marks the address of this link as confirmed. Throws `link_invalid`. */
async function useLink(
  query: Transaction<Schema>,
  token: string,
): Promise<{ account: Account; row: PendingChange; side: 'old' | 'new' }> {
  if (!isSecret('agm_', token)) throw linkInvalid()
  const hash = hashSecret(token)
  const found = await query
    .selectFrom('email_changes')
    .select('account_id')
    .where((where) => where.or([where('old_hash', '=', hash), where('new_hash', '=', hash)]))
    .executeTakeFirst()
  // Locks the account first, then its change, as everywhere, so that two concurrent links wait for each other.
  const account = found === undefined ? undefined : await lockedAccount(query, found.account_id)
  if (account === undefined || account.disabled_at !== null) throw linkInvalid()
  const row = await query
    .selectFrom('email_changes')
    .selectAll()
    .where('account_id', '=', account.id)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  const side = row?.new_hash === hash ? 'new' : row?.old_hash === hash ? 'old' : undefined
  if (row === undefined || side === undefined || row[`${side}_confirmed_at`] !== null) throw linkInvalid()
  // If the current address was confirmed after the request, it must agree now.
  if (row.old_email !== account.email || (needsOld(account) && row.old_hash === null)) throw linkInvalid()
  await query
    .updateTable('email_changes')
    .set({ [`${side}_confirmed_at`]: new Date() })
    .where('account_id', '=', account.id)
    .execute()
  return { account, row, side }
}

/** Cancels by the link that only the old address gets. Throws `link_invalid`, `rate_limited`. */
export async function cancelByLink(
  { database }: Services,
  { token, ip }: { token: string; ip: string },
): Promise<void> {
  await limitRate(database, `email-change-link:${clientNetwork(ip)}`, { limit: 60, windowSeconds: 3_600 })
  if (!isSecret('agm_', token)) throw linkInvalid()
  await database.transaction(async (query) => {
    const row = await query
      .deleteFrom('email_changes')
      .where('cancel_hash', '=', hashSecret(token))
      .where('expires_at', '>', sql<Date>`now()`)
      .returning(['account_id', 'new_email'])
      .executeTakeFirst()
    const account = row === undefined ? undefined : await findAccountById(query, row.account_id)
    if (row === undefined || account === undefined) throw linkInvalid()
    const actor = { accountId: account.id, tokenId: null }
    const data = { to: row.new_email, address: 'old' }
    await recordAudit(query, { actor, action: 'email.change_cancel', subject: `account:${account.username}`, ip, data })
  })
}

/** Cancels the caller's own change, if there is one. */
export async function cancelEmailChange({ database }: Services, actor: Actor, ip: string): Promise<void> {
  await database.transaction(async (query) => {
    const to = await dropEmailChange(query, actor.accountId)
    if (to === undefined) return
    const subject = `account:${actor.username}`
    await recordAudit(query, { actor, action: 'email.change_cancel', subject, ip, data: { to } })
  })
}

/**
 * Sets a user's address for an operator who has verified the user's identity. The new address is unconfirmed and gets a
 * confirmation link; the old one gets a notice. Throws `account_not_found`, `email_taken`.
 */
export async function setEmail(
  database: Database,
  actor: Actor | null,
  { username, email, ip }: { username: string; email: string; ip: string | null },
): Promise<{ account: Account; changed: boolean }> {
  const to = email.toLowerCase()
  return changingAddress(() =>
    database.transaction(async (query) => {
      const { id } = await requireAccount(query, username, 'user')
      const account = await lockedAccount(query, id)
      assert(account !== undefined, 'an account that was just read is gone')
      if (account.email === to) return { account, changed: false }
      await setAddress(query, account, { email: to, verified: false })
      const data = { from: account.email, to }
      await recordAudit(query, { actor, action: 'email.set', subject: `account:${account.username}`, ip, data })
      return { account, changed: true }
    }),
  )
}

/** Sends the mails of `setEmail`. */
export function mailAfterSetting(services: Services, before: Account, email: string): void {
  const account = { ...before, email: email.toLowerCase() }
  sendVerification(services, account)
  notifyChanged(services, before, { to: account.email, by: 'operator' })
}

async function setAddress(
  query: Transaction<Schema>,
  { id }: Account,
  { email, verified }: { email: string; verified: boolean },
): Promise<void> {
  await updateAccount(query, id, { email, email_verified_at: verified ? new Date() : null })
  await dropEmailChange(query, id)
  await voidMailTokens(query, 'verify', id)
  await voidMailTokens(query, 'reset', id)
}

/** If two accounts take the same address concurrently, the second gets `email_taken`. */
async function changingAddress<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, constraint } = error as { code?: unknown; constraint?: unknown }
    if (code === '23505' && constraint === 'accounts_email_key') throw emailTaken()
    throw error
  }
}

function notifyChanged(
  { mail, log }: Services,
  { username, email: from }: Account,
  { to, by }: { to: string; by: 'links' | 'operator' },
): void {
  inBackground(log, 'sending notices of a changed email address', async () => {
    const subject = 'Your AgentGym email address was changed'
    const how = by === 'operator' ? 'an operator of the server changed' : 'both addresses confirmed, which changed'
    if (from !== null)
      await sendLetter(mail, {
        to: { username, email: from },
        subject,
        paragraphs: [
          `${how} the address of your account to ${to}. You get no more mail about the account here.`,
          'If this was not you, contact the operator of the server at once.',
        ],
      })
    if (by === 'links')
      await sendLetter(mail, {
        to: { username, email: to },
        subject,
        paragraphs: [
          'this is now the address of your account, also for password resets.',
          'Sessions and tokens have not changed: see Settings, Sessions and Settings, Tokens.',
        ],
      })
  })
}

function lockedAccount(query: Transaction<Schema>, id: string): Promise<Account | undefined> {
  return query.selectFrom('accounts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

function linkInvalid(): AgentGymError {
  return new AgentGymError({
    code: 'link_invalid',
    message: 'This link is unknown, already used, canceled or expired.',
    hint: 'Request the change again at /settings/account.',
  })
}

function emailTaken(): AgentGymError {
  return new AgentGymError({
    code: 'email_taken',
    message: 'Another account uses this email address.',
    hint: 'Choose another address, or change the address of that account first.',
    data: { field: 'email' },
  })
}

function sameAddress(): AgentGymError {
  const message = 'This is already the account’s address'
  return new AgentGymError({
    code: 'request_invalid',
    message: `${message}.`,
    data: { field: 'email', fields: [{ field: 'email', message }] },
  })
}

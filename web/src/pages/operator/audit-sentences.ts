import type { AuditList } from '@agentgym/contract'

type Entry = AuditList['entries'][number]
type Phrase = (subject: string, data: Entry['data']) => string

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const list = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : '')

/** What the actor did: follows their name. `subject` is without the noun before its colon. */
const phrases: Record<string, Phrase> = {
  'account.create': (name) => `created the account ${name}`,
  'account.disable': (name) => `disabled the account ${name}`,
  'account.enable': (name) => `enabled the account ${name}`,
  'account.sign_out': (name) => `signed ${name} out everywhere`,
  'demonstration.keep': (name) => `kept an episode of ${name}`,
  'demonstration.remove': (name) => `removed an own episode of ${name}`,
  'demonstration.take_down': (name, { by }) => `removed an episode of ${name} by ${text(by)}`,
  'device.approve': () => 'approved a login in a terminal',
  'email.change': (name) => `changed the email address of ${name}`,
  'email.change_cancel': (name) => `canceled the change of the email address of ${name}`,
  'email.change_confirm': (name) => `confirmed the change of the email address of ${name}`,
  'email.change_request': (name) => `requested to change the email address of ${name}`,
  'email.set': (name) => `set the email address of ${name}`,
  'email.verify': (name) => `verified the email address of ${name}`,
  'invitation.accept': (name) => `joined the organization ${name}`,
  'invitation.decline': (name) => `declined to join the organization ${name}`,
  'invitation.put': (name, { member, role }) => `invited ${text(member)} to ${name} as ${text(role)}`,
  'member.put': (name, { member, role }) => `made ${text(member)} ${text(role)} of ${name}`,
  'member.remove': (name, { member }) => `removed ${text(member)} from ${name}`,
  'notification.unsubscribe': (name, { topic }) => `unsubscribed ${name} from emails about ${text(topic)}`,
  'operator.add': (name) => `made ${name} an operator`,
  'operator.claim': () => 'claimed the server as its first operator',
  'operator.remove': (name) => `removed ${name} from the operators`,
  'order.cancel': (id) => `canceled order ${id}`,
  'order.charge-back': (id) => `reversed order ${id} after a chargeback`,
  'order.pay': (id) => `paid order ${id}`,
  'order.payment-kept': (id) => `credited the payment of order ${id} to the balance`,
  'order.place': (id) => `placed order ${id}`,
  'order.refund': (id) => `refunded order ${id}`,
  'organisation.create': (name) => `created the organization ${name}`,
  'package.appeal': (name) => `appealed the take-down of ${name}`,
  'package.appeal_dismiss': (name) => `dismissed the appeal for ${name}`,
  'package.publish': (name) => `uploaded ${name}`,
  'package.published': (name) => `published ${name}`,
  'package.restore': (name) => `restored ${name}`,
  'package.take_down': (name, { for_all }) => `took ${name} down${for_all === true ? ', for its buyers too' : ''}`,
  'package.verify': (name) => `requested a verification of ${name}`,
  'password.change': (name) => `changed the password of ${name}`,
  'password.reset': (name) => `reset the password of ${name}`,
  'password.reset_request': (name) => `requested to reset the password of ${name}`,
  'payment.give_again': (id) => `returned payment ${id} after a won dispute`,
  'payment.succeed': (id) => `received payment ${id}`,
  'payment.take_back': (id) => `reversed payment ${id} after a dispute`,
  'payout-destination.open': (name) => `opened the payout account of ${name}`,
  'payout.request': (id) => `requested payout ${id}`,
  'price.set': (name) => `set the price of ${name}`,
  'recovery-code.replace': () => 'replaced the recovery codes',
  'recovery-code.use': () => 'used a recovery code',
  'report.create': (_, { package: name, review }) => `reported ${review === null ? '' : 'a review of '}${text(name)}`,
  'report.dismissed': (_, { package: name }) => `dismissed a report of ${text(name)}`,
  'report.upheld': (_, { package: name }) => `upheld a report of ${text(name)}`,
  'review.delete': (name) => `deleted a review of ${name}`,
  'review.hide': (name) => `hid a review of ${name}`,
  'review.put': (name, { stars }) => `reviewed ${name} with ${stars} stars`,
  'review.reply': (name) => `replied to a review of ${name}`,
  'review.unreply': (name) => `removed the reply to a review of ${name}`,
  'run.cancel': (id) => `canceled run ${id}`,
  'run.create_link': (id) => `shared run ${id} by a link`,
  'run.evaluate': (id) => `evaluated the agent of run ${id}`,
  'run.pause': (id) => `paused run ${id}`,
  'run.resume': (id) => `resumed run ${id}`,
  'run.revoke_link': (id) => `revoked a link to run ${id}`,
  'run.start': (id) => `started run ${id}`,
  'scenario.clear_nondeterministic': (name) => `cleared ${name} of being nondeterministic`,
  'second-factor.enable': (name) => `enabled a second factor for ${name}`,
  'second-factor.refuse': (name) => `entered a wrong second factor for ${name}`,
  'second-factor.remove': (name) => `removed the second factor of ${name}`,
  'second-factor.reset': (name) => `reset the second factor of ${name}`,
  'security-key.add': () => 'added a security key',
  'security-key.refuse': () => 'was refused with a security key',
  'security-key.remove': () => 'removed a security key',
  'session.create': () => 'logged in',
  'session.end': () => 'logged out',
  'session.refuse': (name) => `failed to log in as ${name}`,
  'spend-cap.remove': (name) => `removed a spending limit of ${name}`,
  'spend-cap.set': (name) => `set a spending limit of ${name}`,
  'token.create': (_, { name, scopes }) => `created the token “${text(name)}” (${list(scopes)})`,
  'token.revoke': (id) => `revoked token ${id}`,
  'webhook.change': (id) => `changed webhook ${id}`,
  'webhook.create': (_, { url, account }) => `created a webhook of ${text(account)} to ${text(url)}`,
  'webhook.delete': (_, { url, account }) => `deleted the webhook of ${text(account)} to ${text(url)}`,
  'webhook.rotate_secret': (id) => `rotated the secret of webhook ${id}`,
  'worker.release': (name) => `released worker ${name}`,
}

/** One entry as a sentence after the actor's name, and the reason that they gave. Unknown actions are named as they are. */
export function auditSentence({ action, subject, data }: Pick<Entry, 'action' | 'subject' | 'data'>): {
  sentence: string
  reason: string
} {
  const named = subject.replace(/^[a-z][a-z-]*:/, '')
  const phrase = phrases[action]
  return {
    sentence: phrase === undefined ? `${action.replaceAll(/[._-]/g, ' ')}: ${named}` : phrase(named, data),
    reason: text(data.reason),
  }
}

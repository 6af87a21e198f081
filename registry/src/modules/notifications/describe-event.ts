import { type EventData, type EventType, formatAmount, type NotificationTopic } from '@agentgym/contract'
import { packagePagePath } from '../../core/http/package-path.ts'

/** The topic that decides on which channels users are notified of it; null if they are not. */
export const topicOf: Record<EventType, NotificationTopic | null> = {
  'run.ended': 'runs',
  'verification.ended': 'verifications',
  'order.paid': 'sales',
  'review.written': 'reviews',
  'price.announced': 'prices',
  'package.taken_down': 'moderation',
  'package.restored': 'moderation',
  'appeal.dismissed': 'moderation',
  'appeal.upheld': 'moderation',
  'review.hidden': 'moderation',
  'demonstration.removed': 'moderation',
  'report.decided': 'moderation',
  'webhook.disabled': 'webhooks',
  'webhook.test': null,
}

/** `title` is one line; `text` may be several, or empty; `path` is a page of the site. */
export type EventText = { title: string; text: string; path: string }

type Descriptions = { [Type in EventType]: (data: EventData[Type]) => EventText }

const runStates: Record<EventData['run.ended']['state'], string> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'was canceled',
  budget_exceeded: 'used up its budget',
  paused: 'is paused',
}

const verificationStates: Record<EventData['verification.ended']['state'], string> = {
  verified: 'is verified',
  mismatch: 'does not match its claims',
  failed: 'failed its verification',
  unavailable: 'cannot be verified',
  inconclusive: 'has no conclusive verification',
}

const descriptions: Descriptions = {
  'run.ended': ({ run, state, scenario, error, published }) => ({
    title: `Training on ${scenario} ${runStates[state]}`,
    text: published !== null ? `It published ${published}.` : error !== null ? `Error: ${error}` : '',
    path: `/runs/${run}`,
  }),
  'verification.ended': ({ package: name, version, state, message }) => ({
    title: `${name}@${version} ${verificationStates[state]}`,
    text: message ?? '',
    path: `${packagePagePath(name)}/v/${version}`,
  }),
  'order.paid': ({ package: name, order, buyer, total_minor, earned_minor, currency }) => ({
    title: `${buyer} bought ${name} for ${formatAmount(total_minor, currency)}`,
    text: `You earned ${formatAmount(earned_minor, currency)}.`,
    path: `/orders/${order}`,
  }),
  'review.written': ({ package: name, version, author, stars }) => ({
    title: `${author} reviewed ${name}@${version}: ${stars} of 5 stars`,
    text: '',
    path: `${packagePagePath(name)}/reviews`,
  }),
  'price.announced': ({ package: name, price, calls_price_minor: calls, currency, effective_at: at }) => ({
    title: `The price of ${name} changes on ${at.slice(0, 10)}`,
    text: [
      ...(price === null
        ? []
        : [
            `New price: ${formatAmount(price.amount_minor, price.currency)}${price.kind === 'per_run' ? ' per run' : ''}. Licenses that you own stay valid.`,
          ]),
      ...(calls === null ? [] : [`1,000 hosted calls will cost ${formatAmount(calls, currency)}.`]),
    ].join(' '),
    path: packagePagePath(name),
  }),
  'package.taken_down': ({ package: name, reason }) => ({
    title: `${name} was taken down`,
    text: `Reason: ${reason}`,
    path: packagePagePath(name),
  }),
  'package.restored': ({ package: name, reason }) => ({
    title: `${name} was restored`,
    text: `Reason: ${reason}`,
    path: packagePagePath(name),
  }),
  'appeal.dismissed': ({ package: name, about, reason }) => ({
    title: `Your appeal for ${about === undefined ? name : `your ${about} of ${name}`} was dismissed`,
    text: `${about === undefined ? 'It stays down.' : 'The decision stands.'} Reason: ${reason}`,
    path: packagePagePath(name),
  }),
  'appeal.upheld': ({ package: name, about, reason }) => ({
    title: `Your ${about} of ${name} was restored`,
    text: `Reason: ${reason}`,
    path: `${packagePagePath(name)}/${about === 'review' ? 'reviews' : 'play'}`,
  }),
  'review.hidden': ({ package: name, version, reason }) => ({
    title: `Your review of ${name}@${version} was hidden`,
    text: `Reason: ${reason}`,
    path: `${packagePagePath(name)}/reviews`,
  }),
  'demonstration.removed': ({ package: name, version, reason }) => ({
    title: `An episode that you kept of ${name}@${version} was removed`,
    text: `Reason: ${reason}`,
    path: `${packagePagePath(name)}/play`,
  }),
  'report.decided': ({ package: name, decision, reason }) => ({
    title: `Your report of ${name} was ${decision}`,
    text: `Reason: ${reason}`,
    path: packagePagePath(name),
  }),
  'webhook.disabled': ({ webhook, url, reason }) => ({
    title: `The webhook to ${new URL(url).host} was disabled`,
    text: reason,
    path: `/settings/webhooks/${webhook}`,
  }),
  'webhook.test': ({ webhook }) => ({
    title: 'A test message was sent to a webhook',
    text: '',
    path: `/settings/webhooks/${webhook}`,
  }),
}

/** What a user reads about an event, on the site and by mail. */
export function describeEvent<Type extends EventType>(type: Type, data: EventData[Type]): EventText {
  return descriptions[type](data)
}

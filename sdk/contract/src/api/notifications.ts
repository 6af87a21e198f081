import { z } from 'zod'
import { eventTypeSchema } from './events.ts'
import { pageFields } from './fields.ts'

const moment = z.iso.datetime()

/** What users choose channels for. */
export const notificationTopics = {
  runs: 'Training runs that end',
  verifications: 'Verifications of your agents',
  sales: 'Sales of your packages',
  reviews: 'Reviews of your packages',
  prices: 'Price increases of packages that you use',
  webhooks: 'Webhooks that were disabled because they fail',
  moderation: 'Decisions of the operators about your packages, reviews and reports',
} as const
export type NotificationTopic = keyof typeof notificationTopics
export const notificationTopicSchema = z.enum(
  Object.keys(notificationTopics) as [NotificationTopic, ...NotificationTopic[]],
)

export const notificationSchema = z
  .object({
    id: z.uuid(),
    /** The event that it reports. */
    type: eventTypeSchema,
    topic: notificationTopicSchema,
    title: z.string(),
    /** More than the title says; empty if there is nothing. */
    text: z.string(),
    /** Path of this server. */
    path: z.string(),
    read: z.boolean(),
    created_at: moment,
  })
  .meta({ id: 'Notification' })
export type Notification = z.infer<typeof notificationSchema>

export const notificationListRequestSchema = z.object({
  unread: z.enum(['true', 'false']).default('false').describe('Only unread notifications.'),
  ...pageFields,
})
export const notificationListSchema = z
  .object({ notifications: z.array(notificationSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'NotificationList' })
export type NotificationList = z.infer<typeof notificationListSchema>

export const readNotificationsRequestSchema = z.strictObject({
  ids: z.array(z.uuid()).min(1).max(100).optional().describe('Default: all of them.'),
})

export const notificationSettingSchema = z
  .object({
    topic: notificationTopicSchema,
    title: z.string(),
    site: z.boolean(),
    email: z.boolean(),
    /** Cannot be turned off. */
    required: z.boolean(),
  })
  .meta({ id: 'NotificationSetting' })
export const notificationSettingsSchema = z
  .object({ settings: z.array(notificationSettingSchema) })
  .meta({ id: 'NotificationSettings' })
export type NotificationSettings = z.infer<typeof notificationSettingsSchema>
export const putNotificationSettingRequestSchema = z.strictObject({ site: z.boolean(), email: z.boolean() })

import {
  AgentGymError,
  errorCatalog,
  notificationListRequestSchema,
  notificationListSchema,
  notificationSettingSchema,
  notificationSettingsSchema,
  notificationTopicSchema,
  putNotificationSettingRequestSchema,
  readNotificationsRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { Hono } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Env, RouteRules } from '../../core/http/env.ts'
import { type Html, page } from '../../core/http/pages/page.ts'
import { createRoutes, declare, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { describeEvent } from './describe-event.ts'
import { listNotifications, markRead, readSettings, requiredTopics, writeSetting } from './notifications.store.ts'
import { readUnsubscribeToken, unsubscribe } from './unsubscribe.ts'

const access = 'account:manage'

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/notifications',
  access,
  summary: 'List your notifications',
  description: 'Newest first. The newest 500 of the last 90 days are kept.',
  request: { query: notificationListRequestSchema },
  responses: {
    200: { description: 'One page.', content: json(notificationListSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const readRoute = defineRoute({
  method: 'post',
  path: '/v1/notifications/read',
  access,
  summary: 'Mark notifications as read',
  request: { body: { required: true, content: json(readNotificationsRequestSchema) } },
  responses: { 204: { description: 'They are read.' }, ...failures('unauthenticated', 'forbidden') },
})

const settingsRoute = defineRoute({
  method: 'get',
  path: '/v1/notification-settings',
  access,
  summary: 'Show your notification settings',
  responses: {
    200: { description: 'Every topic.', content: json(notificationSettingsSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const putSettingRoute = defineRoute({
  method: 'put',
  path: '/v1/notification-settings/{topic}',
  access,
  summary: 'Choose the channels of a topic',
  description: 'Email about optional topics goes to confirmed addresses only. Required topics cannot be turned off.',
  request: {
    params: z.object({ topic: notificationTopicSchema }),
    body: { required: true, content: json(putNotificationSettingRequestSchema) },
  },
  responses: {
    200: { description: 'The setting.', content: json(notificationSettingSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

export function notificationRoutes({ database, config }: Services): OpenAPIHono<Env> {
  const routes = createRoutes()

  routes.openapi(listRoute, async (c) => {
    const { unread, cursor, limit } = c.req.valid('query')
    const { accountId } = c.get('actor')
    const listKey = JSON.stringify(['notifications', accountId, unread])
    const { rows, next_cursor } = await readPage(
      { secret: config.secret, listKey, cursor, limit, endOf: endByCreation },
      (range) => listNotifications(database.query, accountId, { unread: unread === 'true', ...range }),
    )
    const notifications = rows.map(({ id, type, topic, data, read_at, created_at }) => ({
      ...{ id, type, topic, ...describeEvent(type, data as never) },
      ...{ read: read_at !== null, created_at: created_at.toISOString() },
    }))
    return c.json({ notifications, next_cursor }, 200)
  })

  routes.openapi(readRoute, async (c) => {
    await markRead(database.query, c.get('actor').accountId, c.req.valid('json').ids)
    return c.body(null, 204)
  })

  routes.openapi(settingsRoute, async (c) => c.json(await readSettings(database.query, c.get('actor').accountId), 200))

  routes.openapi(putSettingRoute, async (c) => {
    const { topic } = c.req.valid('param')
    const { accountId } = c.get('actor')
    const channels = c.req.valid('json')
    if (requiredTopics.has(topic) && !(channels.site && channels.email)) throw topicRequired(topic)
    const settings = await database.transaction(async (query) => {
      await writeSetting(query, { accountId, topic }, channels)
      return (await readSettings(query, accountId)).settings
    })
    const written = settings.find((setting) => setting.topic === topic)
    if (written === undefined) throw new Error(`the topic ${topic} has no setting`)
    return c.json(written, 200)
  })

  return routes
}

function topicRequired(topic: string): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: `Notifications about ${topic} cannot be turned off: they tell why something stopped working.`,
    data: { field: 'topic', in: 'path' },
  })
}

/** Mail programs send the form from anywhere, without a cookie. */
const pageRules: RouteRules = { access: 'anyone', csrf: 'token' }

/**
 * The link in notification mail. `GET` shows a form, because mail scanners follow links; `POST` unsubscribes, from the
 * form or from a mail program's own button (RFC 8058), whose body is `List-Unsubscribe=One-Click`.
 */
export function unsubscribeRoutes(services: Services): Hono<Env> {
  const { config } = services
  const routes = new Hono<Env>()

  const answer = async (work: () => Promise<Html>): Promise<{ body: Html; status: ContentfulStatusCode }> => {
    try {
      return { body: await work(), status: 200 }
    } catch (error) {
      if (!(error instanceof AgentGymError)) throw error
      const failure = html`<p class="failure" role="alert">${error.message} ${error.hint}</p>`
      return { body: framed(failure), status: errorCatalog[error.code].status as ContentfulStatusCode }
    }
  }

  routes.get('/unsubscribe', declare(pageRules), async (c) => {
    const token = c.req.query('token') ?? ''
    const { body, status } = await answer(async () => {
      readUnsubscribeToken(config.secret, token)
      return framed(html`
<p class="lead">You will get no more emails like the one that brought you here. Notifications still appear on the site.</p>
<form method="post" action="/unsubscribe?token=${encodeURIComponent(token)}"><button>Unsubscribe</button></form>`)
    })
    return c.html(body, status)
  })

  routes.post('/unsubscribe', declare(pageRules), async (c) => {
    const { body, status } = await answer(async () => {
      await unsubscribe(services, { token: c.req.query('token') ?? '', ip: c.get('ip') })
      return framed(html`
<p class="lead">You are unsubscribed. <a href="/settings/notifications">All notification settings</a></p>`)
    })
    return c.html(body, status)
  })

  return routes
}

function framed(body: Html): Html {
  return page({ title: 'Unsubscribe · AgentGym', body: [html`<h1>Unsubscribe</h1>`, body] })
}

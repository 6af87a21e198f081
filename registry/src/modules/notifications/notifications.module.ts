import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { sendPendingMail } from './notification-mail.ts'
import { notificationRoutes, unsubscribeRoutes } from './notifications.routes.ts'
import { forgetNotifications } from './notifications.store.ts'

export function notificationsModule(services: Services): Module {
  return {
    routes: [notificationRoutes(services), unsubscribeRoutes(services)],
    tasks: [
      { name: 'notifications.send-mail', everyMs: 10_000, run: (signal) => sendPendingMail(services, signal) },
      {
        name: 'notifications.forget',
        everyMs: 24 * 3_600_000,
        run: () => forgetNotifications(services.database.query),
      },
    ],
  }
}

/** Notifications of users, on the site and by mail; their settings; unsubscribing. */
export { notificationsModule } from './notifications.module.ts'
export { countUnread, notifyUsers } from './notifications.store.ts'

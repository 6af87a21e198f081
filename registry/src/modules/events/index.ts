/** Events of accounts: recorded with what they report, distributed to notifications and webhooks. */
export type { StoredEvent, Subscriber } from './distribute-events.ts'
export { distributeEvents } from './distribute-events.ts'
export { eventsModule } from './events.module.ts'
export { type NewEvent, recordEvent } from './record-event.ts'

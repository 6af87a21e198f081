/** Moderation: reports, take-downs, appeals, and the refunds that follow. */
export { moderationModule } from './moderation.module.ts'
export { oweRefundsOfMismatch } from './owed-refunds.ts'

import type { Hono } from 'hono'
import type { Env } from '../core/http/env.ts'
import { idempotencyTasks } from '../core/idempotency/idempotency.ts'
import type { Module } from '../core/module.ts'
import { backgroundSettled, type ScheduledTask } from '../core/scheduled-tasks/scheduled-tasks.ts'
import { accountRoutes, accountTasks } from '../modules/accounts/index.ts'
import { analyticsModule } from '../modules/analytics/index.ts'
import { catalogModule } from '../modules/catalog/index.ts'
import { demonstrationsModule, replayJobs } from '../modules/demonstrations/index.ts'
import { turnSeason } from '../modules/evaluations/index.ts'
import { eventsModule } from '../modules/events/index.ts'
import { hostingModule } from '../modules/hosting/index.ts'
import { jobsModule } from '../modules/jobs/index.ts'
import { ledgerModule } from '../modules/ledger/index.ts'
import { meteringModule } from '../modules/metering/index.ts'
import { moderationModule } from '../modules/moderation/index.ts'
import { notificationsModule, notifyUsers } from '../modules/notifications/index.ts'
import { npmModule, type OpenBuiltIn } from '../modules/npm/index.ts'
import { ordersModule } from '../modules/orders/index.ts'
import { checkJobs, packagesModule } from '../modules/packages/index.ts'
import { paymentsModule, requireMoneyDatabase } from '../modules/payments/index.ts'
import { pricesModule } from '../modules/prices/index.ts'
import { rentalsModule } from '../modules/rentals/index.ts'
import { reviewsModule } from '../modules/reviews/index.ts'
import { runsModule, trainJobs } from '../modules/runs/index.ts'
import { ensureSigningKey, evaluateJobs, verificationModule } from '../modules/verification/index.ts'
import { queueDeliveries, webhooksModule } from '../modules/webhooks/index.ts'
import type { AppServices } from './app-services.ts'

/** All modules together: routes, scheduled tasks, and cleanup when the process ends. */
export type Modules = {
  routes: Hono<Env>[]
  tasks: ScheduledTask[]
  /** Ends long-lived responses. Their clients reconnect to another process. */
  drain(): void
  close(): Promise<void>
}

/** `library`: makes the package that the npm registry serves from this installation. */
export async function openModules(services: AppServices, library?: OpenBuiltIn): Promise<Modules> {
  await requireMoneyDatabase(services)
  await ensureSigningKey(services)
  await turnSeason(services)
  const jobs = [replayJobs(services), checkJobs(services), evaluateJobs(services), trainJobs(services)]
  const modules: Module[] = [
    catalogModule(services),
    eventsModule(services, [notifyUsers, queueDeliveries]),
    notificationsModule(services),
    webhooksModule(services),
    ledgerModule(services),
    pricesModule(services),
    ordersModule(services),
    paymentsModule(services),
    meteringModule(services),
    packagesModule(services),
    analyticsModule(services),
    reviewsModule(services),
    moderationModule(services),
    npmModule(services, library),
    jobsModule(services, jobs),
    runsModule(services),
    rentalsModule(services),
    demonstrationsModule(services),
    verificationModule(services),
    hostingModule(services),
  ]
  return {
    routes: [accountRoutes(services), ...modules.flatMap(({ routes }) => routes)],
    tasks: [...accountTasks(services), ...idempotencyTasks(services), ...modules.flatMap(({ tasks = [] }) => tasks)],
    drain: () => {
      for (const module of modules) module.drain?.()
    },
    close: async () => {
      await backgroundSettled()
      for (const module of modules) await module.close?.()
    },
  }
}

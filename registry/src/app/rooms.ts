import type { Hono } from 'hono'
import type { Env } from '../core/http/env.ts'
import { idempotencyTasks } from '../core/idempotency/idempotency.ts'
import type { Module } from '../core/module.ts'
import { backgroundSettled, type ScheduledTask } from '../core/scheduled-tasks/scheduled-tasks.ts'
import { accountRoutes, accountTasks } from '../modules/accounts/index.ts'
import { catalogModule } from '../modules/catalog/index.ts'
import { callDesk } from '../modules/hosting/call-desk.ts'
import { chatRoutes } from '../modules/hosting/chat.routes.ts'
import { hostedCallRoutes } from '../modules/hosting/hosted-calls.routes.ts'
import { hostingUpkeep } from '../modules/hosting/hosting-upkeep.ts'
import { jobRoutes } from '../modules/jobs/jobs.routes.ts'
import { jobUpkeep } from '../modules/jobs/upkeep.ts'
import { ledgerModule } from '../modules/ledger/index.ts'
import { meteringModule } from '../modules/metering/index.ts'
import { moderationModule } from '../modules/moderation/index.ts'
import { npmModule } from '../modules/npm/index.ts'
import { ordersModule } from '../modules/orders/index.ts'
import { checkJobs, packagesModule } from '../modules/packages/index.ts'
import { paymentsModule, requireMoneyDatabase } from '../modules/payments/index.ts'
import { pricesModule } from '../modules/prices/index.ts'
import { reviewsModule } from '../modules/reviews/index.ts'
import { rpcRoutes } from '../modules/runs/rpc.routes.ts'
import { runDataRoutes } from '../modules/runs/run-data.routes.ts'
import { runFeeds } from '../modules/runs/run-feed.ts'
import { runRoutes } from '../modules/runs/runs.routes.ts'
import { trainJobs } from '../modules/runs/train-jobs.ts'
import { trainingJobRoutes } from '../modules/runs/training-jobs.routes.ts'
import { trainingUpkeep } from '../modules/runs/training-upkeep.ts'
import { evaluateJobRoutes } from '../modules/verification/evaluate-jobs.routes.ts'
import { evaluateJobs } from '../modules/verification/evaluate-jobs.ts'
import { ensureSigningKey } from '../modules/verification/signing-keys.ts'
import { verificationUpkeep } from '../modules/verification/upkeep.ts'
import { verificationRoutes } from '../modules/verification/verification.routes.ts'
import type { AppServices } from './app-services.ts'

/** What the rooms of the service bring: routes, upkeep, and what they hold open. */
export type Rooms = {
  routes: Hono<Env>[]
  upkeep: ScheduledTask[]
  /** Ends the answers that would go on for hours: whoever has them asks again, elsewhere. */
  drain(): void
  close(): Promise<void>
}

export async function openRooms(services: AppServices): Promise<Rooms> {
  await requireMoneyDatabase(services)
  await ensureSigningKey(services)
  const jobs = [checkJobs(services), evaluateJobs(services), trainJobs(services)]
  // The OpenAPI document describes a schema as the first route uses it, nullable or not: the catalog comes first.
  const modules: Module[] = [
    catalogModule(services),
    ledgerModule(services),
    pricesModule(services),
    ordersModule(services),
    paymentsModule(services),
    meteringModule(services),
    packagesModule(services),
    reviewsModule(services),
    moderationModule(services),
    npmModule(services),
  ]
  return {
    routes: [
      accountRoutes(services),
      ...modules.flatMap(({ routes }) => routes),
      jobRoutes(services, jobs),
      runRoutes(services),
      runDataRoutes(services),
      rpcRoutes(services),
      trainingJobRoutes(services),
      evaluateJobRoutes(services),
      verificationRoutes(services),
      hostedCallRoutes(services),
      chatRoutes(services),
    ],
    upkeep: [
      ...accountTasks(services),
      ...jobUpkeep(services, jobs),
      ...trainingUpkeep(services),
      ...verificationUpkeep(services),
      ...hostingUpkeep(services),
      ...idempotencyTasks(services),
      ...modules.flatMap(({ tasks = [] }) => tasks),
    ],
    drain: () => {
      for (const module of modules) module.drain?.()
      runFeeds(services).close()
      callDesk(services).close()
    },
    close: async () => {
      await backgroundSettled()
      for (const module of modules) await module.close?.()
    },
  }
}

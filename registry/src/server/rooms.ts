import type { Hono } from 'hono'
import { accountRoutes } from '../auth/account-routes.ts'
import { accountUpkeep } from '../auth/account-upkeep.ts'
import { backgroundSettled } from '../auth/in-background.ts'
import { catalogRoutes } from '../catalog/catalog.routes.ts'
import { catalogUpkeep } from '../catalog/catalog-upkeep.ts'
import { flushDownloads } from '../catalog/record-download.ts'
import { callDesk } from '../hosting/call-desk.ts'
import { chatRoutes } from '../hosting/chat.routes.ts'
import { hostedCallRoutes } from '../hosting/hosted-calls.routes.ts'
import { hostingUpkeep } from '../hosting/hosting-upkeep.ts'
import { closeJobQueue, jobQueue } from '../jobs/job-queue.ts'
import { jobRoutes } from '../jobs/jobs.routes.ts'
import { jobUpkeep } from '../jobs/upkeep.ts'
import { capRoutes } from '../market/caps/caps.routes.ts'
import { earningsRoutes } from '../market/earnings/earnings.routes.ts'
import { idempotencyUpkeep } from '../market/idempotency/idempotency-upkeep.ts'
import { ledgerUpkeep } from '../market/ledger/ledger-upkeep.ts'
import { meteringRoutes } from '../market/metering/metering.routes.ts'
import { meteringUpkeep } from '../market/metering/metering-upkeep.ts'
import { moderationRoutes } from '../market/moderation/moderation.routes.ts'
import { moderationUpkeep } from '../market/moderation/moderation-upkeep.ts'
import { orderRoutes } from '../market/orders/orders.routes.ts'
import { ordersUpkeep } from '../market/orders/orders-upkeep.ts'
import { judgeMoneyPlace } from '../market/payments/judge-money-place.ts'
import { paymentRoutes } from '../market/payments/payments.routes.ts'
import { paymentsUpkeep } from '../market/payments/payments-upkeep.ts'
import { priceUpkeep } from '../market/prices/price-upkeep.ts'
import { priceRoutes } from '../market/prices/prices.routes.ts'
import { reviewRoutes } from '../market/reviews/reviews.routes.ts'
import { reviewsUpkeep } from '../market/reviews/reviews-upkeep.ts'
import { checkJobRoutes } from '../packages/check-jobs.routes.ts'
import { checkJobs } from '../packages/check-jobs.ts'
import { npmRoutes } from '../packages/npm/npm.routes.ts'
import { packageRoutes } from '../packages/packages.routes.ts'
import { packageUpkeep } from '../packages/upkeep.ts'
import { rpcRoutes } from '../training/rpc.routes.ts'
import { runDataRoutes } from '../training/run-data.routes.ts'
import { runFeeds } from '../training/run-feed.ts'
import { runRoutes } from '../training/runs.routes.ts'
import { trainJobs } from '../training/train-jobs.ts'
import { trainingJobRoutes } from '../training/training-jobs.routes.ts'
import { trainingUpkeep } from '../training/training-upkeep.ts'
import { evaluateJobRoutes } from '../verification/evaluate-jobs.routes.ts'
import { evaluateJobs } from '../verification/evaluate-jobs.ts'
import { ensureSigningKey } from '../verification/signing-keys.ts'
import { verificationUpkeep } from '../verification/upkeep.ts'
import { verificationRoutes } from '../verification/verification.routes.ts'
import type { Env } from './env.ts'
import type { Services } from './services.ts'
import type { UpkeepTask } from './upkeep.ts'

/** What the rooms of the service bring: routes, upkeep, and what they hold open. */
export type Rooms = {
  routes: Hono<Env>[]
  upkeep: UpkeepTask[]
  /** Ends the answers that would go on for hours: whoever has them asks again, elsewhere. */
  drain(): void
  close(): Promise<void>
}

export async function openRooms(services: Services): Promise<Rooms> {
  await judgeMoneyPlace(services)
  await jobQueue(services)
  await ensureSigningKey(services)
  const jobs = [checkJobs(services), evaluateJobs(services), await trainJobs(services)]
  return {
    routes: [
      accountRoutes(services),
      catalogRoutes(services),
      packageRoutes(services),
      jobRoutes(services, jobs),
      checkJobRoutes(services),
      runRoutes(services),
      runDataRoutes(services),
      rpcRoutes(services),
      trainingJobRoutes(services),
      evaluateJobRoutes(services),
      verificationRoutes(services),
      reviewRoutes(services),
      moderationRoutes(services),
      meteringRoutes(services),
      hostedCallRoutes(services),
      chatRoutes(services),
      npmRoutes(services),
      priceRoutes(services),
      orderRoutes(services),
      paymentRoutes(services),
      earningsRoutes(services),
      capRoutes(services),
    ],
    upkeep: [
      ...accountUpkeep(services),
      ...catalogUpkeep(services),
      ...packageUpkeep(services),
      ...jobUpkeep(services, jobs),
      ...trainingUpkeep(services),
      ...verificationUpkeep(services),
      ...reviewsUpkeep(services),
      ...moderationUpkeep(services),
      ...meteringUpkeep(services),
      ...hostingUpkeep(services),
      ...idempotencyUpkeep(services),
      ...ledgerUpkeep(services),
      ...ordersUpkeep(services),
      ...paymentsUpkeep(services),
      ...priceUpkeep(services),
    ],
    drain: () => {
      runFeeds(services).close()
      callDesk(services).close()
    },
    close: async () => {
      await backgroundSettled()
      await flushDownloads(services)
      await closeJobQueue(services.database)
    },
  }
}

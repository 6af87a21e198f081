import { JobQueue } from '../core/queue/job-queue.ts'
import { OpenJobs } from '../core/queue/open-jobs.ts'
import type { Services } from '../core/services.ts'
import { type HostingServices, openHostingServices } from '../modules/hosting/index.ts'
import type { OrderServices } from '../modules/orders/index.ts'
import { openPackageServices } from '../modules/packages/index.ts'
import { openPaymentServices, type PaymentServices } from '../modules/payments/index.ts'
import { openRunServices, type RunServices } from '../modules/runs/index.ts'

/** The core's services, with the modules' state in this process. */
export type AppServices = RunServices & HostingServices & OrderServices & PaymentServices

/** Makes the queue and each module's part, once a process. */
export function openAppServices<Given extends Omit<Services, 'queue' | 'openJobs'>>(given: Given): Given & AppServices {
  const { database, config } = given
  const queue = new JobQueue(database, config.secret, config.queue.weights)
  const services = { ...given, queue, openJobs: new OpenJobs(given) }
  return openHostingServices(openRunServices(openPaymentServices(openPackageServices(services))))
}

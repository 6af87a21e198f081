import { JobQueue } from '../core/queue/job-queue.ts'
import type { Services } from '../core/services.ts'
import type { OrderServices } from '../modules/orders/index.ts'
import { openPackageServices, type PackageServices } from '../modules/packages/index.ts'
import { openPaymentServices, type PaymentServices } from '../modules/payments/index.ts'

/** The core's services with what the modules hold in this process. */
export type AppServices = PackageServices & OrderServices & PaymentServices

/** Makes the queue and each module's part, once a process. */
export function openAppServices<Given extends Omit<Services, 'queue'>>(given: Given): Given & AppServices {
  const queue = new JobQueue(given.database, given.config.secret)
  return openPaymentServices(openPackageServices({ ...given, queue }))
}

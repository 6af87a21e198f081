import { sql } from 'kysely'
import { Dependencies } from '../core/dependencies/dependencies.ts'
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

/** Opened elsewhere. `dependencies` are created from the others, unless their failures are already counted. */
type Opened = Omit<Services, 'queue' | 'openJobs' | 'dependencies'> & Partial<Pick<Services, 'dependencies'>>

/** Creates the queue and each module's state, once per process. */
export function openAppServices<Given extends Opened>(given: Given): Given & AppServices {
  const { database, config } = given
  const queue = new JobQueue(database, config.secret, config.queue.weights)
  const dependencies = given.dependencies ?? openDependencies(given)
  const services = { ...given, dependencies, queue, openJobs: new OpenJobs(given) }
  return openHostingServices(openRunServices(openPaymentServices(openPackageServices(services))))
}

/** Probed with a statement and a request to the bucket. */
export function openDependencies({
  database,
  objects,
  log,
}: Pick<Services, 'database' | 'objects' | 'log'>): Dependencies {
  const probes = { database: () => sql`select 1`.execute(database.query), storage: () => objects.check() }
  return new Dependencies(probes, log)
}

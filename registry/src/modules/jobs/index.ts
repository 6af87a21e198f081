/** Jobs as workers see them: leases, heartbeats, releases. */
export { jobsModule } from './jobs.module.ts'
export { leaseEnd } from './lease-jobs.ts'
export { noteUsage } from './workers.store.ts'

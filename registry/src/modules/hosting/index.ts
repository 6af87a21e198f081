/** Hosted agents: calls that the marketplace's workers answer. */
export { type HostingServices, openHostingServices } from './call-broker.ts'
export { hostingModule } from './hosting.module.ts'

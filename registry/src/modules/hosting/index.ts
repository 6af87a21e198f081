/** Agents that workers of the marketplace run for their callers. */
export { type HostingServices, openHostingServices } from './call-broker.ts'
export { hostingModule } from './hosting.module.ts'

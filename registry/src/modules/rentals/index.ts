import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { rentalRoutes } from './rentals.routes.ts'

export { readSpent } from './rentals.store.ts'

/** Machines rented for the queue: what is needed, what the limits allow, and which exist. Others ask the providers. */
export function rentalsModule(services: Services): Module {
  return { routes: [rentalRoutes(services)] }
}

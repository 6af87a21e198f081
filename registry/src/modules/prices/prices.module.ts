import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { priceRoutes } from './prices.routes.ts'
import { priceTasks } from './prices.tasks.ts'

export function pricesModule(services: Services): Module {
  return { routes: [priceRoutes(services)], tasks: priceTasks(services) }
}

import type { Module } from '../../core/module.ts'
import { orderRoutes } from './orders.routes.ts'
import type { OrderServices } from './place-order.ts'
import { spendCapRoutes } from './spend-caps.routes.ts'
import { orderTasks } from './unpaid-orders.ts'

export function ordersModule(services: OrderServices): Module {
  return { routes: [orderRoutes(services), spendCapRoutes(services)], tasks: orderTasks(services) }
}

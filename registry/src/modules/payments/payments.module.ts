import type { Module } from '../../core/module.ts'
import { earningsRoutes } from './earnings.routes.ts'
import type { PaymentServices } from './payment-provider.ts'
import { paymentRoutes } from './payments.routes.ts'
import { paymentTasks } from './payments.tasks.ts'

export function paymentsModule(services: PaymentServices): Module {
  return { routes: [paymentRoutes(services), earningsRoutes(services)], tasks: paymentTasks(services) }
}

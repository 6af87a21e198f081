import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { sendDueDeliveries } from './deliver.ts'
import { WebhookSender } from './webhook-sender.ts'
import { webhookRoutes } from './webhooks.routes.ts'

export function webhooksModule(given: Services): Module {
  const services = { ...given, webhookSender: new WebhookSender({ allowed: given.config.webhookOrigins }) }
  return {
    routes: [webhookRoutes(services)],
    tasks: [{ name: 'webhooks.deliver', everyMs: 5_000, run: (signal) => sendDueDeliveries(services, signal) }],
    close: () => services.webhookSender.close(),
  }
}

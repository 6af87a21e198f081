/** Webhooks of accounts: signed messages about events, with retries and a log. */
export { queueDeliveries } from './deliver.ts'
export { webhooksModule } from './webhooks.module.ts'

import { idempotencyKeySchema } from '@agentgym/contract'
import { z } from '@hono/zod-openapi'

/** Of every request that moves money: without a key, whoever gets no answer could not ask again. */
export const idempotencyHeaders = z.object({
  'idempotency-key': idempotencyKeySchema.describe(
    'Made by the client for this one request, a random uuid say. Repeating the request under its key does nothing and gives the first answer.',
  ),
})

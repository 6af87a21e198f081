import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { trajectorySchema } from '../training-events.ts'
import { evaluateRunRequestSchema, evaluationJobSchema, runSchema, startRunRequestSchema } from './runs.ts'

const runParams = z.strictObject({ run_id: z.uuid() })

/** As the header of that name in REST: repeating a request under its key gives the run that the first one made. */
export const idempotencyKeySchema = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces')

/** Of every request that moves money: without a key, a client that got no response could not safely retry. */
export const idempotencyHeadersSchema = z.object({
  'idempotency-key': idempotencyKeySchema.describe(
    'Made by the client for this one request, a random uuid say. Repeating the request under its key does nothing and gives the first answer.',
  ),
})

export const startRunHeadersSchema = z.object({
  'idempotency-key': idempotencyKeySchema
    .optional()
    .describe('Repeating a request under its key gives the run that the first one made.'),
})

const startParams = startRunRequestSchema.extend({ idempotency_key: idempotencyKeySchema.optional() })

/** What each method of `POST /rpc` takes, by name, and gives. */
export const rpcMethods = {
  'training.start_grpo': { params: startParams.omit({ algorithm: true }), result: runSchema },
  'training.start': { params: startParams, result: runSchema },
  'training.get_status': {
    params: z
      .strictObject({ run_id: z.uuid().optional(), evaluation_id: z.uuid().optional() })
      .refine(({ run_id, evaluation_id }) => (run_id === undefined) !== (evaluation_id === undefined), {
        path: ['run_id'],
        message: 'give either run_id or evaluation_id',
      }),
    result: z.union([runSchema, evaluationJobSchema]),
  },
  'training.cancel': { params: runParams, result: runSchema },
  'training.evaluate': {
    params: evaluateRunRequestSchema.extend(runParams.shape),
    result: evaluationJobSchema,
  },
  'training.export_trajectories': {
    params: runParams.extend({
      limit: z.int().min(1).max(100).default(20),
      cursor: z.string().max(200).optional(),
    }),
    result: z.object({ trajectories: z.array(trajectorySchema), next_cursor: z.string().nullable() }),
  },
} as const
export type RpcMethod = keyof typeof rpcMethods

/** Kept as it came. */
const rpcIdSchema = z.union([z.string(), z.number(), z.null()])

export const rpcRequestSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    method: z.enum(Object.keys(rpcMethods) as [RpcMethod, ...RpcMethod[]]),
    params: z.record(z.string(), z.unknown()).optional(),
    /** Left out for a notification, which has no answer. */
    id: rpcIdSchema.optional(),
  })
  .meta({ id: 'RpcRequest' })

export const rpcResponseSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string(), data: errorReportSchema }).optional(),
    id: rpcIdSchema,
  })
  .meta({ id: 'RpcResponse' })

export const rpcBodySchema = z.union([rpcRequestSchema, z.array(rpcRequestSchema).min(1).max(50)])
export const rpcResultSchema = z.union([rpcResponseSchema, z.array(rpcResponseSchema)])

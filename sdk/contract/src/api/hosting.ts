import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { jsonValue, line } from './fields.ts'

export const hostedCallHeadersSchema = z.object({
  'idempotency-key': z
    .uuid()
    .optional()
    .describe(
      'Becomes the id of the call. Repeating an answered call under its key within the hour gives the same answer and counts nothing; one that failed is tried again.',
    ),
})

/**
 * What is asked of an agent that the marketplace runs. `observation` as the scenario's `observe` gives it: numbers for a box
 * (nested or flat), an index for a discrete space, a string for a text, an object for a dict. `action_mask` has the shape of
 * the scenario's: booleans, one list a component; an action that it leaves out is never taken.
 */
export const hostedCallRequestSchema = z.strictObject({
  version: line(z.string().min(1).max(64))
    .optional()
    .describe('A version or a range of versions; `latest` unless told.'),
  observation: jsonValue,
  action_mask: jsonValue.optional(),
})
export type HostedCallRequest = z.infer<typeof hostedCallRequestSchema>

/** What a policy does upon one observation, as the scenario's `step` would get it. */
export const hostedActionSchema = z.strictObject({
  /** Number (discrete, start applied), numbers (multiDiscrete, box inside its bounds), object (dict). */
  action: jsonValue,
  /** Of a discrete action whose space has labels, or of the one such choice on top of a dict (the tool of a tool scenario); else null. */
  label: z.string().max(1_000).nullable(),
  /** Of each choice in order, 0 to 1, summing to 1: where the action is one discrete choice; else null. */
  probabilities: z.array(z.number().min(0).max(1)).max(100_000).nullable(),
})
export type HostedAction = z.infer<typeof hostedActionSchema>

export const hostedCallSchema = z
  .object({
    id: z.uuid(),
    package: z.string(),
    version: z.string(),
    ...hostedActionSchema.shape,
    /** What the call was allowed for, hence who bears it. */
    because: z.enum(['own', 'free', 'bought', 'trial']),
    trial_calls_left: z.int().nonnegative().nullable().describe('Null where it was not a call of the trial.'),
    /** Milliseconds that the model itself took. */
    model_ms: z.number().nonnegative(),
  })
  .meta({ id: 'HostedCall' })
export type HostedCall = z.infer<typeof hostedCallSchema>

/** Calls that a worker takes at once, of one version: they go through the model together. */
export const callsABatch = 64

export const leaseCallsRequestSchema = z.strictObject({
  /** Chosen by the process at its start. */
  worker_id: z.uuid(),
  /** Ids of versions that it holds loaded: their calls are given to it first. */
  loaded: z.array(z.uuid()).max(64),
  /** How long the answer may wait for a call to come, in milliseconds. */
  wait_ms: z.int().min(0).max(25_000),
})

export const leasedCallsSchema = z
  .object({
    /** Stands in the answers, and opens the tarball. Whoever leases the calls after us gets another one. */
    lease: z.string(),
    expires_at: z.iso.datetime(),
    agent: z.object({
      /** Of the version: the same content for ever. */
      id: z.uuid(),
      name: z.string(),
      version: z.string(),
      integrity: z.string(),
      tarball_url: z.string(),
    }),
    calls: z
      .array(z.object({ id: z.uuid(), observation: jsonValue, action_mask: jsonValue.nullable() }))
      .min(1)
      .max(callsABatch),
  })
  .meta({ id: 'LeasedCalls' })
export type LeasedCalls = z.infer<typeof leasedCallsSchema>

/** One a call: an action, or why there is none. What the caller got wrong is `observation_invalid`. */
export const callAnswerSchema = z.union([
  z.strictObject({ id: z.uuid(), ...hostedActionSchema.shape, model_ms: z.number().nonnegative() }),
  z.strictObject({ id: z.uuid(), error: errorReportSchema }),
])
export type CallAnswer = z.infer<typeof callAnswerSchema>

export const callAnswersRequestSchema = z.strictObject({
  lease: z.string().min(1).max(200),
  answers: z.array(callAnswerSchema).min(1).max(callsABatch),
})
export const callAnswersTakenSchema = z
  .object({ taken: z.int().nonnegative(), late: z.int().nonnegative() })
  .meta({ id: 'CallAnswersTaken' })

/** What OpenAI's clients send. Fields that mean nothing to a policy, such as a temperature, are taken and left alone. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1).max(300).describe('`@scope/name`, or `@scope/name@` with a version or a range.'),
  messages: z
    .array(
      z.looseObject({
        role: z.string(),
        content: z
          .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() })), z.null()])
          .optional(),
      }),
    )
    .min(1)
    .max(10_000),
  tools: z
    .array(z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }))
    .max(1_000)
    .nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  n: z.literal(1).nullish(),
})
export type ChatRequest = z.infer<typeof chatRequestSchema>

const tokens = z.int().nonnegative()
export const chatCompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    /** Seconds since 1970. */
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          tool_calls: z
            .array(
              z.object({
                id: z.string(),
                type: z.literal('function'),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .optional(),
        }),
        logprobs: z.null(),
        finish_reason: z.enum(['stop', 'tool_calls']),
      }),
    ),
    usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens }),
  })
  .meta({ id: 'ChatCompletion' })
export type ChatCompletion = z.infer<typeof chatCompletionSchema>

export const modelListSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })),
  })
  .meta({ id: 'ModelList' })

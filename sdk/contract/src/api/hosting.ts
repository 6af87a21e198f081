import { z } from 'zod'
import { errorReportSchema } from '../agent-gym-error.ts'
import { jsonValue, line } from './fields.ts'
import { workerNameSchema } from './jobs.ts'

/** Most earlier observations of one call. */
export const longestHistory = 256

/** What a policy with memory remembers of an episode: float32 numbers, little-endian, in base64. */
const episodeState = z.string().max(12_000)

/** What a policy with memory is shown again: earlier observations of an episode. */
const history = z.array(jsonValue).max(longestHistory)

/** In minor units, per 1,000 calls. */
const maxPrice = z.coerce.number().int().min(0).max(1e12)

/** Headers of a call, for every API. */
export const hostedCallHeadersSchema = z.object({
  'idempotency-key': z
    .uuid()
    .optional()
    .describe(
      'Becomes the id of the call. Repeating a successful call with its key within an hour returns the same response and is not counted again; a failed one is retried.',
    ),
  'agentgym-max-price': maxPrice
    .optional()
    .describe(
      'The highest price of 1,000 calls that the caller accepts, in minor units. If they cost more, the call fails with `price_changed`. Paid calls need it, or a spending cap for `calls` of the account or the token.',
    ),
})

/**
 * A call of a hosted agent. `observation` has the form that the scenario's `observe` returns: numbers for a box (nested or
 * flat), an index for a discrete space, a string for a text, an object for a dict. `action_mask` has the form of the
 * scenario's mask: booleans, one list per component. A masked action is never taken.
 */
export const hostedCallRequestSchema = z.strictObject({
  version: line(z.string().min(1).max(64)).optional().describe('A version or range. Default: `latest`.'),
  observation: jsonValue,
  action_mask: jsonValue.optional(),
  state: episodeState
    .optional()
    .describe(
      'For an agent with memory: the `state` that its last call of this episode returned. Without it, an episode begins.',
    ),
  history: history
    .optional()
    .describe(
      'For an agent with memory: what it observed before in this episode, oldest first, after `state` if that is sent as well. At most 256.',
    ),
  max_price_minor: z
    .int()
    .min(0)
    .max(1e12)
    .optional()
    .describe('The same as the header `AgentGym-Max-Price`, and preferred to it.'),
})
export type HostedCallRequest = z.infer<typeof hostedCallRequestSchema>

/** A policy's action for one observation, in the form that the scenario's `step` receives. */
export const hostedActionSchema = z.strictObject({
  /**
   * Number (discrete, start applied), numbers (multiDiscrete, box inside its bounds), object (dict). Of tools with parameters:
   * `tool`, its number, and under the tool's name its arguments, in words and by the ids of the observation's items.
   */
  action: jsonValue,
  /** Label of a discrete action, or of the one labeled choice at the top of a dict (the tool of a tool scenario); else null. */
  label: z.string().max(1_000).nullable(),
  /** Probability of each choice, in order, if the action is one discrete choice; else null. */
  probabilities: z.array(z.number().min(0).max(1)).max(100_000).nullable(),
  /** Probability of each tool, in order, if the action is a tool with arguments. */
  tool_probabilities: z.array(z.number().min(0).max(1)).max(100_000).optional(),
  /** Of an agent with memory: what it remembers now. Opaque; send it with the next call of the episode. */
  state: episodeState.optional(),
})
export type HostedAction = z.infer<typeof hostedActionSchema>

export const hostedCallSchema = z
  .object({
    id: z.uuid(),
    package: z.string(),
    version: z.string(),
    ...hostedActionSchema.shape,
    /** Why the call was allowed, which decides who pays. */
    because: z.enum(['own', 'free', 'bought', 'trial']),
    trial_calls_left: z.int().nonnegative().nullable().describe('Null unless this was a trial call.'),
    /** Inference time in milliseconds. */
    model_ms: z.number().nonnegative(),
  })
  .meta({ id: 'HostedCall' })
export type HostedCall = z.infer<typeof hostedCallSchema>

/** Most calls of one version that a worker leases at once, to run them through the model as one batch. */
export const callsABatch = 64

export const leaseCallsRequestSchema = z.strictObject({
  /** Chosen by the process at its start. */
  worker_id: z.uuid(),
  /** As in the worker's description. Required by a token that is bound to one worker. */
  worker_name: workerNameSchema.optional(),
  /** Ids of versions it has loaded; it gets their calls first. */
  loaded: z.array(z.uuid()).max(64),
  /** How long the request may wait for a call, in milliseconds. */
  wait_ms: z.int().min(0).max(25_000),
})

export const leasedCallsSchema = z
  .object({
    /** Fencing token, sent with the answers and to download the tarball. The next lease of the calls has a different one. */
    lease: z.string(),
    expires_at: z.iso.datetime(),
    agent: z.object({
      /** Id of the version, whose content never changes. */
      id: z.uuid(),
      name: z.string(),
      version: z.string(),
      integrity: z.string(),
      tarball_url: z.string(),
    }),
    calls: z
      .array(
        z.object({
          id: z.uuid(),
          observation: jsonValue,
          action_mask: jsonValue.nullable(),
          state: episodeState.nullish(),
          history: history.optional(),
        }),
      )
      .min(1)
      .max(callsABatch),
  })
  .meta({ id: 'LeasedCalls' })
export type LeasedCalls = z.infer<typeof leasedCallsSchema>

/** One per call: an action or an error. `observation_invalid` means the caller sent a wrong observation. */
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

/** A part of a message. Clients send other kinds as well, such as images. */
const contentSchema = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().optional(), json: z.unknown().optional() })),
  z.null(),
])
export type Content = z.infer<typeof contentSchema>

/** A request of an OpenAI client. Fields that do not apply to a policy, such as the temperature, are ignored. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1).max(300).describe('`@scope/name`, or `@scope/name@` with a version or a range.'),
  messages: z
    .array(
      z.looseObject({
        role: z.string(),
        content: contentSchema.optional(),
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
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
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
        finish_reason: z.enum(['stop', 'tool_calls', 'length']),
      }),
    ),
    usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens }),
  })
  .meta({ id: 'ChatCompletion' })
export type ChatCompletion = z.infer<typeof chatCompletionSchema>

const itemSchema = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: contentSchema.optional(),
  output: contentSchema.optional(),
})

/** What a client may send as input: a text, or messages, calls and their results. */
export const inputSchema = z.union([z.string(), z.array(itemSchema).min(1).max(10_000)])
export type Input = z.infer<typeof inputSchema>

/** A request of OpenAI's Responses API. Fields that do not apply to a policy are ignored. */
export const responseRequestSchema = z.looseObject({
  model: z.string().min(1).max(300),
  input: inputSchema,
  tools: z
    .array(z.looseObject({ type: z.string(), name: z.string().optional() }))
    .max(1_000)
    .nullish(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.int().positive().nullish(),
  instructions: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
})
export type ResponseRequest = z.infer<typeof responseRequestSchema>

/** OpenAI's `Response`, with one item: the call of a function, or a message. */
export const responseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['completed', 'incomplete']),
    model: z.string(),
    output: z.array(z.looseObject({ type: z.enum(['function_call', 'message']), id: z.string() })),
    usage: z.looseObject({ input_tokens: tokens, output_tokens: tokens, total_tokens: tokens }),
  })
  .meta({ id: 'AgentResponse' })

const mostQuestions = 400
/** A choice of OpenAI's form. Policies know words alone. */
const word = z.union([z.string().max(1_000), z.boolean()])

/** A request of OpenAI's Decisions API. */
export const decisionRequestSchema = z.looseObject({
  model: z.string().min(1).max(300),
  input: inputSchema,
  questions: z
    .array(
      z.looseObject({
        type: z.enum(['choice', 'predicate', 'score']),
        name: z.string().max(1_000).optional(),
        choices: z
          .array(z.looseObject({ value: word }))
          .min(2)
          .max(255)
          .optional(),
      }),
    )
    .min(1)
    .max(mostQuestions),
})
export type DecisionRequest = z.infer<typeof decisionRequestSchema>

/** A request of System One, the other form of the same. */
export const systemOneRequestSchema = z.looseObject({
  model: z.string().min(1).max(300),
  state: z.unknown(),
  questions: z
    .record(
      z.string().min(1).max(1_000),
      z.looseObject({ type: z.string(), criteria: z.record(z.string(), z.unknown()).optional() }),
    )
    .refine((questions) => Object.keys(questions).length <= mostQuestions, `must be at most ${mostQuestions}`),
})
export type SystemOneRequest = z.infer<typeof systemOneRequestSchema>

const chance = z.number().min(0).max(1)

/** OpenAI's `Decision`: one answer a question, in order. */
export const decisionSchema = z
  .object({
    model: z.string(),
    answers: z.array(
      z.discriminatedUnion('type', [
        z.object({
          type: z.literal('choice'),
          name: z.string().nullable(),
          choice: z.string(),
          confidence: chance,
          probabilities: z.array(z.object({ value: z.string(), probability: chance })),
        }),
        z.object({ type: z.literal('refusal'), name: z.string().nullable() }),
      ]),
    ),
    usage: z.looseObject({ input_tokens: tokens, output_tokens: tokens, total_tokens: tokens }),
  })
  .meta({ id: 'Decision' })

/** The same in System One's form: one answer a question, by its id. */
export const systemOneSchema = z
  .object({
    model: z.string(),
    answers: z.record(
      z.string(),
      z.discriminatedUnion('type', [
        z.object({
          type: z.literal('choice'),
          choice: z.string(),
          confidence: chance,
          probabilities: z.record(z.string(), chance),
        }),
        z.object({ type: z.literal('refusal') }),
      ]),
    ),
    usage: z.object({ input_tokens: tokens, output_tokens: tokens }),
  })
  .meta({ id: 'SystemOneDecision' })

/** Of the Model Context Protocol, which is JSON-RPC 2.0: a request or a notification of a client. */
export const mcpRequestSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    method: z.string().meta({ example: 'tools/call' }),
    params: z.record(z.string(), z.unknown()).optional(),
    /** Omitted for a notification, which has no response. */
    id: z.union([z.string(), z.number()]).optional(),
  })
  .meta({ id: 'McpRequest' })

export const mcpResponseSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
    id: z.union([z.string(), z.number(), z.null()]),
  })
  .meta({ id: 'McpResponse' })

export const modelListSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })),
  })
  .meta({ id: 'ModelList' })

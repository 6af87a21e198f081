import { z } from 'zod'

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

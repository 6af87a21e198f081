import { isDeepStrictEqual } from 'node:util'
import { AgentGymError, type CallAnswer, callAnswersRequestSchema } from '@agentgym/contract'
import type { ServedCall } from './call-encoder.ts'

/** One answer with the probabilities of as many choices as a space may have takes less. */
const answerBytes = 2 ** 20

/**
 * What an agent's process said to calls, if it is one answer a call, in their order, as the contract has them. Anything else
 * means that the model has taken the process over: throws `model_crashed`.
 */
export function readAnswers(received: unknown, calls: Pick<ServedCall, 'id'>[]): CallAnswer[] {
  try {
    const answers = callAnswersRequestSchema.shape.answers.parse(received)
    const ids = (list: { id: string }[]) => list.map(({ id }) => id)
    const fits = answers.every((answer) => Buffer.byteLength(JSON.stringify(answer)) <= answerBytes)
    if (fits && isDeepStrictEqual(ids(answers), ids(calls))) return answers
  } catch {
    // Not of the contract's shape, or nested so deeply that nobody can tell.
  }
  throw takenOver('sent what is no answer')
}

export function takenOver(what: string): AgentGymError {
  return new AgentGymError({
    code: 'model_crashed',
    message: `The process that ran model.onnx ${what}, and was ended.`,
    hint: 'Export the policy again, as plain layers.',
    data: { file: 'model.onnx' },
  })
}

import { AgentGymError } from '@agentgym/contract'

export function modelTimeout(limitMs: number): AgentGymError {
  return new AgentGymError({
    code: 'model_timeout',
    message: `model.onnx did not answer within ${limitMs / 1000} s.`,
    hint: 'Train a smaller network.',
    data: { file: 'model.onnx', limit_ms: limitMs },
  })
}

import { AgentGymError } from '@agentgym/contract'

export function modelTimeout(limitMs: number): AgentGymError {
  return new AgentGymError({
    code: 'model_timeout',
    message: `model.onnx did not answer within ${limitMs / 1000} s.`,
    hint: 'Train a smaller network.',
    data: { file: 'model.onnx', limit_ms: limitMs },
  })
}

/** The error of a supervised process that runs only a model: whatever ended it was caused by the model. */
export function blameModel(error: unknown): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'training_failed') return error
  const { memory_mb, limit_mb, signal } = error.data
  if (typeof memory_mb === 'number') return modelOutOfMemory(memory_mb, Number(limit_mb))
  // A SIGKILL that we did not send comes from the kernel: the machine is out of memory.
  if (signal === 'SIGKILL') return modelOutOfMemory(null, null)
  if (signal === undefined) return error
  return new AgentGymError(
    {
      code: 'model_crashed',
      message: `model.onnx ended the process that ran it (${signal ?? `exit status ${error.data.exit_status}`}).`,
      hint: 'Export the policy again, as plain layers.',
      data: { file: 'model.onnx', signal, exit_status: error.data.exit_status },
    },
    { cause: error },
  )
}

export function modelOutOfMemory(memoryMb: number | null, limitMb: number | null): AgentGymError {
  const used =
    memoryMb === null ? '' : ` It brought its process to ${Math.round(memoryMb)} MiB; it may use ${limitMb} MiB.`
  return new AgentGymError({
    code: 'model_out_of_memory',
    message: `model.onnx used more memory than it may.${used}`,
    hint: 'Train a smaller network.',
    data: { file: 'model.onnx', memory_mb: memoryMb, limit_mb: limitMb },
  })
}

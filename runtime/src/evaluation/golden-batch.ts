import { AgentGymError, type AgentManifest } from '@agentgym/contract'
import { superviseJob } from '../sandbox/supervisor.ts'
import type { GoldenJob, GoldenResult } from './golden-batch.process.ts'
import { threadEnvironment } from './thread-environment.ts'

export type ModelCheckLimits = {
  /** Loading the model and running the golden batch. */
  deadlineMs: number
  /** Resident memory of the whole process, in MiB. Node and ONNX Runtime take about 200 of it. */
  processMemoryMb: number
}

const defaultLimits: ModelCheckLimits = { deadlineMs: 60_000, processMemoryMb: 2_048 }

export type GoldenBatchOptions = {
  manifest: Pick<AgentManifest, 'policy' | 'scenario'>
  model: Uint8Array
  limits?: Partial<ModelCheckLimits>
  signal?: AbortSignal
}

/**
 * Loads a model and runs a batch of fixed observations in a process of its own: an empty folder, no network, no secrets,
 * one thread, a cap on memory, a deadline, and SIGKILL. Does not walk the model: that comes first. Gives the SHA-256
 * (hex) of the outputs, which is the same on machines whose processors compute alike.
 *
 * Throws `model_load_failed`, `model_run_failed`, `model_output_invalid`, `model_timeout`, `model_out_of_memory`,
 * `model_crashed`, `training_cancelled`, or `training_failed` where the fault is not the model's.
 */
export async function runGoldenBatch({ manifest, model, signal, ...options }: GoldenBatchOptions): Promise<string> {
  const limits = { ...defaultLimits, ...options.limits }
  const job: GoldenJob = { policy: manifest.policy, model, deadlineMs: limits.deadlineMs }
  const { name, version, hash } = manifest.scenario
  const supervised = superviseJob({
    entry: new URL('./golden-batch.process.ts', import.meta.url),
    job,
    identity: { name, version, hash },
    limits: { processMemoryMb: limits.processMemoryMb },
    signal,
    environment: threadEnvironment(),
  })
  const { outputHash, peakMemoryMb } = (await supervised.catch((error: unknown) => {
    throw blameModel(error)
  })) as GoldenResult
  if (peakMemoryMb > limits.processMemoryMb) throw outOfMemory(peakMemoryMb, limits.processMemoryMb)
  return outputHash
}

/** In that process runs nothing but the model: what ended it is the model's doing. */
export function blameModel(error: unknown): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'training_failed') return error
  const { memory_mb, limit_mb, signal } = error.data
  if (typeof memory_mb === 'number') return outOfMemory(memory_mb, Number(limit_mb))
  // A SIGKILL that is not ours is the kernel's: there was no memory left.
  if (signal === 'SIGKILL') return outOfMemory(null, null)
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

function outOfMemory(memoryMb: number | null, limitMb: number | null): AgentGymError {
  const used =
    memoryMb === null ? '' : ` It brought its process to ${Math.round(memoryMb)} MiB; it may use ${limitMb} MiB.`
  return new AgentGymError({
    code: 'model_out_of_memory',
    message: `model.onnx used more memory than it may.${used}`,
    hint: 'Train a smaller network.',
    data: { file: 'model.onnx', memory_mb: memoryMb, limit_mb: limitMb },
  })
}

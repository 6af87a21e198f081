import type { AgentManifest } from '@agentgym/contract'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import type { GoldenJob, GoldenResult } from './golden-batch.process.ts'
import { blameModel, modelOutOfMemory } from './model-failure.ts'

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
 * Loads a model and runs fixed observations, in batches of several sizes, in a process of its own: an empty folder, no
 * network, no secrets, one thread, a cap on memory, a deadline, and SIGKILL. Does not walk the model: it is given what the
 * walk has written. Gives the SHA-256 (hex) of the outputs of the batch of 64, which is the same on machines whose
 * processors compute alike.
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
  if (peakMemoryMb > limits.processMemoryMb) throw modelOutOfMemory(peakMemoryMb, limits.processMemoryMb)
  return outputHash
}

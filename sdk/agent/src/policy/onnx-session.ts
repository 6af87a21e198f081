import { AgentGymError } from '@agentgym/contract'
import { env } from 'onnxruntime-node'
import { binding, initOrt } from 'onnxruntime-node/dist/binding.js'
import type { Tensors } from './tensors.ts'

export type ExecutionProvider = 'cpu' | 'cuda'

/** A loaded model that runs synchronously and writes its outputs into tensors of the caller. */
export interface OnnxSession {
  run(feeds: Tensors, fetches: Tensors): void
  dispose(): void
}

/**
 * ONNX Runtime's public `run` wraps its synchronous binding in a promise that waits for the event loop: 20 µs and an
 * await a step. A rollout must do neither, so this file, and it alone, takes the binding itself (onnxruntime-node is
 * pinned; a test holds the two equal). Outputs are given as fetches: a run allocates no tensor.
 *
 * The format is named, because ONNX Runtime would otherwise guess it from the bytes, and read some files by its own format's
 * reader that are ONNX to the walk.
 */
export function loadSession(bytes: Uint8Array, executionProvider: ExecutionProvider): OnnxSession {
  // What goes wrong is thrown; ONNX Runtime would print it to standard error as well.
  env.logLevel = 'fatal'
  initOrt()
  const backends = binding.listSupportedBackends().map(({ name }) => name)
  if (!backends.includes(executionProvider)) throw providerUnavailable(executionProvider)
  const session = new binding.InferenceSession()
  try {
    session.loadModel(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength, {
      executionProviders: [executionProvider],
      // Parallelism comes from the rollout workers, one a core.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      extra: { session: { load_model_format: 'ONNX' } },
    })
  } catch (cause) {
    if (executionProvider !== 'cpu') throw providerUnavailable(executionProvider, cause)
    throw cause
  }
  // The binding's types ask for tensors with their methods, which it never calls.
  const run = session.run.bind(session) as unknown as (feeds: Tensors, fetches: Tensors, options: object) => unknown
  const options = {}
  return {
    run(feeds, fetches) {
      run(feeds, fetches, options)
    },
    dispose: () => session.dispose(),
  }
}

/** The first line of ONNX Runtime's own reason: a library that is missing, a driver that is too old. */
function reasonOf(cause: unknown): string {
  const line = cause instanceof Error ? cause.message.split('\n')[0].slice(0, 300) : ''
  return line === '' ? '' : `: ${line}`
}

function providerUnavailable(executionProvider: ExecutionProvider, cause?: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'execution_provider_unavailable',
      message: `rollout_provider is ${executionProvider}, which ONNX Runtime cannot use on this machine${reasonOf(cause)}`,
      hint: 'docs/training.md#gpus says which libraries it needs and where it looks for them. Or use --set rollout_provider=cpu.',
      data: { field: 'rollout_provider', rollout_provider: executionProvider },
    },
    { cause },
  )
}

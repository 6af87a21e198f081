import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { frameModel } from './onnx-model.ts'
import { parameterLayout } from './parameter-layout.ts'
import { exportModel } from './policy-graph.ts'

/**
 * Refuses a model.onnx that differs from what `exportModel` writes for this spec in anything but its weights. ONNX
 * Runtime would read files that a model names, loop for ever or allocate any amount of memory; a list of allowed
 * operators would still admit graphs that double a tensor at every node. Here the given weights are put into our own
 * graph, and the bytes must come out the same. Never runs any of the model.
 */
export function checkModel(bytes: Uint8Array, spec: PolicySpec): void {
  const own = frameModel(exportModel(spec, new Float32Array(parameterLayout(spec).totalSize)))
  let floats: Uint8Array[]
  try {
    ;({ floats } = frameModel(bytes))
  } catch (cause) {
    throw invalid('it is not an ONNX model', cause)
  }
  const sameSizes =
    floats.length === own.floats.length && floats.every(({ length }, i) => length === own.floats[i].length)
  if (!sameSizes || !equalBytes(own.withFloats(floats), bytes)) {
    throw invalid('it is not the graph that its policy spec describes')
  }
  if (!floats.every(allFinite)) throw invalid('it holds weights that are not finite')
}

function invalid(reason: string, cause?: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'agent_invalid',
      message: `model.onnx cannot be used: ${reason}`,
      hint: 'Take the model and agent.json from one training run, unchanged.',
      data: { file: 'model.onnx' },
    },
    { cause },
  )
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function allFinite(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; at += 4) if (!Number.isFinite(view.getFloat32(at, true))) return false
  return true
}

// The worker that computes an agent's policy, by ONNX Runtime compiled to WebAssembly. The model comes from a stranger: it is
// walked as on the server, and only the bytes that the walk has written are loaded.
import { batchTensors, greedyActions, likelyChoices, localModelLimits, rowSize } from '@agentgym/agent/policy'
import type { PolicySpec } from '@agentgym/contract'
import { checkModelStructure } from '@agentgym/contract/model'
import { env, InferenceSession, Tensor } from 'onnxruntime-web/wasm'
import type { PolicyRequest } from './policy-messages.ts'

type Policy = { spec: PolicySpec; session: InferenceSession; tensors: ReturnType<typeof batchTensors> }

let policy: Policy | undefined

self.addEventListener('message', ({ data }) => {
  void answer(data).then((reply) => postMessage(JSON.stringify(reply)))
})
postMessage('{}')

async function answer(request: PolicyRequest): Promise<object> {
  try {
    switch (request.do) {
      case 'load':
        policy = await load(request)
        return {}
      case 'decide':
        return await decide(request)
      case 'beat':
        return {}
    }
  } catch (error) {
    return { fault: { message: error instanceof Error ? error.message : 'no reason given' } }
  }
}

async function load({ runtime, model, spec }: Extract<PolicyRequest, { do: 'load' }>): Promise<Policy> {
  env.wasm.wasmBinary = runtime
  env.wasm.numThreads = 1
  env.logLevel = 'fatal'
  const checked = checkModelStructure(model, { policy: spec }, localModelLimits)
  const session = await InferenceSession.create(checked, { executionProviders: ['wasm'] })
  return { spec, session, tensors: batchTensors(spec, 1) }
}

async function decide({ observation, mask, begins }: Extract<PolicyRequest, { do: 'decide' }>): Promise<object> {
  if (policy === undefined) throw new Error('no policy is loaded')
  const { spec, session, tensors } = policy
  if (observation.length !== rowSize(spec))
    throw new Error('the agent reads other observations than the scenario gives')
  const { feeds, fetches, memory } = tensors
  if (begins) memory?.now.fill(0)
  tensors.write(Float32Array.from(observation))
  const inputs = Object.entries(feeds).map(
    ([name, { dims, data }]) => [name, new Tensor('float32', data, dims)] as const,
  )
  const outputs = await session.run(Object.fromEntries(inputs), Object.keys(fetches))
  for (const [name, { data }] of Object.entries(fetches)) data.set(outputs[name].data as Float32Array)
  memory?.now.set(memory.next)
  tensors.read()
  const masks = mask === null ? null : Uint8Array.from(mask)
  const action = new Float32Array(spec.action.reduce((sum, { size }) => sum + size, 0))
  greedyActions({ spec, distribution: tensors.distribution, masks, rows: 1 }, action)
  return { action: Array.from(action), likely: likelyChoices(spec, tensors.distribution, masks) ?? null }
}

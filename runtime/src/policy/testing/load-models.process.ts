import { loadModelSession } from '@agentgym/agent/engine'
import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { serveJob } from '../../sandbox/job-process.ts'

export type ModelsToLoad = { policy: PolicySpec; bytes: Uint8Array }[]
/** `ran`, or the code that ONNX Runtime's refusal has. */
export type LoadedModels = string[]

/** Loads models that have passed the walk, and runs each on batches of three sizes. */
serveJob<ModelsToLoad, LoadedModels>(async (models, channel) => {
  channel.lockDown()
  return models.map(({ policy, bytes }) => {
    try {
      for (const batch of [1, 2, 5]) {
        const session = loadModelSession(bytes, policy, { batch })
        const row = policy.observation.reduce((sum, leaf) => sum + leaf.size, 0)
        session.run(new Float32Array(batch * row))
        session.dispose()
      }
      return 'ran'
    } catch (error) {
      if (error instanceof AgentGymError) return error.code
      throw error
    }
  })
})

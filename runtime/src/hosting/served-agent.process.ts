import { Worker } from 'node:worker_threads'
import { type EncoderSet, obtainEncoders } from '@agentgym/agent/engine'
import { AgentGymError } from '@agentgym/contract'
import { modelTimeout } from '../evaluation/model-failure.ts'
import { serveJob } from '../sandbox/job-process.ts'
import type { ServedCall, ServedManifest } from './call-answerer.ts'
import type { ThreadReply, ThreadRequest } from './served-agent.worker.ts'

/** `deadlineMs`: for loading the model, and for each batch of calls. */
export type ServedAgentJob = { manifest: ServedManifest; model: Uint8Array; deadlineMs: number }

/**
 * An agent that answers one batch of calls after another: says `loaded` once, and then an array of answers for every array
 * of calls that it receives. ONNX Runtime blocks its thread and cannot be interrupted: it gets one of its own, and this one
 * keeps the time. Ends only by an error, or when its supervisor ends it.
 */
serveJob<ServedAgentJob, never>(({ deadlineMs, ...agent }, channel) => {
  const worker = new Worker(new URL('./served-agent.worker.ts', import.meta.url))
  const { promise, reject } = Promise.withResolvers<never>()
  let deadline: NodeJS.Timeout | undefined
  const ask = (request: ThreadRequest) => {
    deadline = setTimeout(() => reject(modelTimeout(deadlineMs)), deadlineMs)
    worker.postMessage(request)
  }
  worker.on('error', reject)
  worker.on('exit', (code) => reject(new Error(`the thread of the agent ended with status ${code}`)))
  worker.on('message', (reply: ThreadReply) => {
    clearTimeout(deadline)
    if (reply.type === 'imported') {
      channel.lockDown()
      const load = (encoders: EncoderSet) => ask({ type: 'load', ...agent, encoders })
      obtainEncoders(agent.manifest.policy, channel.encoder).then(load, reject)
    } else if (reply.type === 'loaded') {
      channel.onMessage((calls) => ask({ type: 'answer', calls: calls as ServedCall[] }))
      void channel.send('loaded')
    } else if (reply.type === 'answers') void channel.send(reply.answers)
    else if (reply.type === 'fault') reject(new AgentGymError(reply.error))
    else reject(new Error(reply.message))
  })
  return promise
})

import { Worker } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import { serveJob } from '../sandbox/job-process.ts'
import type { GoldenReply, GoldenRequest } from './golden-batch.worker.ts'
import { modelTimeout } from './model-failure.ts'

export type GoldenJob = GoldenRequest & { deadlineMs: number }
/** `peakMemoryMb`: the most that the process ever held, which a watch from outside may miss. */
export type GoldenResult = { outputHash: string; peakMemoryMb: number }

/** ONNX Runtime blocks its thread and cannot be interrupted: it gets one of its own, and this one keeps the time. */
serveJob<GoldenJob, GoldenResult>(async ({ deadlineMs, ...request }, channel) => {
  const worker = new Worker(new URL('./golden-batch.worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<GoldenResult>()
  worker.on('error', reject)
  worker.on('exit', (code) => reject(new Error(`the thread of the golden batch ended with status ${code}`)))
  worker.on('message', (reply: GoldenReply) => {
    if (reply.type === 'ready') {
      channel.lockDown()
      worker.postMessage(request)
      setTimeout(() => reject(modelTimeout(deadlineMs)), deadlineMs)
    } else if (reply.type === 'done') {
      const peakMemoryMb = process.resourceUsage().maxRSS / 1024
      resolve({ outputHash: reply.outputHash, peakMemoryMb })
    } else if (reply.type === 'fault') reject(new AgentGymError(reply.error))
    else reject(new Error(reply.message))
  })
  return promise
})

import { Worker } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import { serveJob } from '../../src/sandbox/job-process.ts'
import type { EnvironmentJob, WorkerReply } from './environment.worker.ts'

serveJob<Omit<EnvironmentJob, 'limits'>, string>(async (job, channel) => {
  const worker = new Worker(new URL('./environment.worker.ts', import.meta.url))
  let last = ''
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let hashes = 0
  worker.on('error', reject)
  worker.on('message', (reply: WorkerReply) => {
    switch (reply.kind) {
      case 'ready':
        channel.lockDown()
        return worker.postMessage({ ...job, limits: channel.limits })
      case 'board':
        return channel.watchBoard(0, reply.board)
      case 'failed':
        return reject(new AgentGymError(reply.report))
      case 'hash':
        last = reply.hash
        void channel.send(last)
        if (++hashes === job.cycles) resolve(last)
    }
  })
  return promise
})

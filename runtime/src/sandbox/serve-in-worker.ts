import { Worker } from 'node:worker_threads'
import { BOARD_LENGTH } from '@agentgym/scenario/engine'
import { serveJob } from './job-process.ts'
import type { JobLimits } from './limits.ts'

/** What the thread gets beside the job. */
export type ThreadJob<Job> = Job & { limits: JobLimits; board: SharedArrayBuffer }

/** From the thread to its process; every other message goes on to the supervisor. */
type Reply = { kind: string }

/**
 * Serves a job by one worker thread, which runs the scenario. It sends `ready`, once it has loaded, and `done` at its end. What the
 * supervisor sends in between reaches the thread as it is, after the job.
 */
export function serveInWorker<Job>(entry: URL): void {
  serveJob<Job, null>((job, channel) => {
    const { promise, resolve, reject } = Promise.withResolvers<null>()
    const worker = new Worker(entry)
    const board = new SharedArrayBuffer(BOARD_LENGTH * Int32Array.BYTES_PER_ELEMENT)
    worker.on('error', reject)
    worker.on('message', (reply: Reply) => {
      switch (reply.kind) {
        case 'ready':
          channel.watchBoard(0, new Int32Array(board))
          channel.lockDown()
          worker.postMessage({ ...job, limits: channel.limits, board })
          return channel.onMessage((message) => worker.postMessage(message))
        case 'done':
          return resolve(null)
        default:
          return void channel.send(reply)
      }
    })
    return promise
  })
}

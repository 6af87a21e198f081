import { Worker } from 'node:worker_threads'
import { BOARD_LENGTH } from '@agentgym/scenario/engine'
import { serveJob } from '../job-process.ts'
import type { CheckJob, CheckReply } from './check-messages.ts'

serveJob<CheckJob, null>((job, channel) => {
  const { promise, resolve, reject } = Promise.withResolvers<null>()
  const worker = new Worker(new URL('./check.worker.ts', import.meta.url))
  const board = new SharedArrayBuffer(BOARD_LENGTH * Int32Array.BYTES_PER_ELEMENT)
  worker.on('error', reject)
  worker.on('message', (reply: CheckReply) => {
    switch (reply.kind) {
      case 'ready':
        channel.watchBoard(0, new Int32Array(board))
        channel.lockDown()
        return worker.postMessage({ ...job, limits: channel.limits, board })
      case 'done':
        return resolve(null)
      default:
        return void channel.send(reply)
    }
  })
  return promise
})

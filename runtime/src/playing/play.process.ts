import { Worker } from 'node:worker_threads'
import { obtainEncoders } from '@agentgym/agent/engine'
import { AgentGymError } from '@agentgym/contract'
import { serveJob } from '../sandbox/job-process.ts'
import type { FromPlayThread, ToPlayThread } from './play.worker.ts'
import type { PlayJob, PlayRequest } from './play-messages.ts'

/** Plays until its supervisor asks for the end: the guest in a thread, which may hang, and requests and replies here. */
serveJob<PlayJob, null>(async (job, channel) => {
  const thread = new Worker(new URL('./play.worker.ts', import.meta.url))
  const send = (message: ToPlayThread) => thread.postMessage(message)
  const { promise: ready, resolve: markReady } = Promise.withResolvers<void>()
  const { promise: failed, reject } = Promise.withResolvers<null>()
  thread.on('error', reject)
  thread.on('exit', (code) => reject(new Error(`the playing thread ended with status ${code}`)))
  thread.on('message', (message: FromPlayThread) => {
    if (message.type === 'ready') markReady()
    else if (message.type === 'board') channel.watchBoard(0, message.board)
    else if (message.type === 'reply') channel.send(message.reply).catch(reject)
    else reject(message.type === 'fault' ? new AgentGymError(message.error) : new Error(message.message))
  })
  await Promise.race([ready, failed])
  channel.lockDown()
  const encoders = await obtainEncoders(
    job.player.kind === 'agent' ? job.player.policy : { observation: [] },
    channel.encoder,
  )
  channel.onMessage((request) => send({ type: 'request', request: request as PlayRequest }))
  send({ type: 'open', job, encoders, limits: channel.limits })
  return failed
})

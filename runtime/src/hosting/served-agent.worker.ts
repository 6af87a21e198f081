import { parentPort } from 'node:worker_threads'
import type { EncoderSet } from '@agentgym/agent/engine'
import { AgentGymError, type CallAnswer, type ErrorReport } from '@agentgym/contract'
import { type CallAnswerer, callAnswerer, type ServedCall, type ServedManifest } from './call-answerer.ts'

export type ThreadRequest =
  | { type: 'load'; manifest: ServedManifest; model: Uint8Array; encoders: EncoderSet }
  | { type: 'answer'; calls: ServedCall[] }
export type ThreadReply =
  | { type: 'imported' }
  | { type: 'loaded' }
  | { type: 'answers'; answers: CallAnswer[] }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

if (parentPort !== null) {
  const port = parentPort
  const reply = (message: ThreadReply) => port.postMessage(message)
  let answer: CallAnswerer = () => []
  port.on('message', (request: ThreadRequest) => {
    try {
      if (request.type === 'answer') return reply({ type: 'answers', answers: answer(request.calls) })
      answer = callAnswerer(request.manifest, request.model, request.encoders)
      reply({ type: 'loaded' })
    } catch (error) {
      if (error instanceof AgentGymError) reply({ type: 'fault', error: error.toReport() })
      else reply({ type: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : 'unknown' })
    }
  })
  reply({ type: 'imported' })
}

import assert from 'node:assert'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { LinkReply, LinkRequest } from './environment-link.ts'
import type { EnvironmentSession } from './environment-session.ts'
import { openSession } from './open-session.ts'

/** Serves one thread that plays: one session, requests in order. */
function serve(port: MessagePort): void {
  let signal: Int32Array | null = null
  let session: EnvironmentSession | null = null
  const opened = () => {
    assert(session !== null, 'open comes first')
    return session
  }
  const answer = async (request: LinkRequest): Promise<LinkReply> => {
    switch (request.type) {
      case 'open':
        signal = request.signal
        session?.close()
        session = await openSession(request.options)
        return { type: 'done' }
      case 'reset':
        await opened().reset(request.mask, request.seeds)
        return { type: 'done' }
      case 'step':
        await opened().step()
        return { type: 'done' }
      case 'metricNames':
        return { type: 'names', names: opened().metricNames() }
      case 'close':
        return { type: 'done' }
    }
  }
  const reply = (message: LinkReply) => {
    assert(signal !== null, 'open comes first')
    port.postMessage(message)
    // The reply lies in the port before the waiting thread wakes.
    Atomics.add(signal, 0, 1)
    Atomics.notify(signal, 0)
  }
  port.on('message', (request: LinkRequest) => {
    if (request.type === 'close') {
      session?.close()
      port.close()
      return
    }
    answer(request).then(reply, (error: unknown) => reply({ type: 'fault', error: reportOf(error) }))
  })
  port.on('close', () => session?.close())
}

function reportOf(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    code: 'training_failed',
    message: 'The thread of the sockets failed.',
    data: { stack: stack.slice(0, 2_000) },
  }
}

assert(parentPort !== null, 'runs as a worker thread')
parentPort.on('message', (port: MessagePort) => serve(port))
parentPort.postMessage('ready')

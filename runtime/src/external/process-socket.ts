import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import { externalError } from './external-failure.ts'

/** A frame as it arrived: text or bytes. */
export type Frame = string | Uint8Array<ArrayBuffer>

type Waiting = { resolve(frame: Frame): void; reject(error: Error): void }

/**
 * One WebSocket to a process of the user's: requests that are answered in order, each within a limit. After an error it
 * is closed, and every later request rejects with that error.
 */
export class ProcessSocket {
  readonly #socket: WebSocket
  readonly #identity: ScenarioIdentity
  readonly #timeoutMs: number
  #waiting: Waiting | null = null
  /** Arrived before it was asked for: what a server says as it closes. */
  #early: Frame | null = null
  #ended: Error | null = null

  private constructor(socket: WebSocket, identity: ScenarioIdentity, timeoutMs: number) {
    this.#socket = socket
    this.#identity = identity
    this.#timeoutMs = timeoutMs
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => this.#receive(typeof data === 'string' ? data : new Uint8Array(data))
    socket.onclose = ({ code, reason }) => this.#end(this.#closed(code, reason))
  }

  /** Rejects with `environment_unreachable`. */
  static async connect(
    { url, key }: { url: string; key?: string },
    identity: ScenarioIdentity,
    timeoutMs: number,
  ): Promise<ProcessSocket> {
    const socket = key === undefined ? new WebSocket(url) : new WebSocket(url, authorized(key))
    const opened = Promise.withResolvers<void>()
    socket.onopen = () => opened.resolve()
    socket.onerror = (event) => opened.reject(unreachable(url, identity, reasonOf(event)))
    const timer = setTimeout(() => {
      opened.reject(unreachable(url, identity, `no answer within ${timeoutMs / 1000} s`))
      socket.close()
    }, timeoutMs)
    try {
      await opened.promise
    } finally {
      clearTimeout(timer)
    }
    // What follows an error is a close, which says more.
    socket.onerror = () => {}
    return new ProcessSocket(socket, identity, timeoutMs)
  }

  /** Sends one frame and gives the next that arrives. One request at a time. */
  request(frame: string | Uint8Array<ArrayBuffer>): Promise<Frame> {
    if (this.#early !== null) {
      const early = this.#early
      this.#early = null
      return Promise.resolve(early)
    }
    if (this.#ended !== null) return Promise.reject(this.#ended)
    const { promise, resolve, reject } = Promise.withResolvers<Frame>()
    const timer = setTimeout(() => this.#end(this.#timedOut()), this.#timeoutMs)
    this.#waiting = {
      resolve: (answer) => {
        clearTimeout(timer)
        resolve(answer)
      },
      reject: (error) => {
        clearTimeout(timer)
        reject(error)
      },
    }
    this.#socket.send(frame)
    return promise
  }

  close(): void {
    this.#ended ??= new Error('the socket was closed by us')
    this.#socket.close()
  }

  #receive(frame: Frame): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#early = frame
    else waiting.resolve(frame)
  }

  #end(error: Error): void {
    this.#ended ??= error
    this.#waiting?.reject(this.#ended)
    this.#waiting = null
    this.#socket.close()
  }

  #timedOut(): Error {
    const limit = `${this.#timeoutMs / 1000} s`
    const what = `its process did not answer within ${limit}`
    return externalError(this.#identity, { code: 'environment_timeout', what, data: { limit_ms: this.#timeoutMs } })
  }

  #closed(code: number, reason: string): Error {
    const said = reason === '' ? `code ${code}` : `code ${code}, ${reason}`
    const what =
      code === 1006 ? 'its process ended the connection without a word' : `its process closed the connection (${said})`
    return externalError(this.#identity, { code: 'environment_failed', what, data: { closed: code } })
  }
}

/** An option of Node's own, which the types of browsers do not have. */
function authorized(key: string): string[] {
  return { headers: { authorization: `Bearer ${key}` } } as unknown as string[]
}

function unreachable(url: string, identity: ScenarioIdentity, reason: string): Error {
  return externalError(identity, {
    code: 'environment_unreachable',
    what: `its server cannot be reached at ${url}: ${reason}`,
    hint: 'Start its server first, and check host, port and path.',
    data: { url },
  })
}

/** Undici's error events carry the error, which browsers' do not. */
function reasonOf(event: Event): string {
  const { error } = event as Event & { error?: Error & { cause?: Error } }
  return error?.cause?.message || error?.message || 'the connection failed'
}

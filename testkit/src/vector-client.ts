import {
  decodeReply,
  type ErrorFrame,
  encodeReset,
  encodeStep,
  errorFrameSchema,
  type FieldValues,
  type OpenedFrame,
  type OpenRequest,
  openedFrameSchema,
  VECTOR_PATH,
  type VectorReply,
} from '@agentgym/contract/protocols'

type Answer = string | Uint8Array | null

/** A server's error frame. */
export class VectorRefusal extends Error {
  readonly frame: ErrorFrame

  constructor(frame: ErrorFrame) {
    super(frame.error.message)
    this.frame = frame
  }
}

/** A client of the vector protocol for tests, one request at a time. */
export class VectorClient {
  readonly opened: OpenedFrame
  readonly #line: Line
  #request = 0

  private constructor(opened: OpenedFrame, line: Line) {
    this.opened = opened
    this.#line = line
  }

  /** Connects and opens environments. Rejects with a VectorRefusal. */
  static async open(url: string, request: Omit<OpenRequest, 'type' | 'protocol'>): Promise<VectorClient> {
    const line = await Line.connect(url)
    try {
      const answer = await line.ask(JSON.stringify({ type: 'open', protocol: 1, ...request }))
      return new VectorClient(openedFrameSchema.parse(messageOf(answer)), line)
    } catch (error) {
      line.close()
      throw error
    }
  }

  get environments(): number {
    return this.opened.environments
  }

  /** Begins episodes; of all environments and without seeds if nothing is said. Rejects with a VectorRefusal. */
  async reset(options: { rows?: readonly number[]; seeds?: readonly number[] } = {}): Promise<VectorReply> {
    const mask = new Uint8Array(this.environments)
    for (const row of options.rows ?? mask.keys()) mask[row] = 1
    const seeds = BigInt64Array.from(mask, (_, row) => BigInt(options.seeds?.[row] ?? -1))
    this.#request += 1
    return this.#reply(await this.#line.ask(encodeReset({ request: this.#request, mask, seeds })))
  }

  async step(...actions: FieldValues[]): Promise<VectorReply> {
    this.#request += 1
    return this.#reply(await this.#line.ask(encodeStep(this.opened, { request: this.#request, actions })))
  }

  /** Sends a frame as it is; null: the socket was closed instead of an answer. */
  ask(frame: string | Uint8Array): Promise<Answer> {
    return this.#line.ask(frame)
  }

  /** Settles when the socket is closed, by either side. */
  get closed(): Promise<void> {
    return this.#line.closed
  }

  close(): void {
    this.#line.close()
  }

  #reply(answer: Answer): VectorReply {
    if (answer === null || typeof answer === 'string') messageOf(answer)
    const reply = decodeReply(this.opened, answer as Uint8Array)
    if (reply.request !== this.#request) throw new Error(`the answer is to request ${reply.request}`)
    return reply
  }
}

/** Throws a VectorRefusal for an error frame, and for no answer. */
function messageOf(answer: Answer): Record<string, unknown> {
  if (typeof answer !== 'string') throw new Error(answer === null ? 'the server closed the socket' : 'a binary frame')
  const message = JSON.parse(answer)
  if (message.type === 'error') throw new VectorRefusal(errorFrameSchema.parse(message))
  return message
}

/** A socket whose answers are taken one after another. */
class Line {
  readonly #socket: WebSocket
  readonly #received: Answer[] = []
  readonly closed: Promise<void>
  #waiting: ((answer: Answer) => void) | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.#take(typeof data === 'string' ? data : new Uint8Array(data)))
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', () => {
        this.#take(null)
        resolve()
      })
    })
  }

  static async connect(url: string): Promise<Line> {
    const socket = new WebSocket(url.replace(/^http/, 'ws').replace(/\/$/, '') + VECTOR_PATH)
    const line = new Line(socket)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve())
      socket.addEventListener('error', () => reject(new Error(`there is no vector server at ${url}`)))
    })
    return line
  }

  ask(frame: string | Uint8Array): Promise<Answer> {
    this.#socket.send(frame as string | Uint8Array<ArrayBuffer>)
    const received = this.#received.shift()
    if (received !== undefined) return Promise.resolve(received)
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  close(): void {
    this.#socket.close()
  }

  #take(answer: Answer): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#received.push(answer)
    else waiting(answer)
  }
}

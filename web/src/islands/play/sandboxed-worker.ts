/** Why a worker ended: it gave no answer in time, broke the protocol, or crashed (out of memory, too). */
export type EndReason = 'hung' | 'protocol' | 'crashed'

/** Thrown by everything that waits for a worker that has ended. */
export class WorkerEnded extends Error {
  readonly reason: EndReason

  constructor(reason: EndReason) {
    super(reason)
    this.reason = reason
  }
}

/** Code of strangers answers within this time, at every request. */
const answerMs = 2_000
/** The frame and the worker start: our code alone, on a machine that may be busy. */
const startMs = 30_000
const beatMs = 500
const tickMs = 100

type Waiting = { limitMs: number; resolve(reply: string): void; reject(error: Error): void }

/**
 * A worker in a frame of its own origin, without network, storage and access to this page. One request, one reply, each a
 * text. Between requests it must answer beats. A worker that does not answer
 * in time is ended, with its frame.
 */
export class SandboxedWorker {
  readonly #frame = document.createElement('iframe')
  readonly #port: MessagePort
  readonly #onEnd: (reason: EndReason) => void
  /** Requests without a reply, in order. The first is watched. */
  readonly #waiting: Waiting[] = []
  readonly #beats: ReturnType<typeof setInterval>
  #watching: ReturnType<typeof setInterval> | undefined
  #ended: WorkerEnded | null = null

  private constructor(port: MessagePort, onEnd: (reason: EndReason) => void) {
    this.#port = port
    this.#onEnd = onEnd
    port.addEventListener('message', ({ data }) => this.#take(data))
    port.start()
    this.#beats = setInterval(() => {
      if (this.#waiting.length === 0) void this.ask({ do: 'beat' }).catch(() => {})
    }, beatMs)
  }

  /** `frame`: address of the frame's document. `script`: source text of the worker, which sends one text when it has started. */
  static async open({ frame, script, onEnd }: { frame: string; script: string; onEnd(reason: EndReason): void }) {
    const { port1, port2 } = new MessageChannel()
    const worker = new SandboxedWorker(port1, onEnd)
    const element = worker.#frame
    element.hidden = true
    element.title = 'Sandbox'
    element.setAttribute('sandbox', 'allow-scripts')
    element.src = frame
    const started = worker.#expect(startMs)
    element.addEventListener('load', () => element.contentWindow?.postMessage(script, '*', [port2]), { once: true })
    document.body.append(element)
    await started
    return worker
  }

  /** Sends a request. Rejects with `WorkerEnded`. `transfer`: buffers that the worker gets as its own. */
  ask(request: object, { limitMs = answerMs, transfer = [] as Transferable[] } = {}): Promise<string> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    const reply = this.#expect(limitMs)
    this.#port.postMessage(request, transfer)
    return reply
  }

  /** Ends the worker, and removes its frame. */
  close(): void {
    this.#end('crashed', false)
  }

  #expect(limitMs: number): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#waiting.push({ limitMs, resolve, reject })
    if (this.#waiting.length === 1) this.#watch()
    return promise
  }

  /**
   * Watches the first request. Time in which this page itself did not run counts little: where a machine sleeps, or has no
   * time for either, the worker is not to blame.
   */
  #watch(): void {
    clearInterval(this.#watching)
    const [first] = this.#waiting
    if (first === undefined) return
    let leftMs = first.limitMs
    let beforeMs = performance.now()
    this.#watching = setInterval(() => {
      const nowMs = performance.now()
      leftMs -= Math.min(nowMs - beforeMs, 2 * tickMs)
      beforeMs = nowMs
      if (leftMs <= 0) this.#end('hung')
    }, tickMs)
  }

  #take(data: unknown): void {
    if (typeof data === 'object' && data !== null && 'ended' in data) {
      this.#end(data.ended === 'crashed' ? 'crashed' : 'protocol')
      return
    }
    const first = this.#waiting.shift()
    if (typeof data !== 'string' || first === undefined) {
      this.#end('protocol')
      return
    }
    this.#watch()
    first.resolve(data)
  }

  #end(reason: EndReason, report = true): void {
    if (this.#ended !== null) return
    this.#ended = new WorkerEnded(reason)
    clearInterval(this.#watching)
    clearInterval(this.#beats)
    this.#port.close()
    this.#frame.remove()
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended)
    if (report) this.#onEnd(reason)
  }
}

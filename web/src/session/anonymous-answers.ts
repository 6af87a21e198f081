type Answer = { status: number; type: string; body: ArrayBuffer }
type Call = (request: Request) => Promise<Response>

export type AnonymousAnswers = {
  /**
   * The API's answer to a stranger's GET: one of the last seconds, or a new one, asked for once however many wait.
   * `heldUntil` hears until when it is shown again, of `performance.now()`: 0 for one that is not kept.
   */
  fetch(request: Request, call: Call, heldUntil?: (untilMs: number) => void): Promise<Response>
}

const largestBody = 512 * 1024

/**
 * Keeps the API's answers to strangers for `ttlMs`. They are the same for all strangers; what is asked with a session
 * never comes here. Failures are not kept.
 */
export function keepAnonymousAnswers({ ttlMs, most }: { ttlMs: number; most: number }): AnonymousAnswers {
  const kept = new Map<string, { untilMs: number; answer: Promise<Answer> }>()
  const forget = (key: string, answer: Promise<Answer>) => {
    if (kept.get(key)?.answer === answer) kept.delete(key)
  }
  return {
    fetch: async (request, call, heldUntil = () => {}) => {
      const known = kept.get(request.url)
      if (known !== undefined && known.untilMs > performance.now()) {
        heldUntil(known.untilMs)
        return respond(await known.answer)
      }
      const answer = call(request).then(readAnswer)
      const untilMs = performance.now() + ttlMs
      kept.delete(request.url)
      kept.set(request.url, { untilMs, answer })
      // A Map keeps the order of insertion: the first is the oldest.
      if (kept.size > most) for (const oldest of [...kept.keys()].slice(0, kept.size - most)) kept.delete(oldest)
      answer.catch(() => forget(request.url, answer))
      const made = await answer
      const isKept = made.status === 200 && made.body.byteLength <= largestBody
      if (!isKept) forget(request.url, answer)
      heldUntil(isKept ? untilMs : 0)
      return respond(made)
    },
  }
}

async function readAnswer(response: Response): Promise<Answer> {
  const type = response.headers.get('content-type') ?? ''
  return { status: response.status, type, body: await response.arrayBuffer() }
}

function respond({ status, type, body }: Answer): Response {
  return new Response(body, { status, headers: { 'content-type': type, 'content-length': String(body.byteLength) } })
}

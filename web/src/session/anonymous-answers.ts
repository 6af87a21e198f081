type Answer = { status: number; type: string; body: ArrayBuffer }
type Call = (request: Request) => Promise<Response>

export type AnonymousAnswers = {
  /** The API's answer to a stranger's GET: one of the last seconds, or a new one, asked for once however many wait. */
  fetch(request: Request, call: Call): Promise<Response>
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
    fetch: async (request, call) => {
      const known = kept.get(request.url)
      if (known !== undefined && known.untilMs > performance.now()) return respond(await known.answer)
      const answer = call(request).then(readAnswer)
      kept.delete(request.url)
      kept.set(request.url, { untilMs: performance.now() + ttlMs, answer })
      // A Map keeps the order of insertion: the first is the oldest.
      if (kept.size > most) for (const oldest of [...kept.keys()].slice(0, kept.size - most)) kept.delete(oldest)
      answer.then(
        ({ status, body }) => {
          if (status !== 200 || body.byteLength > largestBody) forget(request.url, answer)
        },
        () => forget(request.url, answer),
      )
      return respond(await answer)
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

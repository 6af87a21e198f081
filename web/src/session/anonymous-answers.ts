type Answer = { status: number; type: string; text: string }
type Call = (request: Request) => Promise<Response>

export type AnonymousAnswers = {
  /**
   * The API's answer to a stranger's GET: one of the last seconds, or a new one, asked for once however many wait.
   * `heldUntil` hears until when pages may show it, of `performance.now()`: 0 for a failure.
   */
  fetch(request: Request, call: Call, heldUntil?: (untilMs: number) => void): Promise<Response>
}

/**
 * Longer texts are let go once whoever waits has them. The page that is drawn of one is kept itself, and there is hardly
 * another that asks for the same; kept, they are most of what the garbage collector has to move.
 */
const mostCharacters = 16 * 1024

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
      const holds = made.status === 200
      if (!holds || made.text.length > mostCharacters) forget(request.url, answer)
      heldUntil(holds ? untilMs : 0)
      return respond(made)
    },
  }
}

/** The API answers reads in texts: what is not one (pictures, archives) the site links to and never reads. */
async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
}

/** As if the text were its body, which would be encoded here and decoded by whoever reads it. */
function respond({ status, type, text }: Answer): Response {
  return Object.defineProperties(new Response(null, { status, headers: { 'content-type': type } }), {
    text: { value: async () => text },
    json: { value: async () => JSON.parse(text) },
  })
}

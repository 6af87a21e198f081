import { AgentGymError, type ErrorCode, errorCatalogue } from '@agentgym/contract'

/** What to call a failure whose body is not ours: a proxy's page, or a code that a newer server has. */
const codeOfStatus: Record<number, ErrorCode> = {
  401: 'unauthenticated',
  402: 'payment_required',
  403: 'forbidden',
  404: 'endpoint_not_found',
  410: 'package_taken_down',
  413: 'request_too_large',
  429: 'rate_limited',
}

/** The error that an answer carries, as it was thrown on the server; below `/npm/` in npm's form. Reads the body. */
export async function readFailure(response: Response): Promise<AgentGymError> {
  const text = await response.text().catch(() => '')
  const report = reportIn(text)
  const requestId = response.headers.get('x-request-id')
  const data = { ...(report?.data as object | undefined), ...(requestId === null ? {} : { request_id: requestId }) }
  return new AgentGymError({
    code: report !== undefined && isKnown(report.code) ? report.code : codeFor(response.status),
    message: typeof report?.message === 'string' ? report.message : foreign(response),
    hint: typeof report?.hint === 'string' ? report.hint : undefined,
    data: { ...data, status: response.status },
  })
}

/** No answer came: the cause says why, where the platform tells. */
export function unreachable(server: string, cause: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'server_unreachable',
      message: `The server ${server} did not answer${reasonOf(cause)}.`,
      hint: 'Start it with `agentgym serve`, or set AGENTGYM_SERVER to its address.',
      data: { server },
    },
    { cause },
  )
}

function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(inner instanceof Error)) return ''
  const code = (inner as { code?: unknown }).code
  return typeof code === 'string' ? ` (${code})` : inner.message === '' ? '' : ` (${inner.message})`
}

function reportIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null) return undefined
    const { error, code } = body as { error?: unknown; code?: unknown }
    // npm's form: one line of text, with the code beside it.
    if (typeof error === 'string') return { message: error, code }
    return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isKnown(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalogue, code)
}

function codeFor(status: number): ErrorCode {
  return codeOfStatus[status] ?? (status >= 500 ? 'internal_error' : 'request_invalid')
}

function foreign({ status, statusText, url }: Response): string {
  return `The server answered ${status}${statusText === '' ? '' : ` ${statusText}`} to ${new URL(url).pathname}.`
}

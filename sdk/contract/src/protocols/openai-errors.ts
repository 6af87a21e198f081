import type { ErrorReport } from '../agent-gym-error.ts'
import { errorCatalog } from '../error-catalog.ts'

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** An error in OpenAI's format. Its clients print the message alone, so it includes the hint. */
export function openAiErrorBody({ code, message, hint, data }: ErrorReport) {
  const { status } = errorCatalog[code]
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  const param = typeof data?.field === 'string' ? data.field : null
  return { error: { message: hint === undefined ? message : `${message} ${hint}`, type, param, code, data } }
}

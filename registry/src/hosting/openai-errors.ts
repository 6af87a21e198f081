import { type ErrorReport, errorCatalogue } from '@agentgym/contract'

/** Paths that OpenAI's clients ask: their failures have the form that those print. */
export function isOpenAiPath(path: string): boolean {
  return path === '/v1/chat/completions' || path === '/v1/models'
}

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** Clients print the message alone, so the hint stands in it. */
export function openAiErrorBody({ code, message, hint, data }: ErrorReport) {
  const { status } = errorCatalogue[code]
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  const param = typeof data?.field === 'string' ? data.field : null
  return { error: { message: hint === undefined ? message : `${message} ${hint}`, type, param, code, data } }
}

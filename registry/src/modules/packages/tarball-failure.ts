import { AgentGymError, type ErrorCode } from '@agentgym/contract'

const repack = 'Pack again with `agentgym scenario publish`, `npm pack` or `pnpm pack`.'

/** A path of a stranger's archive, fit for a message: quoted, short, and without what a terminal or page would obey. */
export function shownPath(path: string): string {
  const escaped = JSON.stringify(path.slice(0, 200)).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  return escaped.length > 200 || path.length > 200 ? `${escaped.slice(0, 200)}…"` : escaped
}

export function tarballFailure(
  code: ErrorCode,
  message: string,
  data: Record<string, unknown> = {},
  hint: string = repack,
): AgentGymError {
  return new AgentGymError({ code, message, hint, data })
}

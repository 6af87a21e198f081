import { AgentGymError } from '../agent-gym-error.ts'
import type { ErrorCode } from '../error-catalog.ts'

const repack = 'Pack it again with `agentgym scenario publish`, `npm pack` or `pnpm pack`.'

/**
 * A path of an untrusted archive, made safe for a message: quoted, short, and without terminal or markup control
 * characters.
 */
export function shownPath(path: string): string {
  const escaped = JSON.stringify(path.slice(0, 200)).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  return escaped.length > 200 || path.length > 200 ? `${escaped.slice(0, 200)}…"` : escaped
}

/** Why a tarball is refused. The default hint is to pack it again. */
export function tarballFailure(
  code: ErrorCode,
  message: string,
  data: Record<string, unknown> = {},
  hint: string = repack,
): AgentGymError {
  return new AgentGymError({ code, message, hint, data })
}

/** Why a part of the archive's form is refused, although some tools read it. */
export function readersDisagree(what: string): AgentGymError {
  return tarballFailure('tarball_entry_unsupported', `The tarball has ${what}, which tools interpret differently.`)
}

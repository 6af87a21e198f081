import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { Context } from 'hono'
import type { Env, FailureFormat } from '../../core/http/env.ts'

/**
 * An error in the format that npm's clients print: `error` is one line with the failure and the fix; `code` is from our
 * error catalog. Must not be sent with the header `www-authenticate`: npm would then print its own text.
 */
export function npmErrorBody({ code, message, hint }: ErrorReport): { error: string; code: string } {
  return { error: [message, hint].filter((part) => part !== undefined).join(' '), code }
}

/** The error format of npm's clients. */
export const npmFailures: FailureFormat = { body: npmErrorBody, challenge: false }

/** Published versions are permanent, because others depend on them. */
export function immutable(name: string): AgentGymError {
  return new AgentGymError({
    code: 'version_immutable',
    message: `Published versions of ${name} cannot be changed or removed, so npm cannot unpublish them.`,
    hint: `Hide one from ranges with \`agentgym yank ${name}@VERSION\`, or warn about it with \`npm deprecate\`.`,
  })
}

export function nothingHere(c: Context<Env>): AgentGymError {
  return new AgentGymError({
    code: 'endpoint_not_found',
    message: `Not found: ${c.req.method} ${new URL(c.req.url).pathname.slice(0, 200)}.`,
    hint: 'Packages are at /npm/@scope/name.',
  })
}

/** Session cookies are for the site; writes through npm require a token. */
export function tokenNeeded(): AgentGymError {
  return new AgentGymError({
    code: 'unauthenticated',
    message: 'This request requires a token.',
    hint: 'Run `agentgym login`, which adds one to .npmrc, or set `//host/npm/:_authToken` yourself.',
  })
}

import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { Context } from 'hono'
import type { Env, FailureFormat } from '../../core/http/env.ts'

/**
 * A failure as npm's clients print it: `error` is one line of what failed and how to fix it; `code` is from our error catalog.
 * There must be no header `www-authenticate` beside it: npm would print a text of its own in place of ours.
 */
export function npmErrorBody({ code, message, hint }: ErrorReport): { error: string; code: string } {
  return { error: [message, hint].filter((part) => part !== undefined).join(' '), code }
}

/** As npm's clients read failures. */
export const npmFailures: FailureFormat = { body: npmErrorBody, challenge: false }

/** What is published stays: neither npm nor its owner takes a version away from those who depend on it. */
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

/** A session cookie belongs to the site's pages; what writes through npm brings a token. */
export function tokenNeeded(): AgentGymError {
  return new AgentGymError({
    code: 'unauthenticated',
    message: 'This request needs a token.',
    hint: 'Run `agentgym login`, which writes one into .npmrc, or set `//host/npm/:_authToken` yourself.',
  })
}

import { AgentGymError } from '@agentgym/contract'
import type { Context } from 'hono'
import type { Env } from '../../core/http/env.ts'
import { nothingHere } from './npm-errors.ts'

/** Response to the older audit endpoints, without advisories. */
const noAdvisories = {
  actions: [],
  advisories: {},
  muted: [],
  metadata: {
    vulnerabilities: { info: 0, low: 0, moderate: 0, high: 0, critical: 0 },
    dependencies: 0,
    devDependencies: 0,
    optionalDependencies: 0,
    totalDependencies: 0,
  },
}

/**
 * The response to an audit; undefined for other requests. This registry has no advisories: bad versions are yanked or
 * taken down. Clients fail on any other response.
 */
export async function answerAudit(c: Context<Env>, path: string): Promise<Response | undefined> {
  if (c.req.method !== 'POST' || !path.startsWith('-/npm/v1/security/')) return undefined
  const rest = path.slice('-/npm/v1/security/'.length)
  const isBulk = rest === 'advisories/bulk'
  if (!isBulk && rest !== 'audits' && rest !== 'audits/quick') return undefined
  // Reads the body first: a client that is still sending would see a broken connection instead of the response.
  for await (const _ of c.req.raw.body ?? []);
  return c.json(isBulk ? {} : noAdvisories)
}

/** npm features that this registry does not support, and the alternatives. */
const elsewhere: [path: RegExp, what: string, hint: string][] = [
  [/^-\/npm\/v1\/tokens\b/, 'Tokens are not managed through npm', 'Use `agentgym token`, or Settings on the site.'],
  [/^-\/npm\/v1\/user\b/, 'Profiles are not managed through npm', 'Use Settings on the site.'],
  [
    /^-\/(?:org|team|user\/[^/]+\/package)\b|^-\/package\/.*\/(?:access|collaborators|visibility)$/,
    'Access is not managed through npm',
    'Use the page of the organization on the site.',
  ],
  [/^-\/npm\/v1\/hooks\b/, 'Hooks are not supported', 'Use `agentgym outdated` to see new versions.'],
  [/^-\/_view\/starred/, 'Stars are not supported', 'Use reviews on the site.'],
  [
    /^-\/npm\/v1\/(?:attestations|keys)\b/,
    'npm signatures are not supported',
    'Agents have signed verifications: `agentgym agent verify`.',
  ],
]

/** The error for an unsupported npm endpoint. */
export function notServed(c: Context<Env>, path: string): AgentGymError {
  const found = elsewhere.find(([pattern]) => pattern.test(path))
  if (found === undefined) return nothingHere(c)
  const [, what, hint] = found
  return new AgentGymError({ code: 'endpoint_not_found', message: `${what}.`, hint })
}

import type { RouteRules } from './env.ts'

const MEBIBYTE = 2 ** 20
const minuteMs = 60_000

/** Rules of routes that do not declare theirs yet, by path. Goes once all do. */
export function legacyRules(path: string): RouteRules {
  return { access: 'anyone', ...bodyLimit(path), ...timeLimit(path), ...logging(path), ...failures(path) }
}

function bodyLimit(path: string): Partial<RouteRules> {
  if (/^\/v1\/packages\/.+\/versions\/[^/]+$/.test(path)) return { bodyLimit: ({ limits }) => limits.tarballBytes }
  if (/^\/v1\/packages\/[^/]+\/[^/]+\/calls$/.test(path)) return { bodyLimit: 256 * 1024 }
  const [, written] = /^\/v1\/jobs\/[^/]+\/([a-z]+)$/.exec(path) ?? []
  if (written === 'checkpoint') return { bodyLimit: ({ training }) => training.checkpointBytes }
  if (written === 'agent') return { bodyLimit: ({ limits }) => limits.tarballBytes }
  if (written === 'trajectories' || written === 'progress' || path === '/v1/hosted-calls/answers')
    return { bodyLimit: 16 * MEBIBYTE }
  return {}
}

function timeLimit(path: string): Partial<RouteRules> {
  if (/^\/v1\/(?:packages\/[^/]+\/[^/]+\/calls)$/.test(path)) return { timeoutMs: 45_000 }
  const uploads = /^\/v1\/packages\/|^\/v1\/jobs\/[^/]+\/(?:checkpoint|agent)$/
  return uploads.test(path) ? { timeoutMs: 10 * minuteMs } : {}
}

function logging(path: string): Partial<RouteRules> {
  const subject = path.startsWith('/v1/runs/') ? 'run' : path.startsWith('/v1/jobs/') ? 'job' : undefined
  const rules: Partial<RouteRules> = { ...(subject && { subject }) }
  if (path === '/v1/jobs/lease' || path === '/v1/hosted-calls/lease') return { ...rules, unlogged: 'when_empty' }
  return /^\/v1\/jobs\/[^/]+\/(heartbeat|progress)$/.test(path) ? { ...rules, unlogged: 'on_success' } : rules
}

function failures(path: string): Partial<RouteRules> {
  const form = ['/device', '/verify-email', '/reset-password'].includes(path)
  return form ? { csrf: 'form' } : {}
}

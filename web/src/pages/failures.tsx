import { AgentGymError, errorCatalog, type ListedPackage, nearestName } from '@agentgym/contract'
import type { SiteHost, Visitor } from '../app/site-host.ts'
import type { Visit } from '../app/visit.ts'
import { Button } from '../components/controls.tsx'
import { PackageList } from '../components/package-list.tsx'
import { isOwnOrigin } from '../session/same-site.ts'

/** The page of an API failure or a bug. */
export async function answerFailure(host: SiteHost, visitor: Visitor, visit: Visit, error: unknown): Promise<Response> {
  if (error instanceof AgentGymError) {
    const { status } = errorCatalog[error.code]
    if (error.code === 'unauthenticated') return visit.redirect(`/login?next=${encodeURIComponent(visit.url.pathname)}`)
    if (error.code === 'second_factor_required' && error.data.confirm === 'session')
      return visit.redirect(`/settings/security/confirm?next=${encodeURIComponent(pageOf(visit))}`)
    if (status === 404) return notFound(visit, error.message)
    // The URL contains an invalid ID or version.
    if (error.code === 'request_invalid' && error.data.in === 'param') return notFound(visit)
    if (status < 500)
      return failurePage(visit, { status, title: titleOf(status), message: error.message, hint: error.hint })
  }
  const passing = error instanceof AgentGymError && passingCodes.has(error.code) ? error : undefined
  if (passing !== undefined) return unavailable(visit, passing)
  host.log.error('a page failed', { request_id: visitor.requestId, path: visitor.path, error: described(error) })
  return failurePage(visit, {
    status: 500,
    title: 'Something went wrong',
    message: 'Internal server error.',
    hint: `Try again. If the problem persists, give the operator of this server the request ID ${visitor.requestId}.`,
  })
}

/** Outages: the API has logged why. */
const passingCodes = new Set<string>(['database_unavailable', 'storage_unavailable', 'request_timeout'])

function unavailable(visit: Visit, { message, data }: AgentGymError): Response {
  const page = failurePage(visit, {
    status: 503,
    title: 'Temporarily unavailable',
    message,
    hint: 'Reload this page in a few seconds. If the problem persists, contact the operator of this server.',
  })
  if (typeof data.retry_after_seconds === 'number') page.headers.set('retry-after', String(data.retry_after_seconds))
  return page
}

/** The page of the submitted form from the browser's Referer, because the form's own URL may not be a page. */
function pageOf({ request, url, host }: Visit): string {
  if (request.method === 'GET') return url.pathname
  const referrer = request.headers.get('referer') ?? ''
  if (!URL.canParse(referrer) || !isOwnOrigin(new Headers({ origin: new URL(referrer).origin }), host.publicUrl))
    return '/'
  const { pathname, search } = new URL(referrer)
  return `${pathname}${search}`
}

/** 404, with similar names. */
export async function notFound(visit: Visit, message?: string): Promise<Response> {
  const near = await similarPackages(visit)
  return visit.page(<NotFoundPage near={near} message={message} />, { title: 'Not found', status: 404, hidden: true })
}

/** The form's token is missing or belongs to another browser or session. */
export function foreignForm(visit: Visit): Response {
  return failurePage(visit, {
    status: 403,
    title: 'This form has expired',
    message: 'It belongs to another session or browser. Nothing was changed.',
    hint: 'Go back, reload the page and submit it again.',
  })
}

type Shown = { status: number; title: string; message: string; hint?: string }

function failurePage(visit: Visit, { status, title, message, hint }: Shown): Response {
  return visit.page(<FailurePage status={status} title={title} message={message} hint={hint} />, {
    title,
    status,
    hidden: true,
  })
}

function titleOf(status: number): string {
  if (status === 403) return 'Not allowed'
  if (status === 429) return 'Too many requests'
  if (status === 409) return 'Conflict'
  return 'Request failed'
}

function described(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

type FailurePageProps = { status: number; title: string; message: string; hint?: string }

/** What failed, why, and what to do. */
function FailurePage({ status, title, message, hint }: FailurePageProps) {
  return (
    <div class="failure-page">
      <p class="failure-page-status">{status}</p>
      <h1>{title}</h1>
      <p class="lead">{message}</p>
      {hint !== undefined && <p>{hint}</p>}
    </div>
  )
}

/** The same for missing pages and for pages that this visitor may not see. */
function NotFoundPage({ near, message }: { near: ListedPackage[]; message?: string }) {
  return (
    <div class="failure-page">
      <p class="failure-page-status">404</p>
      <h1>Page not found</h1>
      <p class="lead">{message ?? 'This page does not exist.'} Private packages are visible to members only.</p>
      {near.length > 0 ? (
        <>
          <h2>Did you mean</h2>
          <PackageList packages={near} label="Packages with similar names" />
        </>
      ) : (
        <p>
          <Button href="/packages">Browse all packages</Button>
        </p>
      )}
    </div>
  )
}

/** Public packages with names similar to the path, closest first; empty if the path has no words. */
async function similarPackages({ api, url }: Visit): Promise<ListedPackage[]> {
  const words = decoded(url.pathname)
    .split('/')
    .filter((part) => part !== '' && part !== 'packages')
    .join(' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 60)
  if (words === '') return []
  // All words, then the last, most likely the package's name, then its prefix.
  const last = words.split(' ').slice(-1)[0]
  for (const q of new Set([words, last, words.slice(0, 4), last.slice(0, 4)])) {
    const found = await search(api, q)
    if (found.length > 0) return closestFirst(found, last)
  }
  return []
}

function closestFirst(found: ListedPackage[], word: string): ListedPackage[] {
  const baseOf = ({ name }: ListedPackage) => name.split('/')[1]
  const closest = nearestName(word, found.map(baseOf))
  return found.toSorted((a, b) => Number(baseOf(b) === closest) - Number(baseOf(a) === closest))
}

async function search(api: Visit['api'], q: string): Promise<ListedPackage[]> {
  try {
    const { data } = await api.GET('/v1/packages', { params: { query: { q, limit: 5 } } })
    return data.packages
  } catch (error) {
    // A 404 page without suggestions is better than a 500.
    if (error instanceof AgentGymError) return []
    throw error
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

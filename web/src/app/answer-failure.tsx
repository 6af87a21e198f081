import { AgentGymError, errorCatalogue } from '@agentgym/contract'
import { FailurePage } from '../pages/failures/failure-page.tsx'
import { nearNames } from '../pages/failures/near-names.ts'
import { NotFoundPage } from '../pages/failures/not-found-page.tsx'
import type { SiteHost, Visitor } from './site-host.ts'
import type { Visit } from './visit.ts'

/** A failure of the API, or a bug, as a page. */
export async function answerFailure(host: SiteHost, visitor: Visitor, visit: Visit, error: unknown): Promise<Response> {
  if (error instanceof AgentGymError) {
    const { status } = errorCatalogue[error.code]
    if (error.code === 'unauthenticated') return visit.redirect(`/login?next=${encodeURIComponent(visit.url.pathname)}`)
    if (status === 404) return nothingHere(visit, error.message)
    // An address with something in it that names nothing: no id, no version.
    if (error.code === 'request_invalid' && error.data.in === 'param') return nothingHere(visit)
    if (status < 500)
      return failurePage(visit, { status, title: titleOf(status), message: error.message, hint: error.hint })
  }
  host.log.error('a page failed', { request_id: visitor.requestId, path: visitor.path, error: described(error) })
  return failurePage(visit, {
    status: 500,
    title: 'This page failed',
    message: 'The fault is on our side.',
    hint: `Try again; if it fails again, tell the operator of this server the request ${visitor.requestId}.`,
  })
}

/** 404, with names that are near to what was asked for. */
export async function nothingHere(visit: Visit, message?: string): Promise<Response> {
  const near = await nearNames(visit)
  return visit.page(<NotFoundPage near={near} message={message} />, { title: 'Not found', status: 404, hidden: true })
}

/** A form that no page of ours gave this browser in this session. */
export function foreignForm(visit: Visit): Response {
  return failurePage(visit, {
    status: 403,
    title: 'This form is too old',
    message: 'It was made for another session or another browser, so nothing was done.',
    hint: 'Go back, reload the page, and send it again.',
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
  if (status === 409) return 'Changed in the meantime'
  return 'This cannot be done'
}

function described(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

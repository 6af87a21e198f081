import { raw } from 'hono/html'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { notFound } from '../failures.tsx'

export const apiReferenceRoutes = [
  route('get', '/docs/api', { access: 'public' }, showReference),
  route('get', '/docs/api/:group', { access: 'public' }, showReference),
]

/** A page of the reference, which the server generates from its OpenAPI document. */
async function showReference(visit: Visit): Promise<Response> {
  const found = await visit.reference(visit.url.pathname)
  if (found === null) return notFound(visit)
  return visit.page(<div class="reference">{raw(found.body)}</div>, {
    title: found.title === 'API reference' ? found.title : `${found.title} API`,
    description: `${found.title}: REST API of AgentGym, with parameters, responses and examples.`,
  })
}

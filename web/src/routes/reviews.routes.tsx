import { attempt } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { packageAddress } from '../components/package-address.ts'
import { PackageFrame } from '../pages/package/package-frame.tsx'
import { packagePath, readPackage } from '../pages/package/read-package.ts'
import { ReportPage } from '../pages/package/report-page.tsx'
import { type RefusedReview, ReviewsTab } from '../pages/package/reviews-page.tsx'

const base = '/packages/:scope/:name'

export const reviewRoutes = [
  route('get', `${base}/reviews`, { access: 'public' }, (visit) => reviewsPage(visit, null)),

  route('post', `${base}/reviews`, { access: 'account' }, async (visit) => {
    const { api, form } = visit
    const [stars, text] = [form.get('stars'), form.get('text')]
    const body = { version: form.get('version'), stars: Number(stars), text }
    const failure = await attempt(() =>
      api.PUT('/v1/packages/{scope}/{name}/reviews', { params: { path: packagePath(visit) }, body }),
    )
    if (failure === null) return visit.redirect(reviewsAddress(visit))
    return reviewsPage(visit, { to: null, stars, text, failure })
  }),

  route('post', `${base}/reviews/:id/withdraw`, { access: 'account' }, async (visit) => {
    await visit.api.DELETE('/v1/reviews/{id}', { params: { path: { id: visit.params.id } } })
    return visit.redirect(reviewsAddress(visit))
  }),

  route('post', `${base}/reviews/:id/reply`, { access: 'account' }, async (visit) => {
    const { api, form } = visit
    const { id } = visit.params
    const text = form.get(`reply-${id}`)
    const params = { path: { id } }
    const failure = await attempt(() =>
      text.trim() === ''
        ? api.DELETE('/v1/reviews/{id}/reply', { params })
        : api.PUT('/v1/reviews/{id}/reply', { params, body: { text } }),
    )
    if (failure === null) return visit.redirect(reviewsAddress(visit))
    return reviewsPage(visit, { to: id, stars: '', text, failure })
  }),

  route('get', `${base}/report`, { access: 'account' }, async (visit) => {
    const { page } = await readPackage(visit)
    const { query } = visit
    const body = <ReportPage name={page.name} review={query.get('review') ?? ''} sent={query.get('sent') === '1'} />
    return visit.page(body, { title: `Report ${page.name}`, hidden: true })
  }),

  route('post', `${base}/report`, { access: 'account' }, async (visit) => {
    const { page } = await readPackage(visit)
    const { api, form } = visit
    const [reason, text, review] = [form.get('reason'), form.get('text'), form.get('review')]
    const failure = await attempt(() =>
      api.POST('/v1/reports', {
        // What is none of the reasons, the API says.
        body: { package: page.name, reason: reason as 'other', text, ...(review === '' ? {} : { review }) },
      }),
    )
    if (failure === null) return visit.redirect(`${packageAddress(page.name)}/report?sent=1`)
    const body = <ReportPage name={page.name} review={review} reason={reason} text={text} failure={failure} />
    return visit.page(body, { title: `Report ${page.name}`, hidden: true, status: failure.status })
  }),
]

function reviewsAddress({ params: { scope, name } }: Visit): string {
  return `${packageAddress(`${scope}/${name}`)}/reviews`
}

async function reviewsPage(visit: Visit, refused: RefusedReview | null): Promise<Response> {
  const view = await readPackage(visit)
  const { page, member } = view
  const cursor = visit.query.get('cursor') ?? undefined
  const hidden = page.taken_down !== null && page.latest === null
  const { data } = hidden
    ? {}
    : await visit.api.GET('/v1/packages/{scope}/{name}/reviews', {
        params: { path: packagePath(visit), query: { limit: 20, cursor } },
      })
  const none = { rating: { score: null, votes: 0, by_stars: [0, 0, 0, 0, 0] }, reviews: [], next_cursor: null }
  return visit.page(
    <PackageFrame view={view} tab="/reviews">
      <ReviewsTab
        name={page.name}
        version={page.latest?.version ?? null}
        reviews={data ?? none}
        first={cursor === undefined}
        member={member}
        refused={refused}
      />
    </PackageFrame>,
    {
      title: `Reviews of ${page.title ?? page.name}`,
      status: refused?.failure.status,
      hidden: hidden || cursor !== undefined,
    },
  )
}

import type { Review, ReviewList } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Time } from '../../components/values.tsx'
import { formatCount } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { appealAddress } from './appeal.tsx'
import { PackageFrame } from './package-frame.tsx'
import { packagePath, readPackage } from './read-package.ts'

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

type ReviewPage = {
  rating: { mean?: number | null; score: number | null; votes: number; by_stars: number[] }
  reviews: Review[]
  own_hidden?: ReviewList['own_hidden']
  next_cursor: string | null
}
/** The refused form: a review, or a reply. */
type RefusedReview = { to: string | null; stars: string; text: string; failure: FormFailure }

type ReviewsTabProps = {
  name: string
  /** The version to review; null if there is none. */
  version: string | null
  reviews: ReviewPage
  first: boolean
  /** Whether the visitor sells it, and replies instead of reviewing. */
  member: boolean
  refused?: RefusedReview | null
}

/** Reviews, and the visitor's own. */
function ReviewsTab({ name, version, reviews, first, member, refused = null }: ReviewsTabProps) {
  const { account } = usePage()
  const address = `${packageAddress(name)}/reviews`
  const mine = reviews.reviews.find(({ author, version: of }) => author === account?.username && of === version)
  return (
    <section class="package-section" aria-labelledby="reviews">
      <h2 id="reviews">Reviews</h2>
      <Stars rating={reviews.rating} />
      {first &&
        reviews.own_hidden?.map(({ id, version: of, decision: { reason } }) => (
          <Notice kind="warning">
            Your review of {of} was hidden{reason === '' ? '.' : `: ${reason}`}{' '}
            <a href={appealAddress(name, { review: id })}>Appeal</a>
          </Notice>
        ))}
      {account === null ? (
        <p class="dim">
          <a href={`/login?next=${encodeURIComponent(address)}`}>Log in</a> to write a review. Buyers can review; free
          packages can be reviewed by their users.
        </p>
      ) : (
        !member && version !== null && <OwnReview name={name} version={version} mine={mine} refused={refused} />
      )}
      {reviews.reviews.length === 0 ? (
        <EmptyState title={first ? 'No reviews yet' : 'No more reviews'}>
          Reviews by buyers and users appear here.
        </EmptyState>
      ) : (
        <ol class="reviews">
          {reviews.reviews.map((review) => (
            <ReviewItem
              review={review}
              name={name}
              own={review.author === account?.username}
              seller={member}
              refused={refused?.to === review.id ? refused : null}
            />
          ))}
        </ol>
      )}
      <nav class="pager" aria-label="Pages">
        {!first && <Button href={address}>Newest reviews</Button>}
        {reviews.next_cursor !== null && (
          <Button href={`${address}?cursor=${encodeURIComponent(reviews.next_cursor)}`}>
            Older reviews <Icon name="chevron-right" />
          </Button>
        )}
      </nav>
    </section>
  )
}

/** Distribution of the ratings. */
function Stars({ rating: { mean, score, votes, by_stars: byStars } }: { rating: ReviewPage['rating'] }) {
  if (votes === 0) return null
  const most = Math.max(1, ...byStars)
  return (
    <div class="stars">
      <p class="metric-value">
        {(mean ?? score)?.toFixed(1) ?? '–'}
        <span class="metric-note"> of 5, {formatCount(votes, 'vote')}</span>
      </p>
      <ul>
        {byStars
          .map((count, index) => ({ stars: index + 1, count }))
          .reverse()
          .map(({ stars, count }) => (
            <li>
              <span>
                {stars} {stars === 1 ? 'star' : 'stars'}
              </span>
              <svg viewBox="0 0 100 4" height="6" preserveAspectRatio="none" aria-hidden="true">
                <rect class="quality-bar-rest" width="100" height="4" />
                <rect class="quality-bar-score" width={(100 * count) / most} height="4" />
              </svg>
              <span class="package-points">{count}</span>
            </li>
          ))}
      </ul>
    </div>
  )
}

const starOptions = [5, 4, 3, 2, 1].map((stars) => ({
  value: String(stars),
  label: `${stars} ${stars === 1 ? 'star' : 'stars'}`,
}))

type OwnReviewProps = { name: string; version: string; mine: Review | undefined; refused: RefusedReview | null }

function OwnReview({ name, version, mine, refused }: OwnReviewProps) {
  const typed = refused?.to === null ? refused : null
  const failure = typed?.failure ?? null
  return (
    <details class="own-review" open={typed !== null}>
      <summary class="package-more">{mine === undefined ? `Review version ${version}` : 'Edit your review'}</summary>
      <Form action={`${packageAddress(name)}/reviews`} failure={failure} fields={['stars', 'text']} label="Your review">
        <input type="hidden" name="version" value={version} />
        <Field
          label="Stars"
          name="stars"
          options={starOptions}
          value={typed?.stars ?? (mine === undefined ? '5' : String(mine.stars))}
          failure={failure}
          required
        />
        <Field
          label="Review"
          name="text"
          rows={5}
          maxlength={5000}
          value={typed?.text ?? mine?.text}
          failure={failure}
          required
        />
        <Button look="primary">{mine === undefined ? 'Publish review' : 'Update review'}</Button>
      </Form>
    </details>
  )
}

type ReviewItemProps = {
  review: Review
  name: string
  own: boolean
  /** Whether the visitor belongs to the seller and may reply. */
  seller: boolean
  refused: RefusedReview | null
}

/** A review with the seller's reply. */
function ReviewItem({ review, name, own, seller, refused }: ReviewItemProps) {
  const address = `${packageAddress(name)}/reviews/${review.id}`
  return (
    <li class="review" id={`review-${review.id}`}>
      <p class="review-head">
        <span class="review-stars">
          {Array.from({ length: 5 }, (_, index) => (
            <span class={index < review.stars ? 'review-star' : 'review-star review-star-none'}>
              <Icon name="star" size={14} />
            </span>
          ))}
          <span class="visually-hidden">{review.stars} of 5 stars</span>
        </span>
        <strong>{review.author}</strong>
        <span class="dim">
          on <span class="mono">{review.version}</span>, <Time at={review.updated_at} />
        </span>
      </p>
      <p class="review-text" dir="auto">
        {review.text}
      </p>
      {review.reply !== null && (
        <blockquote class="review-reply">
          <p class="review-head">
            <strong>{review.reply.by}</strong>
            <span class="dim">
              replied <Time at={review.reply.at} />
            </span>
          </p>
          <p class="review-text" dir="auto">
            {review.reply.text}
          </p>
        </blockquote>
      )}
      <div class="review-actions">
        {own && (
          <Form action={`${address}/withdraw`} look="inline" label="Delete your review">
            <Button size="small">Delete</Button>
          </Form>
        )}
        {seller && <Reply review={review} address={address} refused={refused} />}
        {!own && <a href={`${packageAddress(name)}/report?review=${review.id}`}>Report</a>}
      </div>
    </li>
  )
}

function Reply({ review, address, refused }: { review: Review; address: string; refused: RefusedReview | null }) {
  const failure = refused?.failure ?? null
  // A page has many of these, so each field needs a unique ID.
  const name = `reply-${review.id}`
  const renamed =
    failure === null ? null : { ...failure, fields: { ...failure.fields, [name]: failure.fields.text ?? '' } }
  const shown = failure?.fields.text === undefined ? failure : renamed
  return (
    <details open={refused !== null}>
      <summary class="package-more">{review.reply === null ? 'Reply' : 'Edit reply'}</summary>
      <Form action={`${address}/reply`} failure={shown} fields={[name, 'text']} label={`Reply to ${review.author}`}>
        <Field
          label="Your reply"
          name={name}
          rows={4}
          maxlength={5000}
          value={refused?.text ?? review.reply?.text}
          failure={shown}
          required={review.reply === null}
          help={review.reply === null ? undefined : 'Leave empty to delete the reply.'}
        />
        <Button size="small">Publish reply</Button>
      </Form>
    </details>
  )
}

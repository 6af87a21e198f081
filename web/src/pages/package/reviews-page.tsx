import type { Review } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { usePage } from '../../layout/page-context.ts'
import { ReviewItem } from './review-item.tsx'

export type ReviewPage = {
  rating: { score: number | null; votes: number; by_stars: number[] }
  reviews: Review[]
  next_cursor: string | null
}
/** What was sent and refused: a review, or the reply to one. */
export type RefusedReview = { to: string | null; stars: string; text: string; failure: FormFailure }

type ReviewsTabProps = {
  name: string
  /** What a new review is about; null where there is nothing to review. */
  version: string | null
  reviews: ReviewPage
  first: boolean
  /** Sells it: answers instead of reviewing. */
  member: boolean
  refused?: RefusedReview | null
}

/** What those who have used it say, and one's own word. */
export function ReviewsTab({ name, version, reviews, first, member, refused = null }: ReviewsTabProps) {
  const { account } = usePage()
  const address = `${packageAddress(name)}/reviews`
  const mine = reviews.reviews.find(({ author, version: of }) => author === account?.username && of === version)
  return (
    <section class="package-section" aria-labelledby="reviews">
      <h2 id="reviews">Reviews</h2>
      <Stars rating={reviews.rating} />
      {account === null ? (
        <p class="dim">
          <a href={`/login?next=${encodeURIComponent(address)}`}>Log in</a> to review it. Who has bought it may, and
          where it is free, who has used it.
        </p>
      ) : (
        !member && version !== null && <OwnReview name={name} version={version} mine={mine} refused={refused} />
      )}
      {reviews.reviews.length === 0 ? (
        <EmptyState title={first ? 'Nobody has reviewed it yet' : 'No more reviews'}>
          Reviews stand here once somebody who has bought or used it has written one.
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

/** How the votes are spread. */
function Stars({ rating: { score, votes, by_stars: byStars } }: { rating: ReviewPage['rating'] }) {
  if (votes === 0) return null
  const most = Math.max(1, ...byStars)
  return (
    <div class="stars">
      <p class="figure-value">
        {score === null ? '–' : score.toFixed(1)}
        <span class="figure-note">
          {' '}
          of 5, {votes === 1 ? 'one vote' : `${votes.toLocaleString('en')} votes`}; drawn to the mean of all packages
          while few
        </span>
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
      <summary class="package-more">{mine === undefined ? `Review version ${version}` : 'Change your review'}</summary>
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
          label="What others should know"
          name="text"
          rows={5}
          maxlength={5000}
          value={typed?.text ?? mine?.text}
          failure={failure}
          required
        />
        <Button look="primary">{mine === undefined ? 'Publish the review' : 'Publish it anew'}</Button>
      </Form>
    </details>
  )
}

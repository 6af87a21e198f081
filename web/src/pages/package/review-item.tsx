import type { Review } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Time } from '../../components/time.tsx'
import type { RefusedReview } from './reviews-page.tsx'

type ReviewItemProps = {
  review: Review
  name: string
  own: boolean
  /** Belongs to who sells it, and may answer. */
  seller: boolean
  refused: RefusedReview | null
}

/** What somebody wrote, and what the seller answered. */
export function ReviewItem({ review, name, own, seller, refused }: ReviewItemProps) {
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
              answered <Time at={review.reply.at} />
            </span>
          </p>
          <p class="review-text" dir="auto">
            {review.reply.text}
          </p>
        </blockquote>
      )}
      <div class="review-actions">
        {own && (
          <Form action={`${address}/withdraw`} look="inline" label="Withdraw your review">
            <Button size="small">Withdraw</Button>
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
  // One page has many of these: each field has an id of its own.
  const name = `reply-${review.id}`
  const renamed =
    failure === null ? null : { ...failure, fields: { ...failure.fields, [name]: failure.fields.text ?? '' } }
  const shown = failure?.fields.text === undefined ? failure : renamed
  return (
    <details open={refused !== null}>
      <summary class="package-more">{review.reply === null ? 'Answer' : 'Change the answer'}</summary>
      <Form action={`${address}/reply`} failure={shown} fields={[name, 'text']} label={`Answer ${review.author}`}>
        <Field
          label="Your answer"
          name={name}
          rows={4}
          maxlength={5000}
          value={refused?.text ?? review.reply?.text}
          failure={shown}
          required={review.reply === null}
          help={review.reply === null ? undefined : 'Left empty, the answer is taken back.'}
        />
        <Button size="small">Publish the answer</Button>
      </Form>
    </details>
  )
}

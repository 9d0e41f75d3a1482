import type { AnswerOf } from '@referrer/client'
import type { ReactNode } from 'react'
import { ratingOf } from '../../../format/rating.ts'
import { plural } from '../../../format/text.ts'
import { ReviewLink } from '../../../ui/links.tsx'
import { Outcome } from '../../../ui/outcome.tsx'
import { Foreign, Moment, Stars } from '../../../ui/values.tsx'

type Review = Omit<AnswerOf<'/v1/agent/{id}/reviews', 'get'>['reviews'][number], 'product_name'>

const LONGEST = 600

/** A review in a list; `about` says whose it is or what it is about. */
export function ReviewItem({ review, about }: { review: Review; about: ReactNode }) {
  const { description } = review.content_json
  return (
    <li className="review-item">
      <div className="row row-apart">
        <h3>{about}</h3>
        <Outcome outcome={review.comparison_outcome} />
      </div>
      <p className="row">
        <Stars score={ratingOf(review.satisfaction_score)} />
        {review.published_at && (
          <span className="soft small">
            <Moment at={review.published_at} />
          </span>
        )}
      </p>
      <blockquote>
        <Foreign text={typeof description === 'string' ? description : ''} most={LONGEST} />
      </blockquote>
      <p className="row soft small">
        <span>{plural(review.sales_count, 'purchase')} through it</span>
        <Votes {...review.votes} />
        <ReviewLink id={review.internal_id}>Read it beside the others</ReviewLink>
      </p>
    </li>
  )
}

function Votes({ count, qualifying }: Review['votes']) {
  const some = count === qualifying ? '' : `, ${qualifying.toLocaleString('en')} of them count`
  return (
    <span title="Votes of the author’s own owner do not count">
      {count === 0 ? 'no votes yet' : `${plural(count, 'vote')}${some}`}
    </span>
  )
}

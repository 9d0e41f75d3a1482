import type { AnswerOf } from '@referrer/client'
import { Link } from '@tanstack/react-router'
import { plural } from '../../../format/text.ts'
import { ProductLink } from '../../../ui/links.tsx'
import { Badge } from '../../../ui/parts.tsx'
import { Foreign, Moment, Rank, Stars } from '../../../ui/values.tsx'
import { Figures } from '../parts/figures.tsx'
import { Price } from '../parts/product-card.tsx'
import { readContent } from '../parts/review-content.ts'
import { apart, type SlateEntry, slotWords } from './slots.ts'

type Product = AnswerOf<'/v1/discover', 'get'>['products'][number]

/** A product and the reviews that the market chose for it, each with the reason. */
export function Slate({ product }: { product: Product }) {
  const { chosen, others } = apart(product.reviews)
  return (
    <article className="card slate">
      <header>
        <div className="row row-apart">
          <h2>
            <ProductLink product={product} />
          </h2>
          <Price amount={product.price_usdc} />
        </div>
        <div className="row small soft slate-facts">
          {product.category && (
            <Badge>
              <Foreign text={product.category} most={40} />
            </Badge>
          )}
          <span className="row">
            Product{' '}
            <Rank rank={product.sub_scores.product_rank} label="Product rank, by what buyers thought of it" />
          </span>
          <span className="row">
            Fits <Rank rank={product.sub_scores.intent_match} label="How well it fits your words" />
          </span>
          <span className="row">
            Its reviewers <Rank rank={product.mean_author_rank} label="Mean rank of its reviewers" />
          </span>
          <span>{plural(product.review_count, 'review')}</span>
        </div>
      </header>
      {chosen.length === 0 ? (
        <p className="soft">
          {others.length === 0
            ? 'No review yet: nobody has said how it is.'
            : 'No review that the market would show you.'}
        </p>
      ) : (
        <ul className="slate-reviews">
          {chosen.map((review) => (
            <SlateReview key={review.internal_id} review={review} product={product} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <details>
          <summary>{plural(others.length, 'review')} not chosen, and why</summary>
          <ul className="slate-reviews">
            {others.map((review) => (
              <SlateReview key={review.internal_id} review={review} product={product} />
            ))}
          </ul>
        </details>
      )}
    </article>
  )
}

function SlateReview({ review, product }: { review: SlateEntry; product: Product }) {
  const { name, why, tone } = slotWords(review)
  const content = readContent(review.content_json)
  return (
    <li>
      <div className="row row-apart">
        <Badge tone={tone}>{name}</Badge>
        <Stars score={content.rating} />
      </div>
      <p className="small soft">{why}</p>
      <blockquote className="clamped">
        <Foreign text={content.description} most={400} />
      </blockquote>
      <Figures content={content} most={4} />
      <div className="small soft row row-apart">
        <span className="row">
          Author <Rank rank={review.author_rank} label="Rank of its author" />
          {review.published_at && <Moment at={review.published_at} />}
        </span>
        {review.ref_link !== '' && review.slot !== 'excluded' && (
          <Link
            to="/product/$merchantId/$productId"
            params={{ merchantId: String(product.merchant_id), productId: product.product_id }}
            search={{ through: review.internal_id }}
            hash="buy"
            aria-label={`Buy through it: review ${review.internal_id}`}
          >
            Buy through it
          </Link>
        )}
      </div>
    </li>
  )
}

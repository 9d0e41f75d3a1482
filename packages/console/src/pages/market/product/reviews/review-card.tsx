import { Link } from '@tanstack/react-router'
import { plural } from '../../../../format/text.ts'
import { AgentLink } from '../../../../ui/links.tsx'
import { BuyerBadge, Outcome } from '../../../../ui/outcome.tsx'
import { Badge, Card } from '../../../../ui/parts.tsx'
import { Foreign, Moment, Rank, Stars } from '../../../../ui/values.tsx'
import { Figures } from '../../parts/figures.tsx'
import { readContent } from '../../parts/review-content.ts'
import type { Product, ProductReview } from '../questions.ts'
import { productPage } from '../search.ts'

/** Ranks are apart for what is bought again and again, and what is bought once. */
export const rankOf = ({ author }: ProductReview, { product_type }: Product): number | null =>
  product_type === 'One-off' ? author.review_rank_one_off : author.review_rank_repeat

interface Props {
  review: ProductReview
  product: Product
  /** It is the one that a link led to. */
  isChosen: boolean
}

export function ReviewCard({ review, product, isChosen }: Props) {
  const content = readContent(review.content_json)
  return (
    <Card className={`review-card ${isChosen ? 'review-chosen' : ''}`}>
      <div className="row row-apart">
        <h3>
          <AgentLink id={review.agent_id} isFirst />
        </h3>
        <Rank rank={rankOf(review, product)} label="Rank of its author" />
      </div>
      <div className="row">
        {isChosen && <Badge tone="accent">The one you came for</Badge>}
        <Stars score={content.rating} />
        {review.is_buyer_review && <BuyerBadge />}
        <Outcome outcome={review.comparison_outcome} />
        {review.author.flagged && (
          <Badge tone="bad" title="An admin has flagged this agent: its reviews do not count.">
            Flagged author
          </Badge>
        )}
      </div>
      <blockquote>
        <Foreign text={content.description} most={1_500} />
      </blockquote>
      <Figures content={content} most={8} />
      <div className="review-end">
        <p className="small soft">
          {plural(review.votes.qualifying, 'vote')}
          {review.votes.count > review.votes.qualifying && ` that count, of ${review.votes.count}`},{' '}
          {plural(review.sales_count, 'sale')}
          {review.published_at && (
            <>
              , <Moment at={review.published_at} />
            </>
          )}
          {review.edited_at && (
            <>
              , edited <Moment at={review.edited_at} />
            </>
          )}
        </p>
        <BuyThrough review={review} />
      </div>
    </Card>
  )
}

export function BuyThrough({ review }: { review: ProductReview }) {
  const params = productPage.useParams()
  if (!review.ref_link) return <span className="small soft">No link to buy through</span>
  return (
    <Link
      to="/product/$merchantId/$productId"
      params={params}
      search={(before) => ({ ...before, through: review.internal_id })}
      hash="buy"
      className="small"
      aria-label={`Buy through it: the review of agent ${review.agent_id}`}
    >
      Buy through it
    </Link>
  )
}

import { AgentLink } from '../../../../ui/links.tsx'
import { Outcome } from '../../../../ui/outcome.tsx'
import { Foreign, Rank, Stars } from '../../../../ui/values.tsx'
import { readContent } from '../../parts/review-content.ts'
import type { Product, ProductReview } from '../questions.ts'
import { BuyThrough, rankOf } from './review-card.tsx'

const MOST_COLUMNS = 8

/** The measurements of all reviews in one table: those that most reviews have. */
export function ReviewTable({ reviews, product }: { reviews: ProductReview[]; product: Product }) {
  const rows = reviews.map((review) => ({ review, content: readContent(review.content_json) }))
  const columns = columnsOf(rows.map(({ content }) => content.figures))
  return (
    <div className="table-frame">
      <table className="figures-table">
        <caption className="hidden-text">What the reviews measured</caption>
        <thead>
          <tr>
            <th scope="col">Reviewer</th>
            <th scope="col">Rank</th>
            <th scope="col">Rating</th>
            <th scope="col">Outcome</th>
            {columns.map(({ key, name }) => (
              <th scope="col" key={key} className="amount">
                <Foreign text={name} />
              </th>
            ))}
            <th scope="col" className="amount">
              Votes
            </th>
            <th scope="col" className="amount">
              Sales
            </th>
            <th scope="col">
              <span className="hidden-text">Buy</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ review, content }) => (
            <tr key={review.internal_id}>
              <th scope="row">
                <AgentLink id={review.agent_id} isFirst />
              </th>
              <td>
                <Rank rank={rankOf(review, product)} label="Rank of its author" />
              </td>
              <td>
                <Stars score={content.rating} />
              </td>
              <td>
                <Outcome outcome={review.comparison_outcome} />
              </td>
              {columns.map(({ key }) => (
                <td key={key} className="amount number">
                  <Foreign text={content.figures.find((figure) => figure.key === key)?.value ?? '–'} />
                </td>
              ))}
              <td className="amount number">{review.votes.qualifying}</td>
              <td className="amount number">{review.sales_count}</td>
              <td>
                <BuyThrough review={review} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface Column {
  key: string
  name: string
}

/** The fields that most reviews have, in the order in which a review shows them. */
function columnsOf(all: Column[][]): Column[] {
  const counts = new Map<string, Column & { count: number; place: number }>()
  for (const { key, name } of all.flat()) {
    const known = counts.get(key)
    if (known) known.count += 1
    else counts.set(key, { key, name, count: 1, place: counts.size })
  }
  return [...counts.values()]
    .sort((a, b) => b.count - a.count || a.place - b.place)
    .slice(0, MOST_COLUMNS)
    .sort((a, b) => a.place - b.place)
}

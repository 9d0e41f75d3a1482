import { plain } from '../../../format/text.ts'
import { formatUsdc } from '../../../format/usdc.ts'
import { productName } from '../../../ui/links.tsx'
import { readContent } from '../parts/review-content.ts'
import type { Product, ProductReview } from './questions.ts'

interface Known {
  about: Product
  price: number | undefined
  reviews: ProductReview[]
  url: string
}

/** The product, its rating and its reviews as schema.org names them. */
export function jsonLdOf({ about, price, reviews, url }: Known): object {
  const rated = reviews.flatMap((review) => {
    const { rating, description } = readContent(review.content_json)
    return rating === null ? [] : [{ review, rating, description }]
  })
  const mean = rated.reduce((sum, { rating }) => sum + rating, 0) / rated.length
  return {
    '@type': 'Product',
    name: plain(productName(about.name), 200),
    description: plain(about.description, 1_000),
    ...(about.category && { category: plain(about.category, 100) }),
    productID: about.product_id,
    url,
    ...(price !== undefined && {
      offers: {
        '@type': 'Offer',
        price: formatUsdc(price).replaceAll(',', ''),
        priceCurrency: 'USDC',
        availability: 'https://schema.org/InStock',
        url,
      },
    }),
    ...(rated.length > 0 && {
      aggregateRating: {
        '@type': 'AggregateRating',
        ratingValue: Number(mean.toFixed(2)),
        ratingCount: rated.length,
        bestRating: 5,
        worstRating: 1,
      },
      review: rated.map(({ review, rating, description }) => ({
        '@type': 'Review',
        author: { '@type': 'Thing', name: `Agent ${review.agent_id}` },
        ...(review.published_at && { datePublished: review.published_at }),
        reviewBody: plain(description, 500),
        reviewRating: { '@type': 'Rating', ratingValue: rating, bestRating: 5, worstRating: 1 },
      })),
    }),
  }
}

import type { Queryable } from '@referrer/database'

/** The key of a ref link: its product and review. */
export interface LinkKey {
  chainId: number
  merchantId: number
  productId: Buffer
  reviewId: number
  reviewerAgentId: number
}

/**
 * The present endpoint for each link, also when it was another one when the link was made. It is undefined when nothing can be bought:
 * the product and the merchant must be active, and the review must have the same id, agent and product as in the link (after a
 * reorganisation the id can belong to another review).
 */
export async function findEndpoints(
  sql: Queryable,
  keys: readonly LinkKey[],
): Promise<(string | undefined)[]> {
  const rows = await sql<{ at: bigint; endpoint_url: string }[]>`
    SELECT link.at, sold.endpoint_url FROM unnest(
      ${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ merchantId }) => merchantId)}::bigint[],
      ${keys.map(({ productId }) => productId)}::bytea[], ${keys.map(({ reviewId }) => reviewId)}::bigint[],
      ${keys.map(({ reviewerAgentId }) => reviewerAgentId)}::bigint[]
    ) WITH ORDINALITY AS link (chain_id, merchant_id, product_id, review_id, agent_id, at)
    JOIN chain.products AS product USING (chain_id, merchant_id, product_id)
    JOIN market.products AS sold USING (chain_id, merchant_id, product_id)
    JOIN chain.merchants AS merchant USING (chain_id, merchant_id)
    JOIN chain.reviews AS review USING (chain_id, review_id, agent_id, merchant_id, product_id)
    JOIN chain.identities AS owned
      ON (owned.chain_id, owned.agent_id, owned.owner) = (link.chain_id, link.merchant_id, merchant.opened_by)
    WHERE product.active AND merchant.active AND NOT merchant.suspended AND sold.endpoint_url <> ''`
  const endpoints = new Map(rows.map(({ at, endpoint_url }) => [Number(at), endpoint_url]))
  return keys.map((_, index) => endpoints.get(index + 1))
}

/** The data that a page shows about a link. */
export type Shown = {
  name: string
  /** Price in USDC base units, as last polled from the present endpoint; null when it was not polled yet. */
  price: bigint | null
  price_seen_at: Date | null
  /** Description of the product. */
  description: string
  category: string
  /** 0 is repeat, 1 is one-off. */
  product_type: number
  merchant_description: string | null
  landing_page_url: string | null
  /** Null when the text of the review is not known yet. */
  content: string | null
  published_at: Date
  /** Whether the review's author is flagged. */
  flagged: boolean
  repeat: number | null
  one_off: number | null
}

export async function findShown(
  sql: Queryable,
  { chainId, merchantId, productId, reviewId }: Omit<LinkKey, 'reviewerAgentId'>,
): Promise<Shown | undefined> {
  const [row] = await sql<Shown[]>`
    SELECT p.name, p.description, p.category, offer.price, offer.seen_at AS price_seen_at, product.product_type, m.description AS merchant_description, m.landing_page_url, r.content, review.published_at,
      coalesce(a.flagged, false) AS flagged, rank.repeat, rank.one_off
    FROM chain.reviews AS review
    JOIN chain.products AS product USING (chain_id, merchant_id, product_id)
    JOIN market.reviews AS r USING (internal_id)
    JOIN market.products AS p
      ON (p.chain_id, p.merchant_id, p.product_id) = (review.chain_id, review.merchant_id, review.product_id)
    LEFT JOIN market.offers AS offer ON (offer.chain_id, offer.merchant_id, offer.product_id, offer.endpoint_url)
      = (p.chain_id, p.merchant_id, p.product_id, p.endpoint_url)
    LEFT JOIN market.merchants AS m ON (m.chain_id, m.merchant_id) = (review.chain_id, review.merchant_id)
    LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (review.chain_id, review.agent_id)
    LEFT JOIN market.review_ranks AS rank ON (rank.chain_id, rank.agent_id) = (review.chain_id, review.agent_id)
    WHERE review.chain_id = ${chainId} AND review.review_id = ${reviewId}
      AND review.merchant_id = ${merchantId} AND review.product_id = ${productId}`
  return row
}

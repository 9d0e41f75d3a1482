import type { Transaction } from '@referrer/database'
import { BASE_RATES } from '@referrer/ranking'
import type { ProductOfChain } from '../../kit/keys.ts'
import { isOpenMerchant } from '../../market/merchants/open.ts'

/** A product as discovery sees it. */
export interface Listing {
  isOpen: boolean
  reviewCount: number
  shortlist: readonly bigint[]
  evidence: string
}

/** For so long after its author changed hands a review is excluded. */
export const COOLDOWN_MS = 7 * 86_400_000
/** All that are published, if they are no more than this. */
const SHORTLISTED = 200
/** Of more: so many of the newest, so many by the best authors, and all that are excluded. */
const NEWEST = 100
const BEST = 100

const columns = (products: readonly ProductOfChain[]) =>
  [products.map(({ merchantId }) => merchantId), products.map(({ productId }) => productId)] as const

/** Whoever changes something that discovery reads beside the listing calls this, in the same transaction. */
export async function touchListings(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
): Promise<void> {
  if (products.length === 0) return
  const [merchantIds, productIds] = columns(products)
  await tx`
    WITH locked AS (
      SELECT merchant_id, product_id FROM market.listings
      JOIN unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id) USING (merchant_id, product_id)
      WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id FOR UPDATE OF listings
    )
    UPDATE market.listings AS l SET changed_in = pg_current_xact_id() FROM locked
    WHERE l.chain_id = ${chainId} AND (l.merchant_id, l.product_id) = (locked.merchant_id, locked.product_id)`
}

/** Lets the followers look at these listings again. */
export async function announceListings(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
): Promise<void> {
  const [merchantIds, productIds] = columns(products)
  await tx`
    INSERT INTO market.pending_changes (chain_id, what, merchant_id, product_id)
    SELECT ${chainId}, 'listing', * FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[])`
}

/** Records of reviews: their products. */
export async function productsOf(
  tx: Transaction,
  chainId: number,
  reviewIds: readonly bigint[],
): Promise<ProductOfChain[]> {
  if (reviewIds.length === 0) return []
  return tx<ProductOfChain[]>`
    SELECT DISTINCT merchant_id AS "merchantId", product_id AS "productId" FROM market.reviews
    WHERE chain_id = ${chainId} AND internal_id = ANY(${[...reviewIds]}::bigint[])`
}

/** What many products may rest on. */
export interface Wide {
  merchants: readonly bigint[]
  agents: readonly bigint[]
  flags: readonly bigint[]
}

/**
 * The products that rest on these. Whether one is open rests on its merchant and its owner; what its reviews say, on whether their authors are
 * flagged; who is excluded among many reviews, on whom their authors belong to. More than `most` are announced, to be looked at later.
 */
export async function productsRestingOn(
  tx: Transaction,
  chainId: number,
  { merchants, agents, flags }: Wide,
  most: number,
): Promise<ProductOfChain[]> {
  if (merchants.length + agents.length + flags.length === 0) return []
  const wide = tx`
    SELECT merchant_id, product_id FROM market.products
    WHERE chain_id = ${chainId} AND merchant_id = ANY(${[...merchants, ...agents]}::bigint[])
    UNION SELECT merchant_id, product_id FROM chain.reviews
    WHERE chain_id = ${chainId} AND agent_id = ANY(${[...flags]}::bigint[])
    UNION SELECT merchant_id, product_id FROM chain.reviews AS r
    WHERE chain_id = ${chainId} AND agent_id = ANY(${[...agents]}::bigint[]) AND (
      SELECT review_count FROM market.listings AS l
      WHERE (l.chain_id, l.merchant_id, l.product_id) = (r.chain_id, r.merchant_id, r.product_id)) > ${SHORTLISTED}`
  const some = await tx<ProductOfChain[]>`
    SELECT merchant_id AS "merchantId", product_id AS "productId" FROM (${wide}) AS wide LIMIT ${most + 1}`
  if (some.length <= most) return some
  await tx`
    INSERT INTO market.pending_changes (chain_id, what, merchant_id, product_id)
    SELECT ${chainId}, 'listing', merchant_id, product_id FROM (${wide}) AS wide`
  return []
}

/** What is known of a product apart from its reviews, and its listing as it is; null: there is none. */
export type StandingRow = {
  merchant_id: bigint
  product_id: Buffer
  /** It is in the records. */
  is_known: boolean
  is_open: boolean
  review_count: number
  listed_open: boolean | null
  listed_count: number
  listed_shortlist: bigint[]
  listed_evidence: string
}

/** Of products that are in the records or were. */
export function standingsOf(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
): Promise<StandingRow[]> {
  const [merchantIds, productIds] = columns(products)
  return tx<StandingRow[]>`
    SELECT k.merchant_id, k.product_id, p.chain_id IS NOT NULL AS is_known,
      (p.chain_id IS NOT NULL AND c.active AND ${isOpenMerchant(tx, chainId, tx`k.merchant_id`)}) IS TRUE AS is_open,
      coalesce(r.count, 0)::integer AS review_count,
      l.is_open AS listed_open, l.review_count AS listed_count, l.shortlist AS listed_shortlist, l.evidence AS listed_evidence
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id)
    LEFT JOIN market.products AS p ON (p.chain_id, p.merchant_id, p.product_id) = (${chainId}, k.merchant_id, k.product_id)
    LEFT JOIN chain.products AS c ON (c.chain_id, c.merchant_id, c.product_id) = (${chainId}, k.merchant_id, k.product_id)
    LEFT JOIN market.product_reviews AS r ON (r.chain_id, r.merchant_id, r.product_id) = (${chainId}, k.merchant_id, k.product_id)
    LEFT JOIN market.listings AS l ON (l.chain_id, l.merchant_id, l.product_id) = (${chainId}, k.merchant_id, k.product_id)
    WHERE p.chain_id IS NOT NULL OR l.chain_id IS NOT NULL
    ORDER BY k.merchant_id, k.product_id`
}

/** A review that is shortlisted. */
export type ShortlistedRow = {
  /** Which of the products, from 0. */
  at: number
  internal_id: bigint
  agent_id: bigint
  author_owner: Buffer | null
  /** Its words count: its author is not flagged, and nobody who owned it owned the merchant. */
  is_heard: boolean
  /** Among the reviews of the product: 1 is by the best author. */
  place: number
}

export interface Look {
  now: Date
  /** Reviews that may be new, wherever they are among the others. */
  announced: readonly bigint[]
  /** How many of the newest reviews of a product are looked at, besides those that were shortlisted before. */
  window: number
}

/** In the order of the products, then of the records. */
export function shortlistsOf(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
  { now, announced, window }: Look,
): Promise<ShortlistedRow[]> {
  const [merchantIds, productIds] = columns(products)
  const cooldownBegan = new Date(now.getTime() - COOLDOWN_MS)
  // Limited, rows are looked up one by one; as plain joins they could be done for whole tables at once.
  return tx<ShortlistedRow[]>`
    WITH k AS (
      SELECT k.*, c.product_type, i.owner
      FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) WITH ORDINALITY AS k (merchant_id, product_id, at)
      LEFT JOIN chain.products AS c ON (c.chain_id, c.merchant_id, c.product_id) = (${chainId}, k.merchant_id, k.product_id)
      LEFT JOIN chain.identities AS i ON (i.chain_id, i.agent_id) = (${chainId}, k.merchant_id)
    ), candidates AS (
      SELECT k.at, newest.internal_id FROM k CROSS JOIN LATERAL (
        SELECT internal_id FROM chain.reviews AS c
        WHERE (c.chain_id, c.merchant_id, c.product_id) = (${chainId}, k.merchant_id, k.product_id)
        ORDER BY published_at DESC, review_id DESC LIMIT ${window}) AS newest
      UNION SELECT k.at, unnest(l.shortlist)
      FROM k JOIN market.listings AS l ON (l.chain_id, l.merchant_id, l.product_id) = (${chainId}, k.merchant_id, k.product_id)
      UNION SELECT k.at, m.internal_id
      FROM market.reviews AS m JOIN k ON (m.chain_id, m.merchant_id, m.product_id) = (${chainId}, k.merchant_id, k.product_id)
      WHERE m.internal_id = ANY(${[...announced]}::bigint[])
    ), published AS (
      SELECT k.at, review.*,
        (review.flagged OR k.owner = review.author_owner) IS NOT TRUE AS is_heard,
        (k.owner IN (review.present_owner, review.author_owner) OR review.transferred_at > ${cooldownBegan}) IS TRUE AS is_excluded,
        CASE WHEN review.flagged THEN 0 WHEN k.product_type = 1 THEN coalesce(review.one_off, ${BASE_RATES.one_off}::float8)
          ELSE coalesce(review.repeat, ${BASE_RATES.repeat}::float8) END AS rank
      FROM candidates JOIN k USING (at) CROSS JOIN LATERAL (
        SELECT m.internal_id, m.agent_id, m.author_owner, c.published_at, c.review_id, a.flagged, i.owner AS present_owner,
          i.transferred_at, r.repeat, r.one_off
        FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
        LEFT JOIN chain.identities AS i ON (i.chain_id, i.agent_id) = (m.chain_id, m.agent_id)
        LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
        LEFT JOIN market.review_ranks AS r ON (r.chain_id, r.agent_id) = (m.chain_id, m.agent_id)
        WHERE m.internal_id = candidates.internal_id AND m.content IS NOT NULL LIMIT 1) AS review
    ), placed AS (
      SELECT *, count(*) OVER (PARTITION BY at) AS known,
        row_number() OVER (PARTITION BY at ORDER BY published_at DESC, review_id DESC) AS age,
        row_number() OVER (PARTITION BY at ORDER BY rank DESC, published_at DESC, review_id DESC) AS place
      FROM published
    )
    SELECT (at - 1)::integer AS at, internal_id, agent_id, author_owner, is_heard, place::integer
    FROM placed WHERE known <= ${SHORTLISTED} OR age <= ${NEWEST} OR place <= ${BEST} OR is_excluded
    ORDER BY at, internal_id`
}

export async function contentsOf(
  tx: Transaction,
  reviewIds: readonly bigint[],
): Promise<Map<bigint, string>> {
  if (reviewIds.length === 0) return new Map()
  const rows = await tx<{ internal_id: bigint; content: string }[]>`
    SELECT internal_id, content FROM market.reviews WHERE internal_id = ANY(${[...reviewIds]}::bigint[])`
  return new Map(rows.map(({ internal_id, content }) => [internal_id, content]))
}

/** In the order of their keys, as all who write several do. */
export async function writeListings(
  tx: Transaction,
  chainId: number,
  listings: readonly (ProductOfChain & Listing)[],
): Promise<void> {
  if (listings.length === 0) return
  const [merchantIds, productIds] = columns(listings)
  await tx`
    INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
    SELECT ${chainId}, k.merchant_id, k.product_id, k.is_open, k.review_count, k.shortlist::bigint[], k.evidence
    FROM unnest(
      ${merchantIds}::bigint[], ${productIds}::bytea[], ${listings.map(({ isOpen }) => isOpen)}::boolean[],
      ${listings.map(({ reviewCount }) => reviewCount)}::integer[],
      ${listings.map(({ shortlist }) => `{${shortlist.join()}}`)}::text[], ${listings.map(({ evidence }) => evidence)}::text[]
    ) AS k (merchant_id, product_id, is_open, review_count, shortlist, evidence)
    ORDER BY k.merchant_id, k.product_id
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET is_open = excluded.is_open, review_count = excluded.review_count,
      shortlist = excluded.shortlist, evidence = excluded.evidence, changed_in = excluded.changed_in`
}

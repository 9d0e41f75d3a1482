import type { Transaction } from '@referrer/database'
import { BASE_RATES } from '@referrer/ranking'
import type { ProductOfChain } from '../../kit/keys.ts'
import { isOpenMerchant } from '../../market/merchants/open.ts'

/** What discovery needs to know of a product besides its description. */
export interface Listing {
  isOpen: boolean
  reviewCount: number
  shortlist: readonly bigint[]
  /** The words of its reviews. */
  evidence: string
  /** The words by which its buyers searched. */
  searches: string
}

/**
 * SQL: the words of listing `l` that its merchant did not write, those of reviews and those that buyers searched for. Both help it
 * to be found, and both count less than its description.
 */
export const WORDS_OF_OTHERS = `concat_ws(' ', nullif(l.evidence, ''), nullif(l.searches, ''))`

/** A review is excluded for this long after its author was transferred to another owner. */
export const COOLDOWN_MS = 7 * 86_400_000
/** Up to this many reviews, the shortlist holds all published reviews. */
const SHORTLISTED = 200
/** Beyond that it holds this many of the newest, this many by the best authors, and all that are excluded. */
const NEWEST = 100
const BEST = 100

const columns = (products: readonly ProductOfChain[]) =>
  [products.map(({ merchantId }) => merchantId), products.map(({ productId }) => productId)] as const

/**
 * Marks listings as changed. Code that changes something discovery reads beside the listing must call this in the
 * same transaction.
 */
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

/** Queues these products, so that the followers make their listings again. */
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

/** The products of reviews, which are named by their internal ids. */
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

/** Records on which many products can depend. */
export interface Wide {
  merchants: readonly bigint[]
  agents: readonly bigint[]
  flags: readonly bigint[]
}

/**
 * The products that depend on these records. A product is open or not depending on its merchant and the merchant's
 * owner; the words of its reviews count unless their author is flagged; which of many reviews are excluded depends on
 * their authors' owners; what a buyer searched for counts while its agent belongs to it. If there are more than `most`
 * products, they are queued for later batches instead, and none is returned.
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
      WHERE (l.chain_id, l.merchant_id, l.product_id) = (r.chain_id, r.merchant_id, r.product_id)) > ${SHORTLISTED}
    UNION SELECT merchant_id, product_id FROM market.searched_words
    WHERE chain_id = ${chainId} AND agent_id = ANY(${[...agents]}::bigint[]) AND counts`
  const some = await tx<ProductOfChain[]>`
    SELECT merchant_id AS "merchantId", product_id AS "productId" FROM (${wide}) AS wide LIMIT ${most + 1}`
  if (some.length <= most) return some
  await tx`
    INSERT INTO market.pending_changes (chain_id, what, merchant_id, product_id)
    SELECT ${chainId}, 'listing', merchant_id, product_id FROM (${wide}) AS wide`
  return []
}

/** What is known of a product apart from its reviews, and its present listing (null: it has none). */
export type StandingRow = {
  merchant_id: bigint
  product_id: Buffer
  /** Whether the product is in the records. */
  is_known: boolean
  is_open: boolean
  review_count: number
  listed_open: boolean | null
  listed_count: number
  listed_shortlist: bigint[]
  listed_evidence: string
  listed_searches: string
}

/** Covers products that are in the records or have a listing from when they were. */
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
      l.is_open AS listed_open, l.review_count AS listed_count, l.shortlist AS listed_shortlist, l.evidence AS listed_evidence,
      l.searches AS listed_searches
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id)
    LEFT JOIN market.products AS p ON (p.chain_id, p.merchant_id, p.product_id) = (${chainId}, k.merchant_id, k.product_id)
    LEFT JOIN chain.products AS c ON (c.chain_id, c.merchant_id, c.product_id) = (${chainId}, k.merchant_id, k.product_id)
    LEFT JOIN market.product_reviews AS r ON (r.chain_id, r.merchant_id, r.product_id) = (${chainId}, k.merchant_id, k.product_id)
    LEFT JOIN market.listings AS l ON (l.chain_id, l.merchant_id, l.product_id) = (${chainId}, k.merchant_id, k.product_id)
    WHERE p.chain_id IS NOT NULL OR l.chain_id IS NOT NULL
    ORDER BY k.merchant_id, k.product_id`
}

/** A review on a shortlist. */
export type ShortlistedRow = {
  /** The index of its product in the list that was asked for. */
  at: number
  internal_id: bigint
  agent_id: bigint
  author_owner: Buffer | null
  /**
   * Whether its words count: its author is not flagged, and did not belong to the merchant's owner when it was
   * published.
   */
  is_heard: boolean
  /** Its place among the reviews of the product by its author's rank, from 1. */
  place: number
}

export interface Look {
  now: Date
  /** Reviews that may be new, wherever they are in the order of publication. */
  announced: readonly bigint[]
  /** How many of the newest reviews of a product are read, besides those already on its shortlist. */
  window: number
}

/** Ordered by product, then by internal id. */
export function shortlistsOf(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
  { now, announced, window }: Look,
): Promise<ShortlistedRow[]> {
  const [merchantIds, productIds] = columns(products)
  const cooldownBegan = new Date(now.getTime() - COOLDOWN_MS)
  // LATERAL … LIMIT 1 forces an index lookup per row; with plain joins the planner may scan whole tables.
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

/** Writes in the order of the keys, as all writers of several listings do, to avoid deadlocks. */
export async function writeListings(
  tx: Transaction,
  chainId: number,
  listings: readonly (ProductOfChain & Listing)[],
): Promise<void> {
  if (listings.length === 0) return
  const [merchantIds, productIds] = columns(listings)
  await tx`
    INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence, searches)
    SELECT ${chainId}, k.merchant_id, k.product_id, k.is_open, k.review_count, k.shortlist::bigint[], k.evidence, k.searches
    FROM unnest(
      ${merchantIds}::bigint[], ${productIds}::bytea[], ${listings.map(({ isOpen }) => isOpen)}::boolean[],
      ${listings.map(({ reviewCount }) => reviewCount)}::integer[],
      ${listings.map(({ shortlist }) => `{${shortlist.join()}}`)}::text[], ${listings.map(({ evidence }) => evidence)}::text[],
      ${listings.map(({ searches }) => searches)}::text[]
    ) AS k (merchant_id, product_id, is_open, review_count, shortlist, evidence, searches)
    ORDER BY k.merchant_id, k.product_id
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET is_open = excluded.is_open, review_count = excluded.review_count,
      shortlist = excluded.shortlist, evidence = excluded.evidence, searches = excluded.searches, changed_in = excluded.changed_in`
}

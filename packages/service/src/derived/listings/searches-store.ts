import type { Queryable, Transaction } from '@referrer/database'
import { whenBought, whenPublished } from '../../kit/chain-order.ts'
import type { ProductOfChain } from '../../kit/keys.ts'
import { BY_ESCROW } from '../../market/escrows/buyer-review.ts'
import { searchedWords } from './searches.ts'

/**
 * So many reviews of an owner in a month are heard, the first ones, and so at most as many products. A ring that wants
 * to teach more needs more owners.
 */
export const HEARD_IN_MONTH = 10
/**
 * The standing that an owner needs where standings are on, in millionths: that with which its votes count in full.
 * About four fifths of its money went to verified shops. Who only bought at a ring's shops has none, nor has a wallet
 * that has bought nothing before: it is heard from the next pass on.
 */
export const LEAST_STANDING = 800_000
/** Of a product, the newest so many are read. */
const WINDOW = 200

/** A purchase by its payment. */
export interface Payment {
  contract: Buffer
  payer: Buffer
  nonce: Buffer
}

/** A review of a purchase that says what its buyer searched for. */
type SearchedRow = Payment & {
  internal_id: bigint
  merchant_id: bigint
  product_id: Buffer
  agent_id: bigint
  owner: Buffer
  published_at: Date
  review_id: bigint
  month: number
  words: string
}

/**
 * Looks again at these reviews, and at those of these purchases. Returns the products of which other words may count
 * now; among them those of other reviews by the same owners, for which a place of the month became free or was lost.
 */
export async function lookAtSearches(
  tx: Transaction,
  chainId: number,
  reviewIds: readonly bigint[],
  payments: readonly Payment[] = [],
): Promise<ProductOfChain[]> {
  const ids = [...new Set([...reviewIds, ...(await reviewsOfPayments(tx, chainId, payments))])]
  if (ids.length === 0) return []
  const before = new Map((await known(tx, chainId, ids)).map((row) => [row.internal_id, row]))
  const now = new Map((await told(tx, chainId, ids)).map((row) => [row.internal_id, row]))
  const changed = ids.filter((id) => nameOf(before.get(id)) !== nameOf(now.get(id)))
  if (changed.length === 0) return []
  const rows = (all: ReadonlyMap<bigint, SearchedRow>) => changed.flatMap((id) => all.get(id) ?? [])
  await tx`DELETE FROM market.searched_words WHERE internal_id = ANY(${changed}::bigint[])`
  await insert(tx, chainId, rows(now))
  const moved = [...rows(before), ...rows(now)]
  return [...moved.map(productOf), ...(await countAgain(tx, chainId, moved))]
}

const productOf = ({ merchant_id, product_id }: SearchedRow): ProductOfChain => ({
  merchantId: merchant_id,
  productId: product_id,
})

const nameOf = (row: SearchedRow | undefined): string =>
  row
    ? [
        ...[row.merchant_id, row.agent_id, row.review_id, row.published_at.getTime(), row.words],
        ...[row.product_id, row.owner, row.contract, row.payer, row.nonce].map((key) => key.toString('hex')),
      ].join('/')
    : ''

/** The reviews about these purchases, those that were about them before a reorganisation too. */
async function reviewsOfPayments(
  tx: Transaction,
  chainId: number,
  payments: readonly Payment[],
): Promise<bigint[]> {
  if (payments.length === 0) return []
  const rows = await tx<{ internal_id: bigint }[]>`
    WITH k AS (
      SELECT * FROM unnest(
        ${payments.map(({ contract }) => contract)}::bytea[], ${payments.map(({ payer }) => payer)}::bytea[],
        ${payments.map(({ nonce }) => nonce)}::bytea[]) AS k (contract, payer, nonce)
    )
    -- LATERAL … OFFSET 0 forces index lookups; with plain joins the planner may scan whole tables.
    SELECT s.internal_id FROM k CROSS JOIN LATERAL (
      SELECT s.internal_id, s.contract FROM market.searched_words AS s
      WHERE s.chain_id = ${chainId} AND s.payer = k.payer AND s.nonce = k.nonce OFFSET 0) AS s
    WHERE s.contract = k.contract
    UNION
    SELECT c.internal_id FROM k CROSS JOIN LATERAL (
      SELECT e.escrow_id, e.buyer_agent_id, e.contract FROM chain.escrows AS e
      WHERE e.chain_id = ${chainId} AND e.payer = k.payer AND e.nonce = k.nonce OFFSET 0) AS e
    CROSS JOIN LATERAL (
      SELECT c.internal_id, c.agent_id FROM chain.reviews AS c
      WHERE c.chain_id = ${chainId} AND c.proof_kind = ${BY_ESCROW} AND c.proof_id = e.escrow_id OFFSET 0) AS c
    WHERE e.contract = k.contract AND c.agent_id = e.buyer_agent_id`
  return rows.map(({ internal_id }) => internal_id)
}

const known = (tx: Transaction, chainId: number, ids: readonly bigint[]) => tx<SearchedRow[]>`
  SELECT internal_id, merchant_id, product_id, agent_id, owner, contract, payer, nonce, published_at, review_id, month, words
  FROM market.searched_words WHERE chain_id = ${chainId} AND internal_id = ANY(${[...ids]}::bigint[])`

/**
 * Those of the reviews that are published, prove that their author's owner bought the product at a shop of somebody
 * else, and say what it searched for. Such a review is an opinion, too (`opinion_size`).
 */
async function told(tx: Transaction, chainId: number, ids: readonly bigint[]): Promise<SearchedRow[]> {
  const rows = await tx<(Omit<SearchedRow, 'month' | 'words'> & { content: string })[]>`
    SELECT m.internal_id, m.merchant_id, m.product_id, m.agent_id, m.author_owner AS owner, m.content, c.published_at,
      c.review_id, e.contract, e.payer, e.nonce
    FROM market.reviews AS m
    -- LATERAL … LIMIT 1 forces an index lookup per row; with plain joins the planner may scan whole tables.
    CROSS JOIN LATERAL (
      SELECT published_at, block_number, log_index, review_id FROM chain.reviews WHERE internal_id = m.internal_id LIMIT 1) AS c
    CROSS JOIN LATERAL (
      -- OFFSET 0 keeps the planner to the index by number, of which each contract has one purchase.
      SELECT contract, payer, nonce FROM (
        SELECT * FROM chain.escrows AS e WHERE e.chain_id = m.chain_id AND e.escrow_id = m.proof_id OFFSET 0) AS e
      WHERE e.buyer_agent_id = m.agent_id AND (e.merchant_id, e.product_id) = (m.merchant_id, m.product_id)
        AND ${whenBought(tx)} <= ${whenPublished(tx)} AND coalesce(e.buyer_owner, e.payer) = m.author_owner
      ORDER BY ${whenBought(tx)} DESC LIMIT 1) AS e
    WHERE m.chain_id = ${chainId} AND m.internal_id = ANY(${[...ids]}::bigint[]) AND m.proof_kind = ${BY_ESCROW}
      AND m.opinion_size IS NOT NULL AND m.content IS NOT NULL
      -- Most reviews do not say it, and need not be read.
      AND strpos(m.content, 'searched_for') > 0`
  return rows.flatMap(({ content, ...row }) => {
    const words = searchedWords(content)
    return words.length > 0 ? { ...row, month: monthOf(row.published_at), words: words.join(' ') } : []
  })
}

const monthOf = (date: Date): number => date.getUTCFullYear() * 12 + date.getUTCMonth()

async function insert(tx: Transaction, chainId: number, rows: readonly SearchedRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    INSERT INTO market.searched_words (chain_id, counts, is_trusted, standing_pass, internal_id, merchant_id, product_id, agent_id,
      owner, contract, payer, nonce, published_at, review_id, month, words)
    SELECT ${chainId}, false, NULL, 0, k.* FROM unnest(
      ${rows.map(({ internal_id }) => internal_id)}::bigint[], ${rows.map(({ merchant_id }) => merchant_id)}::bigint[],
      ${rows.map(({ product_id }) => product_id)}::bytea[], ${rows.map(({ agent_id }) => agent_id)}::bigint[],
      ${rows.map(({ owner }) => owner)}::bytea[], ${rows.map(({ contract }) => contract)}::bytea[],
      ${rows.map(({ payer }) => payer)}::bytea[], ${rows.map(({ nonce }) => nonce)}::bytea[],
      ${rows.map(({ published_at }) => published_at.toISOString())}::timestamptz[],
      ${rows.map(({ review_id }) => review_id)}::bigint[], ${rows.map(({ month }) => month)}::integer[],
      ${rows.map(({ words }) => words)}::text[]) AS k`
}

/** The newest computation of the standings of a chain. They are off without a verified shop. */
const newestPass = (sql: Queryable, chainId: number) => sql`
  SELECT pass, verified > 0 AS is_on FROM market.standing_passes WHERE chain_id = ${chainId} ORDER BY pass DESC LIMIT 1`

/** Whether the owner of the row `s` has the standing that it needs, as SQL; null: standings are off. */
const trust = (sql: Queryable) => sql`
  CASE WHEN newest.is_on THEN coalesce((
    SELECT o.standing FROM market.owner_standings AS o WHERE o.chain_id = s.chain_id AND o.owner = s.owner), 0) >= ${LEAST_STANDING} END`

/** Chooses the reviews that count in these months of these owners. Returns the products of those that changed. */
async function countAgain(
  tx: Transaction,
  chainId: number,
  months: readonly Pick<SearchedRow, 'owner' | 'month'>[],
): Promise<ProductOfChain[]> {
  return tx<ProductOfChain[]>`
    WITH months AS (
      SELECT DISTINCT * FROM unnest(
        ${months.map(({ owner }) => owner)}::bytea[], ${months.map(({ month }) => month)}::integer[]) AS k (owner, month)
    ), heard AS (
      SELECT first.internal_id FROM months AS k CROSS JOIN LATERAL (
        SELECT s.internal_id FROM market.searched_words AS s
        WHERE s.chain_id = ${chainId} AND s.owner = k.owner AND s.month = k.month
        ORDER BY s.published_at, s.review_id LIMIT ${HEARD_IN_MONTH}) AS first
    ), changed AS (
      SELECT internal_id, true AS counts FROM heard
      UNION ALL
      SELECT s.internal_id, false FROM months AS k JOIN market.searched_words AS s
        ON s.chain_id = ${chainId} AND s.owner = k.owner AND s.month = k.month AND s.counts
      WHERE s.internal_id NOT IN (SELECT internal_id FROM heard)
    )
    UPDATE market.searched_words AS s
    SET counts = changed.counts, is_trusted = ${trust(tx)}, standing_pass = coalesce(newest.pass, 0)
    FROM changed LEFT JOIN (${newestPass(tx, chainId)}) AS newest ON true
    WHERE s.internal_id = changed.internal_id AND s.counts <> changed.counts
    RETURNING s.merchant_id AS "merchantId", s.product_id AS "productId"`
}

/**
 * Takes the newest standings for reviews that were judged by earlier ones. Returns the products of which other words
 * count now; undefined: all reviews are judged by the newest.
 */
export async function judgeAgain(
  tx: Transaction,
  chainId: number,
  most: number,
): Promise<ProductOfChain[] | undefined> {
  const due = await tx<{ internal_id: bigint; is_trusted: boolean | null }[]>`
    SELECT s.internal_id, s.is_trusted FROM market.searched_words AS s
    -- As a scalar it bounds the scan of the index: most of the time there is nothing to find.
    WHERE s.chain_id = ${chainId} AND s.counts AND s.standing_pass < (SELECT pass FROM (${newestPass(tx, chainId)}) AS newest)
    ORDER BY s.standing_pass, s.internal_id LIMIT ${most}`
  if (due.length === 0) return undefined
  const before = new Map(due.map(({ internal_id, is_trusted }) => [internal_id, is_trusted]))
  const judged = await tx<(ProductOfChain & { id: bigint; isTrusted: boolean | null })[]>`
    UPDATE market.searched_words AS s SET is_trusted = ${trust(tx)}, standing_pass = newest.pass
    FROM (${newestPass(tx, chainId)}) AS newest WHERE s.internal_id = ANY(${[...before.keys()]}::bigint[])
    RETURNING s.internal_id AS id, s.is_trusted AS "isTrusted", s.merchant_id AS "merchantId", s.product_id AS "productId"`
  return judged
    .filter(({ id, isTrusted }) => isTrusted !== before.get(id))
    .map(({ merchantId, productId }) => ({ merchantId, productId }))
}

export type HeardSearch = {
  /** The index of its product in the list that was asked for. */
  at: number
  owner: Buffer
  words: string
  is_trusted: boolean | null
}

/**
 * What the buyers of these products searched for, newest first. An author is heard while it is not flagged and belongs
 * to the owner that bought, and while that owner does not own the shop.
 */
export function searchesHeard(
  tx: Transaction,
  chainId: number,
  products: readonly ProductOfChain[],
): Promise<HeardSearch[]> {
  return tx<HeardSearch[]>`
    SELECT (k.at - 1)::integer AS at, s.owner, s.words, s.is_trusted
    FROM unnest(
      ${products.map(({ merchantId }) => merchantId)}::bigint[], ${products.map(({ productId }) => productId)}::bytea[])
      WITH ORDINALITY AS k (merchant_id, product_id, at)
    CROSS JOIN LATERAL (
      SELECT * FROM market.searched_words AS s
      WHERE (s.chain_id, s.merchant_id, s.product_id) = (${chainId}, k.merchant_id, k.product_id)
        AND s.counts AND s.is_trusted IS NOT FALSE
      ORDER BY s.published_at DESC, s.review_id DESC LIMIT ${WINDOW}) AS s
    WHERE (SELECT a.flagged FROM market.agents AS a WHERE (a.chain_id, a.agent_id) = (${chainId}, s.agent_id)) IS NOT TRUE
      AND (SELECT i.owner FROM chain.identities AS i WHERE (i.chain_id, i.agent_id) = (${chainId}, s.agent_id)) = s.owner
      AND ((SELECT i.owner FROM chain.identities AS i WHERE (i.chain_id, i.agent_id) = (${chainId}, k.merchant_id))
        IN (s.owner, s.payer)) IS NOT TRUE
    ORDER BY k.at, s.published_at DESC, s.review_id DESC`
}

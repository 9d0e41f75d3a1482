// Totals of opinions and purchases by product and merchant. Sums are updated by differences, so that a product with a
// million opinions costs as much as one with two.
import type { Transaction } from '@referrer/database'
import { dayOf, MILLION, productRank } from '@referrer/ranking'

/** A product and the difference between its opinions now and in its stored totals. */
export interface ProductDelta {
  merchantId: bigint
  productId: Buffer
  opinions: number
  weight: bigint
  weighted: bigint
}

/** The day for which ranks are computed, and the mean of all products that their ranks begin from on that day. */
export interface Today {
  day: number
  mean: number
}

/** The mean of a chain without opinions. */
const MIDDLE = MILLION / 2

/** The first call of a day fixes the mean for that day. A clock that goes back changes nothing. */
export async function beginDay(tx: Transaction, chainId: number, now: Date): Promise<Today> {
  const [known] = await tx<{ weight: bigint; weighted: bigint; day: number; mean: number }[]>`
    SELECT weight, weighted, day, mean FROM market.opinion_totals WHERE chain_id = ${chainId}`
  const day = dayOf(now)
  if (known && known.day >= day) return { day: known.day, mean: known.mean }
  const mean = productRank(MIDDLE, known ?? { weight: 0n, weighted: 0n })
  await tx`
    INSERT INTO market.opinion_totals (chain_id, weight, weighted, day, mean) VALUES (${chainId}, 0, 0, ${day}, ${mean})
    ON CONFLICT (chain_id) DO UPDATE SET day = excluded.day, mean = excluded.mean`
  return { day, mean }
}

/** Adds the differences to the totals over all opinions of a chain. */
export async function addToAll(
  tx: Transaction,
  chainId: number,
  deltas: readonly ProductDelta[],
): Promise<void> {
  const sum = (part: (one: ProductDelta) => bigint) => deltas.reduce((total, one) => total + part(one), 0n)
  const [weight, weighted] = [sum((one) => one.weight), sum((one) => one.weighted)]
  if (weight === 0n && weighted === 0n) return
  await tx`
    UPDATE market.opinion_totals SET weight = weight + ${weight}, weighted = weighted + ${weighted}::numeric
    WHERE chain_id = ${chainId}`
}

type TotalsRow = {
  merchant_id: bigint
  product_id: Buffer
  opinions: number
  weight: bigint
  weighted: bigint
  conversions: bigint
  /** Null, with `day`: the product has no totals yet. */
  rank: number | null
  day: number | null
  /** The number of its purchases now. */
  sold: bigint
}

/**
 * Updates the totals and ranks of products; each product is named once. Returns the merchants whose totals have
 * changed.
 */
export async function rankProducts(
  tx: Transaction,
  chainId: number,
  { day, mean }: Today,
  products: readonly ProductDelta[],
): Promise<bigint[]> {
  if (products.length === 0) return []
  const rows = await tx<TotalsRow[]>`
    SELECT k.merchant_id, k.product_id, coalesce(t.opinions, 0) AS opinions, coalesce(t.weight, 0)::bigint AS weight,
      coalesce(t.weighted, 0) AS weighted, coalesce(t.conversions, 0)::bigint AS conversions, t.rank, t.day,
      coalesce(s.conversions, 0)::bigint AS sold
    FROM unnest(${products.map(({ merchantId }) => merchantId)}::bigint[], ${products.map(({ productId }) => productId)}::bytea[])
      WITH ORDINALITY AS k (merchant_id, product_id, at)
    LEFT JOIN market.product_totals AS t
      ON t.chain_id = ${chainId} AND (t.merchant_id, t.product_id) = (k.merchant_id, k.product_id)
    LEFT JOIN market.product_sales AS s
      ON s.chain_id = ${chainId} AND (s.merchant_id, s.product_id) = (k.merchant_id, k.product_id)
    ORDER BY k.at`
  const ranked = products.flatMap((delta, at) => {
    const row = rows[at]
    if (!row) return []
    const weight = row.weight + delta.weight
    const weighted = row.weighted + delta.weighted
    const rank = productRank(mean, { weight, weighted })
    return [{ row, opinions: row.opinions + delta.opinions, weight, weighted, rank }]
  })
  const stale = ranked.filter(
    ({ row, ...now }) =>
      row.day !== day ||
      row.rank !== now.rank ||
      row.conversions !== row.sold ||
      row.opinions !== now.opinions ||
      row.weight !== now.weight ||
      row.weighted !== now.weighted,
  )
  await writeTotals(tx, chainId, day, stale)
  await showRanks(tx, chainId, ranked)
  return addToMerchants(tx, chainId, stale)
}

type Ranked = { row: TotalsRow; opinions: number; weight: bigint; weighted: bigint; rank: number }

async function writeTotals(
  tx: Transaction,
  chainId: number,
  day: number,
  ranked: readonly Ranked[],
): Promise<void> {
  if (ranked.length === 0) return
  await tx`
    INSERT INTO market.product_totals
      (chain_id, merchant_id, product_id, opinions, weight, weighted, conversions, rank, day)
    SELECT ${chainId}, *, ${day} FROM unnest(
      ${ranked.map(({ row }) => row.merchant_id)}::bigint[], ${ranked.map(({ row }) => row.product_id)}::bytea[],
      ${ranked.map(({ opinions }) => opinions)}::integer[], ${ranked.map(({ weight }) => weight)}::bigint[],
      ${ranked.map(({ weighted }) => weighted)}::numeric[], ${ranked.map(({ row }) => row.sold)}::bigint[],
      ${ranked.map(({ rank }) => rank)}::integer[])
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET opinions = excluded.opinions,
      weight = excluded.weight, weighted = excluded.weighted, conversions = excluded.conversions,
      rank = excluded.rank, day = excluded.day`
}

/** A product may have left the records; its totals are kept in case it returns. */
async function showRanks(tx: Transaction, chainId: number, ranked: readonly Ranked[]): Promise<void> {
  await tx`
    UPDATE market.products AS p SET rank = k.rank FROM unnest(
      ${ranked.map(({ row }) => row.merchant_id)}::bigint[], ${ranked.map(({ row }) => row.product_id)}::bytea[],
      ${ranked.map(({ rank }) => rank / MILLION)}::float8[]
    ) AS k (merchant_id, product_id, rank)
    WHERE p.chain_id = ${chainId} AND (p.merchant_id, p.product_id) = (k.merchant_id, k.product_id) AND p.rank <> k.rank`
}

async function addToMerchants(
  tx: Transaction,
  chainId: number,
  ranked: readonly Ranked[],
): Promise<bigint[]> {
  const sums = new Map<bigint, { conversions: bigint; weighted: bigint }>()
  for (const { row, rank } of ranked) {
    const sum = sums.get(row.merchant_id) ?? { conversions: 0n, weighted: 0n }
    sum.conversions += row.sold - row.conversions
    sum.weighted += row.sold * BigInt(rank) - row.conversions * BigInt(row.rank ?? 0)
    sums.set(row.merchant_id, sum)
  }
  const moved = [...sums].filter(([, sum]) => sum.conversions !== 0n || sum.weighted !== 0n)
  if (moved.length === 0) return []
  await tx`
    INSERT INTO market.merchant_totals AS t (chain_id, merchant_id, conversions, weighted)
    SELECT ${chainId}, * FROM unnest(
      ${moved.map(([merchantId]) => merchantId)}::bigint[], ${moved.map(([, sum]) => sum.conversions)}::bigint[],
      ${moved.map(([, sum]) => sum.weighted)}::numeric[])
    ON CONFLICT (chain_id, merchant_id) DO UPDATE
      SET conversions = t.conversions + excluded.conversions, weighted = t.weighted + excluded.weighted`
  return moved.map(([merchantId]) => merchantId)
}

/** The rank of a merchant is the mean of its products' ranks, weighted by their purchases. */
export async function rankMerchants(
  tx: Transaction,
  chainId: number,
  merchantIds: readonly bigint[],
): Promise<void> {
  if (merchantIds.length === 0) return
  await tx`
    UPDATE market.merchants AS m SET rank = ranked.rank FROM (
      SELECT merchant_id, (weighted / nullif(conversions, 0) / ${MILLION}::integer)::float8 AS rank FROM market.merchant_totals
      WHERE chain_id = ${chainId} AND merchant_id = ANY(${[...merchantIds]}::bigint[])
    ) AS ranked
    WHERE m.chain_id = ${chainId} AND m.merchant_id = ranked.merchant_id AND m.rank IS DISTINCT FROM ranked.rank`
}

/** Products whose ranks were computed for an earlier day. */
export async function productsOfEarlierDays(
  tx: Transaction,
  chainId: number,
  { day }: Today,
  limit: number,
): Promise<ProductDelta[]> {
  const rows = await tx<{ merchant_id: bigint; product_id: Buffer }[]>`
    SELECT merchant_id, product_id FROM market.product_totals WHERE chain_id = ${chainId} AND day < ${day}
    ORDER BY day, merchant_id, product_id LIMIT ${limit}`
  return rows.map(({ merchant_id, product_id }) => noDelta(merchant_id, product_id))
}

export const noDelta = (merchantId: bigint, productId: Buffer): ProductDelta => ({
  merchantId,
  productId,
  opinions: 0,
  weight: 0n,
  weighted: 0n,
})

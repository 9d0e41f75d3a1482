import { createHash } from 'node:crypto'
import type { Sql, Transaction } from '@referrer/database'

/** Who has much in a filled database; all others have little. */
export const WHALES = {
  /** Wrote a twentieth of all reviews, and is the reviewer of as many purchases. */
  reviewer: 1n,
  /** Bought a twentieth of everything, most of it again and again. */
  buyer: 2n,
  /** Bought through its own reviews. */
  both: 3n,
  /** Has a twentieth of all proofs waiting. */
  prover: 4n,
  /** Sells a fiftieth of all products. */
  merchant: 5n,
} as const

const OWNERS = 1_000
/** Enough of what no list reads. */
const ASIDE = 1_000

/** The account of this number, as SQL. */
const account = (number: string) => `decode(lpad(to_hex(${number}), 40, '0'), 'hex')`
/** The product of this number, as SQL. */
const product = (number: string) => `sha256(convert_to('product ' || (${number}), 'UTF8'))`
const hash = (number: string) => `sha256(convert_to('text ' || (${number}), 'UTF8'))`
const merchantOf = (number: string) =>
  `(CASE WHEN ${number} % 50 = 0 THEN ${WHALES.merchant} ELSE ${number} END)::bigint`

/** Writes what the indexer writes, of blocks that are final. */
export async function asIndexer(sql: Sql, work: (tx: Transaction) => PromiseLike<unknown>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await work(tx)
  })
}

/** The id of the product of this number. */
export const productId = (number: number): Buffer => createHash('sha256').update(`product ${number}`).digest()

/**
 * Fills the tables of the market with about this many rows of one chain, the same ones every time: most agents have little and some
 * have thousands, some products are closed, some reviews have no text, some are not on the chain, and every second purchase happens in
 * the same block as the one before. `hasShops`: merchants and products take a while, and lists of others do not read them.
 */
export async function fillMarket(
  sql: Sql,
  chainId: number,
  rows: number,
  { hasShops = true }: { hasShops?: boolean } = {},
): Promise<void> {
  const parts = [identities, ...(hasShops ? [shops] : []), purchases, reviews]
  await asIndexer(sql, (tx) =>
    withoutIndexes(tx, async () => {
      for (const part of parts) for (const statement of part(chainId, rows)) await tx.unsafe(statement)
    }),
  )
  await sql`VACUUM ANALYZE`
}

/** Indexes are made faster than they are kept. */
export async function withoutIndexes(tx: Transaction, work: () => Promise<void>): Promise<void> {
  const indexes = await tx<{ name: string; definition: string }[]>`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
    FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid
    WHERE c.relnamespace IN ('chain'::regnamespace, 'market'::regnamespace)
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`
  for (const { name } of indexes) await tx.unsafe(`DROP INDEX ${name}`)
  await work()
  for (const { definition } of indexes) await tx.unsafe(definition)
}

const identities = (chainId: number, rows: number) => [
  `INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
   SELECT ${chainId}, n, ${account(`n % ${OWNERS}`)}, ${account('0')}, 'https://agent.example/' || n, now()
   FROM generate_series(0, ${rows}) AS n`,
  // The last ones registered themselves before the chain was read, or were dropped by it.
  `INSERT INTO market.agents (chain_id, agent_id, registered_at)
   SELECT ${chainId}, n, CASE WHEN n % 2 = 0 THEN now() END FROM generate_series(0, ${rows + 5}) AS n`,
  `INSERT INTO market.review_ranks
   SELECT ${chainId}, n, n % 1000 / 1000.0, CASE WHEN n % 3 = 0 THEN 0.5 END FROM generate_series(0, ${rows}, 2) AS n`,
  `INSERT INTO chain.ownership_changes
   SELECT ${chainId}, n, 0, n, ${account('0')}, ${account(`n % ${OWNERS}`)}, now() FROM generate_series(0, ${Math.min(rows, ASIDE)}) AS n`,
]

const shops = (chainId: number, rows: number) => [
  `INSERT INTO chain.merchants
   SELECT ${chainId}, n, n % 11 <> 0, n % 13 = 0, ${account(`CASE WHEN n % 17 = 0 THEN 0 ELSE n % ${OWNERS} END`)}, NULL
   FROM generate_series(0, ${rows}) AS n`,
  `INSERT INTO market.merchants (chain_id, merchant_id) SELECT ${chainId}, n FROM generate_series(0, ${rows}) AS n`,
  `INSERT INTO chain.products
   SELECT ${chainId}, ${merchantOf('n')}, ${product('n')}, 500, n, n % 2, '', n % 7 <> 0, now()
   FROM generate_series(1, ${rows}) AS n`,
  `INSERT INTO market.products (chain_id, merchant_id, product_id, name, category, rank)
   SELECT ${chainId}, ${merchantOf('n')}, ${product('n')}, 'Product ' || n,
     CASE WHEN n % 2 = 0 THEN 'api' WHEN n % 1000 = 1 THEN 'rare' ELSE 'data' END, (n * 7919::bigint % 1000) / 1000.0
   FROM generate_series(1, ${rows}) AS n`,
]

/** Purchase n: a twentieth each with a whale as reviewer, as buyer and as both; that buyer comes back to the same forty products. */
const purchases = (chainId: number, rows: number) => [
  `INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, payer, nonce, merchant_id,
     product_id, review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash, settled_at)
   SELECT ${chainId}, ${account(`900 + n % 2`)}, n / 2 + 1,
     CASE n % 20 WHEN 0 THEN ${WHALES.reviewer} WHEN 2 THEN ${WHALES.both} ELSE n % ${rows} END,
     CASE WHEN n % 20 = 1 THEN ${WHALES.buyer} WHEN n % 20 = 2 THEN ${WHALES.both} WHEN n % 3 <> 0 THEN n * 31::bigint % ${rows} END,
     ${account('n')}, ${hash('n')}, ${merchantOf('bought')}, ${product('bought')}, n, 1000000, 50000, 5000, 20000, 5000,
     '2026-03-01', timestamptz '2026-01-01' + n / 2 * interval '2 s', ${hash('n')}, CASE WHEN n % 2 = 0 THEN now() END
   FROM generate_series(1, ${rows}) AS n,
     LATERAL (SELECT CASE WHEN n % 20 = 1 THEN n / 20 % 40 + 1 ELSE n END AS bought) AS choice`,
  `INSERT INTO chain.payouts
   SELECT ${chainId}, n, 0, ${account('900')}, ${account('n')}, false, 1, now() FROM generate_series(1, ${Math.min(rows, ASIDE)}) AS n`,
  `INSERT INTO market.cashback_rates SELECT ${chainId}, n, n % 4000 FROM generate_series(0, ${Math.min(rows, ASIDE)}) AS n`,
  `INSERT INTO market.proofs (chain_id, agent_id, merchant_id, product_id, proof_data, by_owner, status)
   SELECT ${chainId}, CASE WHEN n % 20 = 0 THEN ${WHALES.prover} ELSE n END, ${merchantOf('n')}, ${product('n')}, '{}', true,
     CASE WHEN n % 20 = 0 OR n % 3 = 0 THEN 'pending' ELSE 'approved' END
   FROM generate_series(1, ${rows}) AS n`,
]

/** A review of a few hundred characters, as SQL. */
const content = (number: string) => `'{"rating":5,"description":"Purchase ' || (${number}) ||
  ': answers came back within the promised time on all but two of the calls that we made over three days, and the figures agreed with ' ||
  'what we measured ourselves. Prices were as listed, and retries after a dropped connection were not charged twice. For batches of ' ||
  'more than a thousand items others are quicker; for single items we would buy it again."}'`

/** As long as the token of a ref link is, as SQL. */
const token = (number: string) => `repeat(md5((${number})::text), 18)`

/**
 * A review of each purchase, by its buyer where it has one; every fourth has no text and no link, every tenth is not on the chain. They
 * are on the chain in the order of their records.
 */
const reviews = (chainId: number, rows: number) => [
  `INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
     cashback_bps, satisfaction_score, content, ref_token, ref_review_id)
   SELECT ${chainId}, CASE WHEN n % 20 = 0 THEN ${WHALES.reviewer} ELSE coalesce(e.buyer_agent_id, e.reviewer_agent_id) END,
     e.merchant_id, e.product_id, ${hash('n')}, CASE WHEN e.buyer_agent_id IS NULL THEN 1 ELSE 2 END, e.escrow_id, 100, 1,
     CASE WHEN has_text THEN ${content('n')} END, CASE WHEN has_text THEN ${token('n')} END, CASE WHEN has_text THEN n END
   FROM (
     SELECT *, row_number() OVER (ORDER BY deposited_at, nonce) AS n FROM chain.escrows WHERE chain_id = ${chainId} ORDER BY n
   ) AS e, LATERAL (SELECT n % 4 <> 0 OR n % 20 = 0 AS has_text) AS choice`,
  `INSERT INTO chain.reviews
   SELECT chain_id, n, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
     timestamptz '2026-02-01' + n / 1000 * interval '1 hour'
   FROM (SELECT *, row_number() OVER (ORDER BY internal_id) AS n FROM market.reviews WHERE chain_id = ${chainId}) AS m
   WHERE n % 10 <> 3 AND n <= ${rows}`,
]

import type { Sql, Transaction } from '@referrer/database'
import { type Change, lockFollowing } from '../../derived/following/following.ts'
import { opinionsFollower } from '../../derived/opinions/follow.ts'
import { forgetOpinions } from '../../derived/opinions/store.ts'
import { ranksFollower } from '../../derived/ranks/follow.ts'
import { forgetRanks } from '../../derived/ranks/seen.ts'
import type { Config } from '../../kit/config.ts'
import type { Chain } from '../../kit/context.ts'

const AT_ONCE = 500

type Progress = (line: string) => void

/** Computes all ranks of a chain anew, in one transaction, so that votes and payments meanwhile use the former ranks and never incomplete ones. */
export function recomputeRanks(
  sql: Sql,
  chain: Chain,
  { now, ...config }: Pick<Config, 'fullCommission'> & { now: Date },
  progress: Progress,
): Promise<void> {
  const { chainId } = chain.config
  const ranks = ranksFollower(config)
  return sql.begin(async (tx) => {
    await lockFollowing(tx, chainId)
    // A whole chain takes longer than the statement time-out, and cached plans of tables that begin empty become wrong as these fill.
    await tx`SELECT set_config('statement_timeout', '0', true), set_config('plan_cache_mode', 'force_custom_plan', true)`
    await forgetRanks(tx, chainId)
    const batch = { tx, chain, now }
    await each(reviewsOf(tx, chainId), 'reviews', progress, (changes) => ranks.follow({ ...batch, changes }))
    await each(ballotsOf(tx, chainId), 'ballots', progress, (changes) => ranks.follow({ ...batch, changes }))
    await each(purchasesOf(tx, chainId), 'purchases', progress, (changes) =>
      ranks.follow({ ...batch, changes }),
    )
    // Last, because it locks the products.
    await forgetOpinions(tx, chainId, now)
    await each(reviewsOf(tx, chainId), 'opinions', progress, (changes) =>
      opinionsFollower.follow({ ...batch, changes }),
    )
    await each(productsOf(tx, chainId), 'products', progress, (changes) =>
      opinionsFollower.follow({ ...batch, changes }),
    )
  })
}

async function each(
  pages: AsyncIterable<Change[]>,
  what: string,
  progress: Progress,
  look: (changes: Change[]) => Promise<void>,
): Promise<void> {
  let count = 0
  for await (const changes of pages) {
    await look(changes)
    count += changes.length
    if (count % 10_000 === 0) progress(`${count} ${what} so far`)
  }
  progress(`${count} ${what}`)
}

const reviewsOf = (tx: Transaction, chainId: number) =>
  changesOf(
    0n,
    (after: bigint) => tx<{ internal_id: bigint }[]>`
      SELECT internal_id FROM market.ranked_reviews WHERE internal_id > ${after} AND chain_id = ${chainId}
      ORDER BY internal_id LIMIT ${AT_ONCE}`,
    ({ internal_id }) => internal_id,
    ({ internal_id }): Change => ({ what: 'review', internalId: internal_id }),
  )

const ballotsOf = (tx: Transaction, chainId: number) =>
  changesOf(
    0n,
    (after: bigint) => tx<{ ballot_id: bigint }[]>`
      SELECT ballot_id FROM market.ballots WHERE ballot_id > ${after} AND chain_id = ${chainId}
      ORDER BY ballot_id LIMIT ${AT_ONCE}`,
    ({ ballot_id }) => ballot_id,
    ({ ballot_id }): Change => ({ what: 'ballot', ballotId: ballot_id }),
  )

type PurchaseRow = {
  escrow_id: bigint
  contract: Buffer
  payer: Buffer
  nonce: Buffer
  merchant_id: bigint
  product_id: Buffer
}

const purchasesOf = (tx: Transaction, chainId: number) =>
  changesOf(
    { escrow_id: -1n, contract: Buffer.alloc(0) },
    (after: Pick<PurchaseRow, 'escrow_id' | 'contract'>) => tx<PurchaseRow[]>`
      SELECT escrow_id, contract, payer, nonce, merchant_id, product_id FROM chain.escrows
      WHERE chain_id = ${chainId} AND (escrow_id, contract) > (${after.escrow_id}, ${after.contract}::bytea)
      ORDER BY escrow_id, contract LIMIT ${AT_ONCE}`,
    (row) => row,
    ({ contract, payer, nonce, merchant_id, product_id }): Change => ({
      what: 'purchase',
      contract,
      payer,
      nonce,
      merchantId: merchant_id,
      productId: product_id,
    }),
  )

type ProductRow = { merchant_id: bigint; product_id: Buffer }

const productsOf = (tx: Transaction, chainId: number) =>
  changesOf(
    { merchant_id: -1n, product_id: Buffer.alloc(0) },
    (after: ProductRow) => tx<ProductRow[]>`
      SELECT merchant_id, product_id FROM market.products
      WHERE chain_id = ${chainId} AND (merchant_id, product_id) > (${after.merchant_id}, ${after.product_id}::bytea)
      ORDER BY merchant_id, product_id LIMIT ${AT_ONCE}`,
    (row) => row,
    ({ merchant_id, product_id }): Change => ({
      what: 'product',
      merchantId: merchant_id,
      productId: product_id,
    }),
  )

async function* changesOf<Row, Key>(
  first: Key,
  read: (after: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
  changeOf: (row: Row) => Change,
): AsyncGenerator<Change[]> {
  let after = first
  for (;;) {
    const rows = await read(after)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(changeOf)
    after = keyOf(last)
  }
}

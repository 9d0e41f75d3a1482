import { createLoader } from '@referrer/process'
import type { Address } from 'viem'
import { type Context, once } from '../../kit/context.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { clientBytes, spendQuota } from '../quotas/store.ts'

/** Spending caps in USDC base units; null means unlimited. */
export interface Caps {
  perTx: bigint | null
  daily: bigint | null
  total: bigint | null
}

export interface SpendingLimit extends Caps {
  updatedAt: Date
}

export interface LimitKey {
  owner: Address
  chainId: number
}

/** Bytes that the first limit of a wallet counts for. */
const LIMIT_BYTES = 256

/** Stores a limit. The first one of each wallet counts against the client's quota, because anybody can create wallets for free. */
export async function saveLimit(
  { sql, clock, config }: Context,
  { owner, chainId }: LimitKey,
  { perTx, daily, total }: Caps,
  client: string,
): Promise<void> {
  const now = clock()
  const limit = {
    owner: bytesOf(owner),
    chain_id: chainId,
    per_tx_cap: perTx,
    daily_cap: daily,
    total_cap: total,
    updated_at: new Date(now),
  }
  await sql.begin(async (tx) => {
    const { count } = await tx`INSERT INTO market.spending_limits ${tx(limit)} ON CONFLICT DO NOTHING`
    if (count === 1) {
      await spendQuota(tx, now, {
        what: 'first spending limits set by this client',
        who: clientBytes(client),
        bytes: LIMIT_BYTES,
        most: config.bytesPerDay.limitsOfClient,
      })
      return
    }
    await tx`
      INSERT INTO market.spending_limits ${tx(limit)}
      ON CONFLICT (owner, chain_id) DO UPDATE SET ${tx(limit)}`
  })
}

type LimitRow = {
  owner: Buffer
  chain_id: bigint
  per_tx_cap: bigint | null
  daily_cap: bigint | null
  total_cap: bigint | null
  updated_at: Date
}

const nameOf = (owner: Buffer, chainId: bigint | number) => `${owner.toString('hex')} ${chainId}`

/** Batched, because agents read their limit before every purchase. */
const readLimits = once(({ sql }) =>
  createLoader<LimitKey, SpendingLimit | undefined>({
    keyOf: ({ owner, chainId }) => nameOf(bytesOf(owner), chainId),
    load: async (keys) => {
      const rows = await sql<LimitRow[]>`
        SELECT owner, chain_id, per_tx_cap, daily_cap, total_cap, updated_at FROM market.spending_limits
        WHERE (owner, chain_id) IN (
          SELECT * FROM unnest(${keys.map(({ owner }) => bytesOf(owner))}::bytea[], ${keys.map(({ chainId }) => chainId)}::bigint[]))`
      const found = new Map(rows.map((row) => [nameOf(row.owner, row.chain_id), limitOf(row)]))
      return keys.map(({ owner, chainId }) => found.get(nameOf(bytesOf(owner), chainId)))
    },
  }),
)

const limitOf = (row: LimitRow): SpendingLimit => ({
  perTx: row.per_tx_cap,
  daily: row.daily_cap,
  total: row.total_cap,
  updatedAt: row.updated_at,
})

export const readLimit = (context: Context, key: LimitKey): Promise<SpendingLimit | undefined> =>
  readLimits(context)(key)

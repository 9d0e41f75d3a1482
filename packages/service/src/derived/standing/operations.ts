import type { Transaction } from '@referrer/database'
import { dateOf, dayOf, groundOf, MILLION, voiceOf } from '@referrer/ranking'
import type { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { address, time, whole } from '../../kit/json-values.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import { notFound } from '../../market/merchants/refusals.ts'
import { customersOf, shopOf, spentBy, standingOfOwner } from './reads.ts'
import type { OwnerStanding, ShopStanding, StandingSummary } from './shapes.ts'
import { lastPass, type Pass } from './store.ts'

const MOST_SHOWN = 100
/** How many of a kind are read at once: an owner may have bought everywhere, and everybody may ask. */
export const READ_AT_ONCE = 4

export const isOn = (last: Pass | undefined) => last !== undefined && last.verified > 0

/** What every answer says of the pass it rests on. */
export const asOf = (last: Pass | undefined) => ({
  is_on: isOn(last),
  pass: last ? whole(last.pass) : null,
})

/** Amounts are those of the last pass, so that they fit its standings; without one, of today. */
export const dayShown = (last: Pass | undefined, { clock }: Pick<Context, 'clock'>): number =>
  last?.day ?? dayOf(new Date(clock()))

export async function standingSummary(
  { sql }: Context,
  { config: { chainId } }: Chain,
): Promise<z.output<typeof StandingSummary>> {
  const last = await lastPass(sql, chainId)
  return {
    chain_id: chainId,
    ...asOf(last),
    day: last ? dateOf(last.day) : null,
    as_of_block: last ? whole(last.as_of_block) : null,
    computed_at: last ? time(last.computed_at) : null,
    verified_shops: last?.verified ?? 0,
    owners: last?.owners ?? 0,
    shops: last?.shops ?? 0,
  }
}

interface OwnerKey {
  chainId: number
  owner: Buffer
}

export const ownerStanding = once((context) =>
  coalesceInTurns<OwnerKey, z.output<typeof OwnerStanding>>(
    READ_AT_ONCE,
    ({ chainId, owner }) => `${chainId}/${owner.toString('hex')}`,
    (key) => inOneSnapshot(context.sql, (tx) => readOwner(context, tx, key)),
  ),
)

async function readOwner(
  context: Context,
  tx: Transaction,
  { chainId, owner }: OwnerKey,
): Promise<z.output<typeof OwnerStanding>> {
  const last = await lastPass(tx, chainId)
  const day = dayShown(last, context)
  const [standing, spent] = await Promise.all([
    standingOfOwner(tx, chainId, owner),
    spentBy(tx, chainId, { owner, day, most: MOST_SHOWN }),
  ])
  const total = spent[0]?.total ?? 0n
  return {
    owner: address(context.recovery, owner),
    ...asOf(last),
    day: dateOf(day),
    standing: shown(standing),
    voice: standing === null ? 1 : voiceOf(standing) / MILLION,
    spent_total: whole(total),
    spent: spent.map((row) => ({
      merchant_id: whole(row.merchant_id),
      spent: whole(row.spent),
      share: Number((row.spent * BigInt(MILLION)) / total) / MILLION,
      shop_standing: shown(isOn(last) ? (row.standing ?? 0) : null),
      is_verified: row.is_verified,
    })),
  }
}

interface ShopKey {
  chainId: number
  merchantId: bigint
}

export const shopStanding = once((context) =>
  coalesceInTurns<ShopKey, z.output<typeof ShopStanding>>(
    READ_AT_ONCE,
    ({ chainId, merchantId }) => `${chainId}/${merchantId}`,
    (key) => inOneSnapshot(context.sql, (tx) => readShop(context, tx, key)),
  ),
)

async function readShop(
  context: Context,
  tx: Transaction,
  { chainId, merchantId }: ShopKey,
): Promise<z.output<typeof ShopStanding>> {
  const last = await lastPass(tx, chainId)
  const day = dayShown(last, context)
  const [shop, customers] = await Promise.all([
    shopOf(tx, chainId, merchantId),
    customersOf(tx, chainId, { merchantId, day, most: MOST_SHOWN }),
  ])
  if (!shop) throw notFound()
  const standing = isOn(last) ? (shop.standing ?? 0) : null
  return {
    merchant_id: whole(merchantId),
    ...asOf(last),
    day: dateOf(day),
    standing: shown(standing),
    is_verified: shop.is_verified ?? false,
    verification:
      shop.note !== null && shop.decided_at ? { note: shop.note, decided_at: time(shop.decided_at) } : null,
    ground: standing === null ? 1 : groundOf(standing) / MILLION,
    revenue: shop.revenue === null ? null : whole(shop.revenue),
    customers: shop.customers,
    from: customers.map(({ owner, spent, standing }) => ({
      owner: address(context.recovery, owner),
      spent: whole(spent),
      standing: shown(standing),
    })),
  }
}

const shown = (standing: number | null): number | null => (standing === null ? null : standing / MILLION)

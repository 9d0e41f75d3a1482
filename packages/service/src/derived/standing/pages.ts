// The standings and what they rest on in pages, so that everybody can compute them again.
import { dateOf, MILLION } from '@referrer/ranking'
import type { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Context, once } from '../../kit/context.ts'
import { address, whole } from '../../kit/json-values.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import { asOf, dayShown, READ_AT_ONCE } from './operations.ts'
import { entriesAfter, ownersAfter, shopsAfter } from './reads.ts'
import type { OwnerStandings, ShopStandings, SpendingEntries } from './shapes.ts'
import { lastPass } from './store.ts'

interface PageKey<After> {
  chainId: number
  after: After
  limit: number
}

export interface Entry {
  owner: Buffer
  merchant_id: bigint
}

/** Reads of the same page share one, and few run at once. */
const inTurns = <After, Answer>(
  nameOf: (after: After) => string,
  read: (context: Context, key: PageKey<After>) => Promise<Answer>,
) =>
  once((context) =>
    coalesceInTurns<PageKey<After>, Answer>(
      READ_AT_ONCE,
      ({ chainId, after, limit }) => `${chainId}/${nameOf(after)}/${limit}`,
      (key) => read(context, key),
    ),
  )

/** One row more than the page has is read: it tells whether another page follows. */
function cut<Row>(rows: Row[], limit: number, nameOf: (row: Row) => string) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last ? nameOf(last) : null }
}

export const ownerStandings = inTurns<Buffer, z.output<typeof OwnerStandings>>(
  (after) => after.toString('hex'),
  ({ sql, recovery }, { chainId, after, limit }) =>
    inOneSnapshot(sql, async (tx) => {
      const [last, rows] = await Promise.all([
        lastPass(tx, chainId),
        ownersAfter(tx, chainId, after, limit + 1),
      ])
      const owners = rows.map(({ owner, standing }) => ({
        owner: address(recovery, owner),
        standing: standing / MILLION,
      }))
      const { page, next } = cut(owners, limit, ({ owner }) => owner)
      return { ...asOf(last), owners: page, next }
    }),
)

export const shopStandings = inTurns<bigint, z.output<typeof ShopStandings>>(
  String,
  ({ sql }, { chainId, after, limit }) =>
    inOneSnapshot(sql, async (tx) => {
      const [last, rows] = await Promise.all([
        lastPass(tx, chainId),
        shopsAfter(tx, chainId, after, limit + 1),
      ])
      const shops = rows.map(({ merchant_id, standing, revenue, ...row }) => ({
        merchant_id: whole(merchant_id),
        standing: standing / MILLION,
        revenue: whole(revenue),
        ...row,
      }))
      const { page, next } = cut(shops, limit, ({ merchant_id }) => `${merchant_id}`)
      return { ...asOf(last), shops: page, next }
    }),
)

export const spendingEntries = inTurns<Entry, z.output<typeof SpendingEntries>>(
  ({ owner, merchant_id }) => `${owner.toString('hex')}/${merchant_id}`,
  (context, { chainId, after, limit }) =>
    inOneSnapshot(context.sql, async (tx) => {
      const last = await lastPass(tx, chainId)
      const day = dayShown(last, context)
      const rows = await entriesAfter(tx, chainId, { after, day, most: limit + 1 })
      const entries = rows.map(({ owner, merchant_id, spent }) => ({
        owner: address(context.recovery, owner),
        merchant_id: whole(merchant_id),
        spent: whole(spent),
      }))
      const { page, next } = cut(entries, limit, ({ owner, merchant_id }) => `${owner}/${merchant_id}`)
      return { ...asOf(last), day: dateOf(day), spending: page, next }
    }),
)

// A test market with only what standings depend on.
import type { Sql } from '@referrer/database'
import { dayOf, inflate } from '@referrer/ranking'
import type { Chain } from '../../kit/context.ts'
import { asIndexer } from '../../testing/records.ts'
import { type Follower, followOnce } from '../following/following.ts'

const DAY_MS = 86_400_000

export const account = (number: number): Buffer => Buffer.from(number.toString(16).padStart(40, '0'), 'hex')

export type Ground = ReturnType<typeof createGround>

export function createGround(sql: Sql, chainId: number, followers: readonly Follower[]) {
  const clock = { now: Date.parse('2026-06-01T12:00:00Z') }
  const chain = { config: { chainId } } as Chain

  const ground = {
    sql,
    chainId,
    clock,
    /** What was spent in all, by owner and shop. */
    entries: new Map<string, { owner: number; shop: number; spent: bigint }>(),

    pass(days = 0): void {
      clock.now += 1_000 + days * DAY_MS
    },

    /** A shop that belongs to this owner. */
    async shop(shop: number, owner: number): Promise<void> {
      await asIndexer(sql, async (tx) => {
        await tx`INSERT INTO chain.merchants (chain_id, merchant_id, active) VALUES (${chainId}, ${shop}, true)`
        await tx`
          INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
          VALUES (${chainId}, ${shop}, ${account(owner)}, ${account(0)}, '', ${new Date(clock.now)})`
      })
    },

    async sell(shop: number, owner: number): Promise<void> {
      await asIndexer(
        sql,
        (tx) => tx`
          UPDATE chain.identities SET owner = ${account(owner)} WHERE chain_id = ${chainId} AND agent_id = ${shop}`,
      )
    },

    /** A decision about a shop under its present owner. */
    async decide(shop: number, isVerified = true): Promise<void> {
      await sql`
        INSERT INTO market.shop_verifications (chain_id, merchant_id, owner, is_verified, note, decided_by, decided_at)
        SELECT chain_id, agent_id, owner, ${isVerified}, ${`note on ${shop}`}, ${account(0)}, ${new Date(clock.now)}
        FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${shop}`
    },

    /** Spending in base units of the present day. */
    async spend(owner: number, shop: number, amount: number): Promise<void> {
      const spent = inflate(amount, dayOf(new Date(clock.now)))
      await sql`
        INSERT INTO market.spent_at_shops AS e (chain_id, owner, merchant_id, spent)
        VALUES (${chainId}, ${account(owner)}, ${shop}, ${spent})
        ON CONFLICT (chain_id, owner, merchant_id) DO UPDATE SET spent = e.spent + excluded.spent`
      const before = ground.entries.get(`${owner}/${shop}`)?.spent ?? 0n
      ground.entries.set(`${owner}/${shop}`, { owner, shop, spent: before + spent })
    },

    followOnce: () => followOnce({ sql, clock: () => clock.now }, chain, followers),

    /** Follows until nothing is left to do. */
    async follow(): Promise<void> {
      while (await ground.followOnce()) {}
    },
  }
  return ground
}

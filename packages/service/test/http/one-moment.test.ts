// Answers that consist of several reads, with a change between these. A lock delays one of the reads until the change
// is done.
import type { Transaction } from '@referrer/database'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { openShop, type Shop } from './escrows.ts'
import { buy, NO_WORK, startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket
let shop: Shop

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  shop = await openShop(m)
  await buy(m, m.market.accounts.buyer, { ...shop.sold, buyerAgentId: shop.buyer })
  await m.indexed()
})
afterAll(() => m.close())

/** The answer if a change is made while the request waits for this table. */
async function askedDuring(table: string, path: string, change: (tx: Transaction) => PromiseLike<unknown>) {
  let answer: ReturnType<typeof must> | undefined
  await m.sql.begin(async (tx) => {
    await tx`LOCK TABLE ${tx(table)} IN ACCESS EXCLUSIVE MODE`
    answer = must(m.call('GET', path, { as: m.market.accounts.stranger }))
    await until(async () => {
      const { count } = await m.sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return count
    }, `an answer that waits for ${table}`)
    await change(tx)
  })
  return answer
}

it('the earnings of a period and what is pending now are of one moment', async () => {
  const path = `/v1/agent/${shop.reviewer}/earnings?from=2001-01-01T00:00:00Z`
  const { commission, escrow_pending } = await askedDuring('market.earnings', path, async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`UPDATE chain.escrows SET settled_at = now(), held_back_to_reviewer = held_back`
  })
  expect(commission.held_back_pending).toBe(escrow_pending.held_back)
})

it('all that an agent is told before it goes on is of one moment', async () => {
  const path = `/v1/agent/${shop.buyer}/context`
  const { merchantId } = shop.sold.product
  const told = await askedDuring('market.cashback_rates', path, async (tx) => {
    await tx`INSERT INTO market.cashback_rates (chain_id, agent_id, bps) VALUES (${m.chainId}, ${shop.buyer}, 500)`
    await tx`
      INSERT INTO market.proofs (chain_id, agent_id, merchant_id, product_id, proof_data)
      VALUES (${m.chainId}, ${shop.buyer}, ${merchantId}, '\\x07', '{}')`
  })
  expect(told.global_cashback_of_commission_bps === 500).toBe(told.counts.pending_proofs === 1)
  const later = await must(m.call('GET', path, { as: m.market.accounts.stranger }))
  expect(later).toMatchObject({ global_cashback_of_commission_bps: 500, counts: { pending_proofs: 1 } })
})

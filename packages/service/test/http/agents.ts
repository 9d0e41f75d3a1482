// Agents on two chains: some registered, some only known from the chain, one with earnings.
import {
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { must } from './caller.ts'
import { DAY, travel } from './chain.ts'
import { act } from './escrows.ts'
import {
  buy,
  generic,
  NO_WORK,
  productOf,
  publishReview,
  startTestMarket,
  type TestMarket,
} from './market.ts'

export const OTHER_CHAIN = 31_338
export const CARD = 'https://agent.test/card.json'
const PRICE = 1_000_000n

/** The earnings of an agent that never earned. */
export const NOTHING_EARNED = {
  immediate: 0,
  held_back_settled: 0,
  held_back_pending: 0,
  total_realized: 0,
  total_potential: 0,
}

/**
 * What the author earned by two purchases of 1 USDC, at 10 % commission and a fee of 10 % of that: 90,000 base units
 * each, half of which is held back. One of them is settled.
 */
export const EARNED = {
  immediate: 90_000,
  held_back_settled: 45_000,
  held_back_pending: 45_000,
  total_realized: 135_000,
  total_potential: 180_000,
}

export interface Agents {
  m: TestMarket
  /** The owner of the author and of the two agents below. */
  owner: LocalAccount
  /** Registered itself, has a rank for repeat products, and earned `EARNED`. */
  author: number
  /** Only known from the chain, where it has a URI and a wallet. */
  learned: number
  /** Registered without a URI; has a rank for one-off products. */
  plain: number
  /** The agents of the default chain, by ascending id, from 0. */
  all: number[]
  /** The agents of the other chain; the stranger owns all of them. */
  elsewhere: number[]
  /**
   * Products reviewed by the author, the first one twice. A review of a third product is on the chain without its
   * text.
   */
  reviewed: Product[]
}

/** Creates this many more agents, owned by the stranger. */
export async function startAgents(howManyOthers: number): Promise<Agents> {
  const m = await startTestMarket({ chainIds: [31_337, OTHER_CHAIN], overrides: NO_WORK })
  const { market } = m
  const { merchant, reviewer: owner, walletBuyer, stranger, oracle } = market.accounts
  const merchantId = await openMerchant(market, merchant)
  const products = [1, 2, 3].map((number) => ({ merchantId, productId: productOf(number) }))
  for (const product of products) await listProduct(market, merchant, product)
  const [first, second, third] = products as [Product, Product, Product]

  const agentId = await registerIdentity(market, owner, CARD)
  const [author, learned] = [Number(agentId), Number(await registerIdentity(market, owner, CARD))]
  const plain = Number(await registerIdentity(market, owner))
  const others: number[] = []
  for (let count = 0; count < howManyOthers; count += 1)
    others.push(Number(await registerIdentity(market, stranger)))
  const elsewhere: number[] = []
  for (const { market: other } of m.chains.slice(1)) {
    for (let count = 0; count < 2; count += 1)
      elsewhere.push(Number(await registerIdentity(other, stranger, CARD)))
  }
  for (const agent_id of [author, plain]) {
    await must(m.call('POST', '/v1/agent/register', { as: owner, body: { agent_id } }))
  }

  const written = { agentId, content: generic(5, 'Quick and right') }
  const { reviewId } = await publishReview(m, owner, { ...written, product: first, proofId: 1n })
  await publishReview(m, owner, { ...written, product: second, proofId: 2n })
  await publishReview(m, owner, { ...written, product: first, proofId: 3n })
  await publishWithProof(market, owner, { ...written, product: third, proofId: 4n })

  await mintUsdc(market, walletBuyer.address, 2n * PRICE)
  const bought = { product: first, reviewId, reviewerAgentId: agentId, price: PRICE }
  const settled = await buy(m, walletBuyer, bought)
  await travel(m, 60 * DAY)
  await act(m, oracle, 'settle', settled, false, false)
  await buy(m, walletBuyer, bought)

  await m.sql`
    INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off)
    VALUES (${m.chainId}, ${author}, 0.75, NULL), (${m.chainId}, ${plain}, NULL, 0.5)`
  await m.indexed()
  const all = [Number(merchantId), author, learned, plain, ...others]
  return { m, owner, author, learned, plain, all, elsewhere, reviewed: [first, second] }
}

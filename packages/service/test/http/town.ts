// People who trade with each other, each with a wallet and an agent: they write reviews, buy through links and vote.
// The expected results are computed here independently of the product's code.
import {
  type EscrowDeposit,
  listProduct,
  mintUsdc,
  type Product,
  registerIdentity,
} from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { type LocalAccount, numberToHex, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Overrides } from '../../src/app/service.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { must, sessionOf } from './caller.ts'
import { send } from './chain.ts'
import { vote } from './commitments.ts'
import { publishBuyerReview } from './escrows.ts'
import {
  type Bought,
  buy,
  FULL_COMMISSION,
  generic,
  productOf,
  startTestMarket,
  type TestMarket,
} from './market.ts'
import { openRecorded } from './merchants.ts'
import { publish, register, registered } from './reviews.ts'

/** A tenth of it is commission, which is the full commission; half the price counts half. */
export const FULL_PRICE = 100_000n
/** The weight of a vote by a voter without a rank, by product type. */
export const COLD_VOTE = { repeat: 0.25 + 0.75 * 0.5, one_off: 0.25 + 0.75 * 0.417 }

export interface Person {
  owner: LocalAccount
  agentId: bigint
}

export interface Review {
  author: Person
  product: Product
  /** The on-chain id. */
  reviewId: bigint
  internalId: number
}

/** The review of a purchase. */
export interface BuyerReview extends Review {
  deposit: EscrowDeposit
}

export interface Town {
  m: TestMarket
  /** Owned by the merchant account. */
  merchantId: bigint
}

const DAY_MS = 86_400_000

/** Moves the clock to the beginning of a day, so that the day does not end during a test. */
export function beginDay({ clock }: Pick<TestMarket, 'clock'>): void {
  clock.aheadMs = DAY_MS - (Date.now() % DAY_MS) + 60_000
}

export async function startTown(overrides?: Overrides): Promise<Town> {
  const m = await startTestMarket({ env: FULL_COMMISSION, ...(overrides && { overrides }) })
  beginDay(m)
  // The first identity has the id 0, which some routes refuse.
  await registerIdentity(m.market, m.market.accounts.stranger)
  return { m, merchantId: await openRecorded(m) }
}

let people = 0

/** A new person with gas, money and an agent. */
export async function newcomer({ market }: TestMarket): Promise<Person> {
  people += 1
  const owner = privateKeyToAccount(numberToHex(0x70_0000 + people, { size: 32 }))
  await market.client.setBalance({ address: owner.address, value: parseEther('1') })
  await mintUsdc(market, owner.address, 1_000_000_000n)
  return { owner, agentId: await registerIdentity(market, owner) }
}

let products = 0

export async function newProduct(
  { m, merchantId }: Town,
  { oneOff = false, of = merchantId, account = m.market.accounts.merchant as LocalAccount } = {},
): Promise<Product> {
  products += 1
  const product = { merchantId: of, productId: productOf(products) }
  await listProduct(m.market, account, product, { oneOff })
  return product
}

/** Publishes a review with an approved proof and registers its text. */
export async function write(m: TestMarket, author: Person, product: Product, rating = 5): Promise<Review> {
  const content = generic(rating, 'As I saw it')
  const reviewId = await publish(m.market, { ...author, product, content })
  await m.indexed()
  return { author, product, reviewId: BigInt(reviewId), internalId: await registered(m, reviewId, content) }
}

/** Buys a product with the agent, through the link of a review. */
export async function buyThrough(
  m: TestMarket,
  { owner, agentId }: Person,
  { product, reviewId, author }: Review,
  more: Partial<Bought> = {},
): Promise<EscrowDeposit> {
  const through = { product, reviewId, reviewerAgentId: author.agentId, buyerAgentId: agentId }
  const deposit = await buy(m, owner, { ...through, price: FULL_PRICE, ...more })
  await m.indexed()
  return deposit
}

/** Buys through one review and votes for others. */
export async function support(
  m: TestMarket,
  voter: Person,
  link: Review,
  votes: Review[],
  price = FULL_PRICE,
): Promise<void> {
  const { escrowId } = await buyThrough(m, voter, link, { price })
  const { owner, agentId } = voter
  await must(vote(m, owner, { agentId, escrowId, votes: votes.map(({ internalId }) => internalId) }))
}

/** Publishes the buyer's review of a purchase. */
export async function tell(
  m: TestMarket,
  author: Person,
  deposit: EscrowDeposit,
  rating: number,
): Promise<BuyerReview> {
  const body = await publishBuyerReview(m, author.owner, deposit, generic(rating, 'As it was'))
  await m.indexed()
  const { review_id: internalId } = await must(register(m, body))
  const { merchantId, productId } = deposit
  const product = { merchantId, productId }
  return { author, product, deposit, reviewId: BigInt(body.review_id), internalId }
}

/** Changes the rating of a buyer's review, on the chain and in the service. */
export async function edit(m: TestMarket, review: BuyerReview, rating: number): Promise<void> {
  const { author, product, deposit, reviewId } = review
  const content = generic(rating, 'On second thoughts')
  const hash = ContentHash.contentHash({ agentId: author.agentId, ...product, content })
  await send(m, call(m, author.owner, 'ReviewRegistry', 'editContent', [reviewId, hash]))
  await m.indexed()
  const ids = { review_id: Number(reviewId), escrow_id: Number(deposit.escrowId) }
  await must(register(m, { ...ids, content_json: content }))
}

/** All buy before the first of them publishes a review, so that nobody has to vote first. */
export async function buyAndTell(
  m: TestMarket,
  link: Review,
  told: readonly (readonly [Person, rating: number, price?: bigint])[],
): Promise<BuyerReview[]> {
  const deposits: EscrowDeposit[] = []
  for (const [person, , price = FULL_PRICE] of told)
    deposits.push(await buyThrough(m, person, link, { price }))
  const reviews: BuyerReview[] = []
  for (const [at, [person, rating]] of told.entries()) {
    const deposit = deposits[at]
    if (deposit) reviews.push(await tell(m, person, deposit, rating))
  }
  return reviews
}

/** Calls an admin route in a new session, because the clock may have expired earlier ones. */
export async function asAdmin(m: TestMarket, path: string, body?: object) {
  const token = await sessionOf(m.call, m.market.accounts.admin)
  return m.call('POST', `/admin/${path}`, { token, ...(body && { body }) })
}

export const setFlag = (m: TestMarket, { agentId }: Pick<Person, 'agentId'>, action: 'flag' | 'unflag') =>
  must(asAdmin(m, `agents/${agentId}/${action}`))

/** Waits until all changes have been followed. */
export async function quiet({ sql, indexed }: TestMarket): Promise<void> {
  await indexed()
  await until(async () => {
    const { count } = await sql`
      SELECT FROM market.pending_changes UNION ALL SELECT FROM market.comparisons_under_way LIMIT 1`
    return count === 0
  }, 'changes to be taken')
}

export const readProduct = ({ call }: TestMarket, { merchantId, productId }: Product) =>
  must(call('GET', `/v1/merchant/product?merchant_id=${merchantId}&product_id=${productId}`))

/** Signed by an unrelated account: the route needs any valid signature. */
export const readRank = (m: TestMarket, { agentId }: Pick<Person, 'agentId'>, query = '') =>
  must(m.call('GET', `/v1/review-rank/${agentId}${query}`, { as: m.market.accounts.stranger }))

const PRIORS = { repeat: [6, 6], one_off: [5, 7] } as const

/** The rank that the interface should show for this much evidence. */
export function shownRank(type: keyof typeof PRIORS, gain: number, loss = 0) {
  if (gain + loss < 0.5) {
    const base = { repeat: 7_000, one_off: 6_502 }[type]
    return { rank: null, commission_multiplier_bps: base, cold_start: true }
  }
  const [for_, against] = PRIORS[type]
  const rank = (for_ + gain) / (for_ + against + gain + loss)
  return {
    rank: expect.closeTo(rank, 9),
    commission_multiplier_bps: Math.round(4_000 + 6_000 * rank),
    cold_start: false,
  }
}

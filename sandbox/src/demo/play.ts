// Plays the plan through the doors that everybody uses: contracts, REST with signatures, x402 at the shops.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  developmentAccount,
  type EscrowDeposit,
  escrowDeposits,
  escrowTerms,
  type Market,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { connect, type Sql } from '@referrer/database'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { decodePaymentResponseHeader } from '@x402/fetch'
import { type Hex, parseEventLogs } from 'viem'
import type { HDAccount } from 'viem/accounts'
import { type Caller, callerOf } from '../caller.ts'
import type { Ends } from '../ends.ts'
import type { Sandbox } from '../sandbox.ts'
import { startShop } from '../shop/shop.ts'
import { SHOPS } from '../shop/shops.ts'
import { stockShop } from '../shop/stock.ts'
import { MERCHANTS, REVIEWERS, shopOwners, signerOf, WALLETS } from './cast.ts'
import { nonceOf, payer } from './payer.ts'
import type { Plan, PlannedPurchase, PlannedReview } from './plan.ts'
import { isFollowed } from './restore.ts'
import { FAR } from './snapshot.ts'

/** What each of them has to spend in the demo, in base units. */
const FUNDS = 100_000_000n

/** The moment and the newest block at the beginning of a day; the last is the end. */
export interface DayMark {
  at: number
  block: bigint
}

export interface Played {
  agentIds: number[]
  merchantIds: number[]
  days: DayMark[]
}

interface Game {
  sandbox: Sandbox
  market: Market
  caller: Caller
  sql: Sql
  plan: Plan
  adminToken: string
  agentIds: number[]
  merchantIds: number[]
  /** By their places in the plan. */
  published: Map<number, { onChainId: number; internalId: number; link: string }>
  deposits: Map<number, EscrowDeposit>
}

export async function play(
  sandbox: Sandbox,
  plan: Plan,
  { shopPort, ends, say }: { shopPort: number; ends: Ends; say: (text: string) => void },
): Promise<Played> {
  const { market, world, databaseUrl, state } = sandbox
  const { baseUrl, facilitatorUrl, accounts } = state
  const caller = callerOf(baseUrl)
  const adminToken = await caller.signIn(market.accounts.admin)
  const firstAgent = accounts.find(({ role }) => role === 'reviewer')?.agentId ?? 0
  const firstMerchant = accounts.find(({ role }) => role === 'merchant')?.merchantId ?? 0
  const sql = await ends.add(
    async () => connect(databaseUrl, { max: 2, name: 'demo' }),
    (connection) => connection.end(),
  )
  const game: Game = {
    ...{ sandbox, market, caller, sql, plan, adminToken },
    agentIds: [firstAgent],
    merchantIds: [firstMerchant],
    published: new Map(),
    deposits: new Map(),
  }
  const days: DayMark[] = []
  const mark = async () => days.push({ at: Date.now(), block: await market.client.getBlockNumber() })
  await mark()
  await join(game, 0)
  await openShops(game)
  await ends.add(
    () => startShop(world, { port: shopPort, baseUrl, facilitatorUrl, owners: shopOwners(game) }),
    (shop) => shop.stop(),
  )
  await introduceShops(game)
  for (let day = 0; day < plan.days; day++) {
    if (day > 0) {
      await mark()
      await join(game, day)
    }
    await publishProven(game, day)
    await buyAll(game, day)
    await judgeAll(game, day)
    await flagAll(game, day)
    await leaveProofs(game, day)
    await caughtUp(game)
    if (day % 20 === 19) say(`day ${day + 1} of ${plan.days}`)
  }
  await mark()
  return { agentIds: game.agentIds, merchantIds: game.merchantIds, days }
}

const accountOf = (reviewer: number) => developmentAccount(REVIEWERS[reviewer]?.index ?? -1)
/** The node has the keys of all who play, and is quicker at signing. */
const heldByNode = ({ address }: HDAccount) => ({ address, type: 'json-rpc' }) as const
const agentOf = ({ agentIds }: Game, reviewer: number): number => {
  const agentId = agentIds[reviewer]
  if (agentId === undefined) throw new Error(`reviewer ${reviewer} has no agent yet`)
  return agentId
}

/** Those who come on that day get an identity, register, and say what they give of their commission. */
async function join(game: Game, day: number): Promise<void> {
  const { market, caller, plan, agentIds } = game
  for (const [at, { joins, cashbackBps, index }] of REVIEWERS.slice(0, plan.reviewers).entries()) {
    if (joins !== day) continue
    const account = developmentAccount(index)
    agentIds[at] ??= Number(await registerIdentity(market, account))
    await mintUsdc(market, account.address, FUNDS)
    await caller.post(account, '/v1/agent/register', { agent_id: agentIds[at] })
    if (cashbackBps > 0)
      await caller.inTwoSteps(account, '/v1/cashback-rate', {
        reviewer_agent_id: agentIds[at],
        cashback_of_commission_bps: cashbackBps,
      })
  }
  if (day === 0) for (const index of WALLETS) await mintUsdc(market, developmentAccount(index).address, FUNDS)
}

async function openShops({ market, plan, merchantIds }: Game): Promise<void> {
  for (const [at, { goods }] of SHOPS.slice(0, plan.shops).entries()) {
    const owner = developmentAccount(MERCHANTS[at] ?? -1)
    const merchantId = BigInt(merchantIds[at] ?? (await openMerchant(market, owner)))
    merchantIds[at] = Number(merchantId)
    await stockShop(market, owner, { merchantId, goods, signer: signerOf(at).address })
  }
}

async function introduceShops({ sandbox, caller, plan, merchantIds }: Game): Promise<void> {
  const { shopUrl } = sandbox.state
  for (const [at, { path, description, goods }] of SHOPS.slice(0, plan.shops).entries()) {
    const owner = developmentAccount(MERCHANTS[at] ?? -1)
    const merchant = { merchant_id: merchantIds[at] }
    await caller.post(owner, '/v1/merchant/register', merchant)
    const landing_page_url = path === '/' ? shopUrl : `${shopUrl}${path}`
    await caller.post(owner, '/v1/merchant/profile', { ...merchant, description, landing_page_url })
    for (const { path, productId, name, description, category } of goods) {
      const about = { product_id: productId, endpoint_url: `${shopUrl}${path}`, name, description, category }
      await caller.post(owner, '/v1/merchant/product', { ...merchant, ...about })
    }
  }
}

const merchantOf = ({ merchantIds }: Game, { good }: Pick<PlannedReview, 'good'>): number =>
  merchantIds[SHOPS.findIndex(({ goods }) => goods.includes(good))] ?? 0

function placesOf<T extends { day: number }>(all: readonly T[], day: number, isOne: (one: T) => boolean) {
  return [...all.entries()].filter(([, one]) => one.day === day && isOne(one))
}

async function submitProof(game: Game, { by, good }: Pick<PlannedReview, 'by' | 'good'>): Promise<number> {
  const { proof_id } = await game.caller.post<{ proof_id: number }>(accountOf(by), '/v1/proof', {
    agent_id: agentOf(game, by),
    merchant_id: merchantOf(game, { good }),
    product_id: good.productId,
    proof_data: { note: `Had access to ${good.name} before it was sold here.` },
  })
  return proof_id
}

/** Reviews of people who show that they used the product, which the admin approves. */
async function publishProven(game: Game, day: number): Promise<void> {
  for (const [place, review] of placesOf(game.plan.reviews, day, ({ purchase }) => purchase === undefined)) {
    const proofId = await submitProof(game, review)
    await game.caller.postWith(game.adminToken, `/admin/proofs/${proofId}/approve`)
    const { reviewId } = await publishWithProof(game.market, accountOf(review.by), {
      agentId: BigInt(agentOf(game, review.by)),
      product: { merchantId: BigInt(merchantOf(game, review)), productId: review.good.productId },
      content: JSON.stringify(review.content),
      proofId: BigInt(proofId),
      expiry: FAR,
    })
    await register(game, place, review, { review_id: Number(reviewId), escrow_id: 0 })
  }
}

async function register(
  { caller, published }: Game,
  place: number,
  { by, content }: PlannedReview,
  ids: { review_id: number; escrow_id: number },
): Promise<void> {
  const answer = await caller.post<{ review_id: number; ref_link: string }>(
    accountOf(by),
    '/v1/review/register',
    { ...ids, content_json: JSON.stringify(content) },
  )
  const { review_id: internalId, ref_link: link } = answer
  published.set(place, { onChainId: ids.review_id, internalId, link })
}

/** At the same time: they share transactions. */
async function buyAll(game: Game, day: number): Promise<void> {
  const today = placesOf(game.plan.purchases, day, () => true)
  await Promise.all(today.map(([place, purchase]) => buy(game, place, purchase)))
}

async function buy(game: Game, place: number, { buyer, good, through }: PlannedPurchase): Promise<void> {
  const { market, published, deposits } = game
  const isAgent = 'reviewer' in buyer
  const account = isAgent ? accountOf(buyer.reviewer) : developmentAccount(WALLETS[buyer.wallet] ?? -1)
  const link = published.get(through)?.link ?? ''
  const { merchant_endpoint, token } = await (await fetch(link)).json()
  const nonce = nonceOf(place)
  const response = await payer(
    market,
    account,
    nonce,
  )(`${merchant_endpoint}${good.example}`, {
    headers: {
      'X-Referrer-Token': token,
      ...(isAgent && { 'X-Referrer-Buyer-Agent-Id': String(agentOf(game, buyer.reviewer)) }),
    },
  })
  const paid = response.headers.get('PAYMENT-RESPONSE')
  if (!response.ok || !paid)
    throw new Error(`${good.path} was not sold: ${response.status} ${await response.text()}`)
  const { transaction } = decodePaymentResponseHeader(paid)
  const receipt = await market.client.getTransactionReceipt({ hash: transaction as Hex })
  const deposit = escrowDeposits(receipt).find((one) => one.nonce === nonce)
  if (!deposit) throw new Error(`purchase ${place} left no escrow`)
  deposits.set(place, deposit)
}

/** Buyers vote on the reviews that they read, and publish what they think. */
async function judgeAll(game: Game, day: number): Promise<void> {
  for (const [place, review] of placesOf(game.plan.reviews, day, ({ purchase }) => purchase !== undefined)) {
    const deposit = game.deposits.get(review.purchase ?? -1)
    if (!deposit) throw new Error(`review ${place} is of nothing that was bought`)
    const escrow_id = Number(deposit.escrowId)
    const account = accountOf(review.by)
    const agent_id = agentOf(game, review.by)
    const votes = review.votes.map(({ review: voted, reasoning }) => ({
      review_id: game.published.get(voted)?.internalId,
      reasoning,
    }))
    if (votes.length > 0) await game.caller.inTwoSteps(account, '/v1/votes', { agent_id, escrow_id, votes })
    const review_id = await publishBought(game, account, { agentId: BigInt(agent_id), review, deposit })
    await register(game, place, review, { review_id, escrow_id })
  }
}

async function publishBought(
  { market }: Game,
  account: HDAccount,
  { agentId, review, deposit }: { agentId: bigint; review: PlannedReview; deposit: EscrowDeposit },
): Promise<number> {
  const { merchantId, productId } = deposit
  const content = JSON.stringify(review.content)
  const hash = await market.client.writeContract({
    account: heldByNode(account),
    gas: 1_000_000n,
    address: market.addresses.ReviewRegistry,
    abi: reviewRegistryAbi,
    functionName: 'publishWithEscrow',
    args: [
      market.addresses.CommissionEscrow,
      escrowTerms(deposit),
      ContentHash.contentHash({ agentId, merchantId, productId, content }),
    ],
  })
  const { logs } = await market.client.waitForTransactionReceipt({ hash })
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
  if (!event) throw new Error(`no review was published in ${hash}`)
  return Number(event.args.reviewId)
}

async function flagAll(game: Game, day: number): Promise<void> {
  for (const { reviewer } of game.plan.flags.filter((one) => one.day === day))
    await game.caller.postWith(game.adminToken, `/admin/agents/${agentOf(game, reviewer)}/flag`)
}

async function leaveProofs(game: Game, day: number): Promise<void> {
  for (const proof of game.plan.proofs.filter((one) => one.day === day)) {
    const proofId = await submitProof(game, proof)
    const decision = { note: 'It shows nothing of the product.' }
    if (proof.isRejected)
      await game.caller.postWith(game.adminToken, `/admin/proofs/${proofId}/reject`, decision)
  }
}

/** All blocks are indexed, and all that derives from them is up to date. */
async function caughtUp({ market, sql }: Game): Promise<void> {
  const head = await market.client.getBlockNumber()
  for (;;) {
    const [row] = await sql<{ block_number: bigint }[]>`SELECT block_number FROM indexer.checkpoints`
    if (row && row.block_number >= head && (await isFollowed(sql))) return
    await sleep(10)
  }
}

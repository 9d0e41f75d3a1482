// A shop with a reviewed product, and actions on the escrows of its buyers.
import {
  type EscrowDeposit,
  escrowDeposits,
  escrowTerms,
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
  settlePurchases,
  signPurchase,
} from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import { type LocalAccount, numberToHex, parseEventLogs } from 'viem'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { setCashbackRate } from './commitments.ts'
import { type Bought, generic, productOf, type TestMarket } from './market.ts'

/** Shares of a million at 10 % commission: 10 % of it is the fee, 40 % cashback, and half of the rest is held back. */
export const HELD_BACK = 25_000
export const CASHBACK = 40_000

export interface Shop {
  /** Agent 0. */
  reviewer: bigint
  buyer: bigint
  /** A purchase through the reviewer's link, by a wallet without an agent. */
  sold: Bought
}

export async function openShop(m: TestMarket): Promise<Shop> {
  const { market } = m
  const { accounts } = market
  const reviewer = await registerIdentity(market, accounts.reviewer)
  if (reviewer !== 0n) throw new Error('the shop has to be opened first: its reviewer is agent 0')
  await must(setCashbackRate(m, accounts.reviewer, { agentId: reviewer, bps: 4_000 }))
  const buyer = await registerIdentity(market, accounts.buyer)
  const product = { merchantId: await openMerchant(market, accounts.merchant), productId: productOf(1) }
  await listProduct(market, accounts.merchant, product)
  const review = { agentId: reviewer, product, content: generic(5, 'Quick and right'), proofId: 1n }
  const { reviewId } = await publishWithProof(market, accounts.reviewer, review)
  for (const payer of [accounts.buyer, accounts.walletBuyer, accounts.stranger]) {
    await mintUsdc(market, payer.address, 1_000_000_000n)
  }
  return {
    reviewer,
    buyer,
    sold: { product, reviewId, reviewerAgentId: reviewer, cashbackOfCommissionBps: 4_000 },
  }
}

/** Buys this many times, with many purchases in a block. */
export async function buyMany(
  { market }: TestMarket,
  payer: LocalAccount,
  { product, reviewId, reviewerAgentId }: Bought,
  { buyerAgentId, count }: { buyerAgentId: bigint; count: number },
): Promise<EscrowDeposit[]> {
  const attribution = { ...product, reviewId, reviewerAgentId, buyerAgentId }
  const rates = { cashbackOfCommissionBps: 0, commissionMultiplierBps: 10_000 }
  const purchases = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      signPurchase(market, payer, {
        value: 1_000n,
        attribution: { ...attribution, ...rates },
        salt: numberToHex(1_000_000 + at, { size: 32 }),
      }),
    ),
  )
  const deposits: EscrowDeposit[] = []
  for (let at = 0; at < count; at += 50) {
    deposits.push(...escrowDeposits(await settlePurchases(market, purchases.slice(at, at + 50))))
  }
  return deposits
}

/** Calls a function on an escrow. */
export async function act(
  m: TestMarket,
  account: LocalAccount,
  functionName: 'bind' | 'releaseCashback' | 'settle' | 'settleFallback',
  deposit: EscrowDeposit,
  ...more: unknown[]
): Promise<void> {
  await send(m, call(m, account, 'CommissionEscrow', functionName, [escrowTerms(deposit), ...more]))
}

/** The state of an escrow in the contract. */
export async function standingOf(
  { market }: Pick<TestMarket, 'market'>,
  { payer, nonce }: Pick<EscrowDeposit, 'payer' | 'nonce'>,
) {
  const [, state, isBound, isReleased] = await market.client.readContract({
    address: market.addresses.CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName: 'escrowOf',
    args: [payer, nonce],
  })
  return { isSettled: state === 2, isBound, isReleased }
}

/** Publishes the buyer's review of a purchase on the chain. Returns the body that registers its text. */
export async function publishBuyerReview(
  m: TestMarket,
  owner: LocalAccount,
  deposit: EscrowDeposit,
  content = generic(4, 'As told'),
) {
  const { merchantId, productId, buyerAgentId: agentId } = deposit
  const contentHash = ContentHash.contentHash({ agentId, merchantId, productId, content })
  const args = [m.market.addresses.CommissionEscrow, escrowTerms(deposit), contentHash]
  const { logs } = await send(m, call(m, owner, 'ReviewRegistry', 'publishWithEscrow', args))
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
  if (!event) throw new Error('nothing was published')
  return {
    review_id: Number(event.args.reviewId),
    escrow_id: Number(deposit.escrowId),
    content_json: content,
  }
}

// A purchase by the stock x402 client, and everything that must have happened on the chain then.
import { Attribution, RequestSignature } from '@referrer/protocol'
import { commissionEscrowAbi, merchantRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { type Address, createPublicClient, type Hash, http, parseEventLogs } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { resolve } from './links.ts'
import type { TestSandbox } from './sandbox.ts'

const WINDOW_SECONDS = 60n * 86_400n

export interface Order {
  role: 'buyer' | 'walletBuyer'
  link: string
  /** Added to the endpoint. */
  query?: string
  init?: RequestInit
}

export interface Bought {
  response: Response
  body: Record<string, unknown>
  /** What the client sent as PAYMENT-SIGNATURE; empty: nothing. */
  signature: string
}

export const chainOf = ({ state }: TestSandbox) =>
  createPublicClient({ transport: http(state.rpcUrl), cacheTime: 0 })

/** With nothing set but how much of the sandbox's token a payment may cost. */
export async function buy(
  { state, account }: Pick<TestSandbox, 'state' | 'account'>,
  { role, link, query = '', init }: Order,
): Promise<Bought> {
  const { privateKey, agentId } = account(role)
  let signature = ''
  const network = `eip155:${state.chainId}` as const
  const pay = wrapFetchWithPaymentFromConfig(
    (input, options) => {
      if (typeof input === 'object' && 'headers' in input)
        signature = input.headers.get('PAYMENT-SIGNATURE') ?? ''
      return fetch(input, options)
    },
    {
      schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(privateKey)) }],
      spendControls: {
        allowedAssets: [{ network, asset: state.contracts.USDC, maxAmountPerPayment: '5000000' }],
      },
    },
  )
  const { merchant_endpoint, token } = await resolve(link)
  const response = await pay(merchant_endpoint + query, {
    ...init,
    headers: {
      'X-Referrer-Token': token,
      ...(agentId !== undefined && { 'X-Referrer-Buyer-Agent-Id': String(agentId) }),
    },
  })
  return { response, body: await response.json(), signature }
}

/** By the header that stock clients read. */
export const paymentOf = ({ response }: Pick<Bought, 'response'>) =>
  decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')

/** What a route of the service answers to somebody who signs. */
export async function ask<T>(
  { state, account }: Pick<TestSandbox, 'state' | 'account'>,
  role: string,
  path: string,
  posted?: object,
): Promise<T> {
  const signer = privateKeyToAccount(account(role).privateKey)
  const body = posted ? JSON.stringify(posted) : ''
  const { timestamp, signature } = await RequestSignature.sign(signer, body, Math.floor(Date.now() / 1_000))
  const headers = { 'X-Agent-Timestamp': String(timestamp), 'X-Agent-Signature': signature }
  const request = posted ? { method: 'POST', headers, body } : { headers }
  return (await fetch(`${state.baseUrl}${path}`, request)).json()
}

/** The shares of a price: all rounded down, nothing left over. */
function sharesOf(
  price: bigint,
  rates: { commissionBps: number; multiplierBps: number; cashbackBps: number },
) {
  const commission = (price * BigInt(rates.commissionBps) * BigInt(rates.multiplierBps)) / 10n ** 8n
  const fee = (commission * 1_000n) / 10_000n
  const cashback = (commission * BigInt(rates.cashbackBps)) / 10_000n
  const reviewer = commission - fee - cashback
  const heldBack = (reviewer * 5_000n) / 10_000n
  return { merchant: price - commission, commission, fee, cashback, heldBack, immediate: reviewer - heldBack }
}

/** Buys, and insists that everybody got their share: the merchant, the reviewer, the platform and, when it is pledged, the buyer. */
export async function buyAndCheck(sandbox: TestSandbox, order: Order, price: bigint) {
  const { state, account } = sandbox
  const { SplitRouter, CommissionEscrow } = state.contracts
  const chain = chainOf(sandbox)
  const terms = await resolve(order.link)
  const [buyer, merchant] = [account(order.role), account('merchant')]
  const merchantId = BigInt(merchant.merchantId ?? -1)
  const reviewer = state.accounts.find(({ agentId }) => agentId === terms.reviewer_agent_id)
  if (!reviewer) throw new Error(`nobody here owns agent ${terms.reviewer_agent_id}`)
  const shares = sharesOf(price, await ratesOf(sandbox, merchantId, terms))
  const inEscrow = shares.fee + shares.heldBack + shares.cashback
  const escrow = { address: CommissionEscrow, abi: commissionEscrowAbi } as const
  const holdings = () =>
    Promise.all([
      ...[buyer.address, merchant.address, reviewer.address, CommissionEscrow, SplitRouter].map((holder) =>
        usdcOf(sandbox, holder),
      ),
      chain.readContract({ ...escrow, functionName: 'totalHeld' }),
      chain.readContract({ ...escrow, functionName: 'fees' }),
    ])
  const before = await holdings()

  const bought = await buy(sandbox, order)
  expect([bought.response.status, bought.body]).toEqual([200, expect.anything()])
  const payment = paymentOf(bought)
  expect(payment).toMatchObject({
    success: true,
    network: `eip155:${state.chainId}`,
    payer: buyer.address,
    transaction: bought.body.transaction,
  })

  const receipt = await chain.getTransactionReceipt({ hash: payment.transaction as Hash })
  expect(receipt.status).toBe('success')
  const transfers = parseEventLogs({ abi: sandboxUSDCAbi, eventName: 'Transfer', logs: receipt.logs })
  expect(transfers.map(({ args }) => args)).toEqual([
    { from: buyer.address, to: SplitRouter, value: price },
    { from: SplitRouter, to: CommissionEscrow, value: inEscrow },
    { from: SplitRouter, to: merchant.address, value: shares.merchant },
    { from: SplitRouter, to: reviewer.address, value: shares.immediate },
  ])
  const changes = (await holdings()).map((amount, at) => amount - (before[at] ?? 0n))
  const waiting = shares.heldBack + shares.cashback
  expect(changes).toEqual([-price, shares.merchant, shares.immediate, inEscrow, 0n, waiting, shares.fee])

  const deposits = parseEventLogs({
    abi: commissionEscrowAbi,
    eventName: 'EscrowDeposited',
    logs: receipt.logs,
  })
  const { timestamp } = await chain.getBlock({ blockNumber: receipt.blockNumber })
  expect(deposits.map(({ args }) => args)).toEqual([
    {
      escrowId: expect.any(BigInt),
      reviewerAgentId: BigInt(terms.reviewer_agent_id),
      buyerAgentId: buyer.agentId === undefined ? Attribution.AGENTLESS_BUYER_ID : BigInt(buyer.agentId),
      payer: buyer.address,
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      merchantId,
      productId: terms.product_id,
      reviewId: BigInt(terms.review_id),
      price,
      commission: shares.commission,
      fee: shares.fee,
      heldBack: shares.heldBack,
      cashback: shares.cashback,
      windowEnd: timestamp + WINDOW_SECONDS,
    },
  ])
  const [deposit] = deposits
  if (!deposit) throw new Error('the purchase left no escrow')
  // The escrow's record is a digest of its terms: this reverts when it is of others.
  await chain.readContract({ ...escrow, functionName: 'requireTerms', args: [deposit.args] })
  return { ...bought, shares, escrowId: Number(deposit.args.escrowId), reviewerId: terms.reviewer_agent_id }
}

/** What the chain says of the product, and the service of its reviewer. */
async function ratesOf(sandbox: TestSandbox, merchantId: bigint, terms: Awaited<ReturnType<typeof resolve>>) {
  const { commissionBps, productType } = await chainOf(sandbox).readContract({
    address: sandbox.state.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'getProduct',
    args: [merchantId, terms.product_id],
  })
  const path = `/v1/review-rank/${terms.reviewer_agent_id}?chain_id=${sandbox.state.chainId}`
  const rank = await ask<Record<string, { commission_multiplier_bps: number }>>(sandbox, 'stranger', path)
  const multiplierBps = rank[productType === 1 ? 'one_off' : 'repeat']?.commission_multiplier_bps ?? 0
  return { commissionBps, multiplierBps, cashbackBps: terms.cashback_of_commission_bps }
}

export const usdcOf = (sandbox: TestSandbox, holder: Address) =>
  chainOf(sandbox).readContract({
    address: sandbox.state.contracts.USDC,
    abi: sandboxUSDCAbi,
    functionName: 'balanceOf',
    args: [holder],
  })

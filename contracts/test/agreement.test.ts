// What the protocol package computes, the contracts compute too.
import { Attribution, Commitment, ContentHash, Money } from '@referrer/protocol'
import { commissionEscrowAbi, reviewRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import fc from 'fast-check'
import { bytesToHex, type Hex, keccak256, numberToHex, toBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAbis, renderAbis } from '../deploy/abis.ts'
import {
  confirmed,
  deployMarket,
  escrowDeposits,
  type LocalChain,
  listProduct,
  type Market,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
  settlePurchases,
  signPurchase,
  startLocalChain,
} from '../local/index.ts'

const COMMISSION_BPS = 1_300
let local: LocalChain
let market: Market
let product: Product
let reviewerAgentId: bigint
let reviewId: bigint

beforeAll(async () => {
  local = await startLocalChain()
  market = await deployMarket(local.client)
  const { merchant, reviewer, buyer, walletBuyer } = market.accounts
  product = { merchantId: await openMerchant(market, merchant), productId: keccak256(toBytes('product')) }
  await listProduct(market, merchant, product, { commissionBps: COMMISSION_BPS })
  reviewerAgentId = await registerIdentity(market, reviewer)
  const published = await publishWithProof(market, reviewer, {
    agentId: reviewerAgentId,
    product,
    content: '{"rating":4}',
    proofId: 1n,
  })
  reviewId = published.reviewId
  for (const { address } of [buyer, walletBuyer]) await mintUsdc(market, address, 10n ** 12n)
})
afterAll(() => local.close())

const router = () => ({ address: market.addresses.SplitRouter, abi: splitRouterAbi }) as const
const registry = () => ({ address: market.addresses.ReviewRegistry, abi: reviewRegistryAbi }) as const
const attribution = () => ({
  ...product,
  reviewId,
  reviewerAgentId,
  buyerAgentId: Attribution.AGENTLESS_BUYER_ID,
  cashbackOfCommissionBps: 1_700,
  commissionMultiplierBps: 8_300,
})

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => bytesToHex(bytes))
const runs = { numRuns: 30 }

describe('the protocol package and the contracts', () => {
  it('have the same ABIs', () => {
    expect(readAbis()).toBe(renderAbis())
  })

  it('hash a review’s content alike: the ABI encoding with the text itself [CHAIN-01, CHAIN-02]', async () => {
    await fc.assert(
      fc.asyncProperty(
        uint256,
        uint256,
        bytes32,
        fc.string({ unit: 'grapheme' }),
        async (agentId, merchantId, productId, content) => {
          const onChain = await local.client.readContract({
            ...registry(),
            functionName: 'hashContent',
            args: [agentId, merchantId, productId, content],
          })
          expect(ContentHash.contentHash({ agentId, merchantId, productId, content })).toBe(onChain)
        },
      ),
      runs,
    )
  })

  it('hash a review commitment alike', async () => {
    const fields = fc.record({
      agentId: uint256,
      merchantId: uint256,
      productId: bytes32,
      contentHash: bytes32,
      nonce: bytes32,
    })
    await fc.assert(
      fc.asyncProperty(fields, fc.nat(), async (message, expiry) => {
        const commitment = Commitment.from('ReviewCommitment', {
          chainId: local.chain.id,
          reviewRegistry: market.addresses.ReviewRegistry,
          message: { ...message, expiry },
        })
        const onChain = await local.client.readContract({
          ...registry(),
          functionName: 'hashCommitment',
          args: [{ ...message, nonce: BigInt(message.nonce), expiry: BigInt(expiry) }],
        })
        expect(Commitment.digest(commitment)).toBe(onChain)
      }),
      runs,
    )
  })

  it('derive the nonce that commits to an attribution alike', async () => {
    const bps = fc.integer({ min: 0, max: 0xffff })
    const fields = fc.record({
      merchantId: uint256,
      productId: bytes32,
      reviewId: uint256,
      reviewerAgentId: uint256,
      buyerAgentId: uint256,
      cashbackOfCommissionBps: bps,
      commissionMultiplierBps: bps,
      salt: bytes32,
    })
    await fc.assert(
      fc.asyncProperty(fields, async (given) => {
        const onChain = await local.client.readContract({
          ...router(),
          functionName: 'attributionNonce',
          args: [given],
        })
        expect(Attribution.attributionNonce(given)).toBe(onChain)
      }),
      runs,
    )
  })

  it('know the same buyer id for a purchase without an agent [CHAIN-07]', async () => {
    const escrow = { address: market.addresses.CommissionEscrow, abi: commissionEscrowAbi } as const
    expect(await local.client.readContract({ ...escrow, functionName: 'AGENTLESS' })).toBe(
      Attribution.AGENTLESS_BUYER_ID,
    )
    expect(Attribution.AGENTLESS_BUYER_ID).not.toBe(0n)
  })

  it.each(['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const)(
    'agree on a signed %s and on every part of the price [CHAIN-03]',
    async (type) => {
      const value = 1_234_567n
      const salt = keccak256(toBytes(type))
      const purchase = await signPurchase(market, market.accounts.buyer, {
        value,
        type,
        salt,
        attribution: attribution(),
      })
      const [deposit] = escrowDeposits(await settlePurchases(market, [purchase]))
      const parts = Money.split(value, {
        commissionBps: COMMISSION_BPS,
        multiplierBps: 8_300,
        feeBps: 1_000,
        cashbackOfCommissionBps: 1_700,
        heldBackBps: 5_000,
      })
      expect(deposit).toMatchObject({
        price: value,
        commission: parts.commission,
        fee: parts.fee,
        heldBack: parts.heldBack,
        cashback: parts.cashback,
        buyerAgentId: Attribution.AGENTLESS_BUYER_ID,
      })
    },
  )

  it('agree on a charge commitment: the router splits a plain deposit on its signature', async () => {
    const { accounts, addresses } = market
    const payer = accounts.walletBuyer
    const value = 5_000_000n
    const txHash = await local.client.writeContract({
      account: payer,
      address: addresses.USDC,
      abi: [
        {
          type: 'function',
          name: 'transfer',
          stateMutability: 'nonpayable',
          inputs: [{ type: 'address' }, { type: 'uint256' }],
          outputs: [{ type: 'bool' }],
        },
      ],
      functionName: 'transfer',
      args: [addresses.SplitRouter, value],
    })
    await confirmed(market, txHash)
    const tokenHash = keccak256(toBytes('a token'))
    const commitment = Commitment.from('ChargeCommitment', {
      chainId: local.chain.id,
      splitRouter: addresses.SplitRouter,
      message: { txHash, tokenHash, buyerAgentId: Attribution.AGENTLESS_BUYER_ID, payer: payer.address },
    })
    const signature = await payer.signTypedData(commitment as Parameters<typeof payer.signTypedData>[0])
    expect(await Commitment.recover(commitment, signature)).toBe(payer.address)
    const hash = await local.client.writeContract({
      account: accounts.settler,
      ...router(),
      functionName: 'splitDeposit',
      args: [
        { txHash, payer: payer.address, value, tokenHash, signature },
        { ...attribution(), salt: numberToHex(0, { size: 32 }) },
      ],
    })
    const [deposit] = escrowDeposits(await confirmed(market, hash))
    expect(deposit).toMatchObject({ payer: payer.address, price: value })
  })
})

import {
  type LocalChain,
  type Purchase,
  settlePurchases,
  signPurchase,
  startLocalChain,
} from '@referrer/contracts/local'
import { Attribution, AttributionToken } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'
import { type Hash, zeroHash } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { audit } from './audit.ts'
import type { Outcome } from './load.ts'
import { openShop, type Shop } from './market.ts'

let chain: LocalChain
let shop: Shop
let since: bigint
let purchase: Purchase
let transaction: Hash

beforeAll(async () => {
  chain = await startLocalChain()
  shop = await openShop(chain.client, { buyers: 1, relayers: 1 })
  since = await chain.client.getBlockNumber()
  const [buyer] = shop.buyers
  if (!buyer) throw new Error('the shop has no buyer')
  const token = AttributionToken.decodeUnverified(shop.attributionToken)
  const attribution = Attribution.from(token, { salt: zeroHash })
  purchase = await signPurchase(shop.market, buyer, { value: 1_000_000n, attribution })
  transaction = (await settlePurchases(shop.market, [purchase])).transactionHash
})
afterAll(() => chain.close())

const answered = (hash: Hash): Outcome[] => {
  const { nonce } = purchase.authorization
  return [{ payment: { nonce, body: Buffer.alloc(0) }, ms: 1, result: { transaction: hash } }]
}

it('finds what was settled, and what it cost, reverted transactions too', async () => {
  const { gasUsed } = await chain.client.getTransactionReceipt({ hash: transaction })
  const alone = await audit(shop, 'escrow', { since, outcomes: answered(transaction) })
  expect(alone).toEqual({ settled: 1, gasEach: Number(gasUsed), transactions: 1, reverted: 0 })

  const again = chain.client.writeContract({
    account: shop.market.accounts.settler,
    address: shop.market.addresses.SplitRouter,
    abi: splitRouterAbi,
    functionName: 'settle',
    args: [purchase],
    gas: 500_000n,
  })
  // The chain mines it and says so with an error.
  await expect(again).rejects.toThrow('reverted')
  const both = await audit(shop, 'escrow', { since, outcomes: [] })
  expect(both).toMatchObject({ settled: 1, transactions: 2, reverted: 1 })
  expect(both.gasEach).toBeGreaterThan(alone.gasEach)
})

it('finds the used authorisation where nothing need be split', async () => {
  expect(await audit(shop, 'transfer', { since, outcomes: answered(transaction) })).toMatchObject({
    settled: 1,
  })
})

it('refuses figures when a settlement that was answered is not on the chain', async () => {
  await expect(audit(shop, 'escrow', { since, outcomes: answered(zeroHash) })).rejects.toThrow(zeroHash)
})

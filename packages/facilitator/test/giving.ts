// What the gas of a day has cost, by the chain, and shops and wallets that see to it that it is much.
import { listProduct, openMerchant, publishWithProof } from '@referrer/contracts/local'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { type Hex, type LocalAccount, numberToHex, parseEther, parseGwei } from 'viem'
import { type Deed, send } from './abuse/acts.ts'
import type { TestFacilitator } from './harness.ts'

/** Our account of an escrow: its decision, and its release. */
const LATER = 90_000n

/** Base units for gas, by the usual prices of the configuration. */
export const costOf = (gas: bigint): bigint => (gas * 30n + 999n) / 1_000n

export interface Shop {
  merchantId: bigint
  productId: Hex
  attributionToken: string
  /** From now on. */
  commission(bps: number): Deed
}

let shops = 0

/** Somebody else's shop, with a ref link of the usual reviewer. */
export async function newShop(m: TestFacilitator, commissionBps = 2_000): Promise<Shop> {
  shops += 1
  const { market, reviewer } = m
  const { stranger } = market.accounts
  const merchantId = await openMerchant(market, stranger)
  const product = { merchantId, productId: numberToHex(0xb000 + shops, { size: 32 }) }
  await listProduct(market, stranger, product, { commissionBps })
  const { reviewId } = await publishWithProof(market, reviewer.account, {
    agentId: reviewer.agentId,
    product,
    content: '{"rating":5,"description":"Good"}',
    proofId: BigInt(1_000 + shops),
  })
  const attributionToken = await m.mint({
    merchantId: Number(merchantId),
    productId: product.productId,
    reviewId: Number(reviewId),
  })
  const commission = (bps: number): Deed => ({
    by: stranger,
    on: 'MerchantRegistry',
    call: ['setProductTerms', merchantId, product.productId, bps, 0n],
  })
  return { ...product, attributionToken, commission }
}

/** All that the payer has goes to somebody else, ahead of what waits in the pool. */
export async function empty(m: TestFacilitator, payer: LocalAccount): Promise<void> {
  await m.chain.client.setBalance({ address: payer.address, value: parseEther('1') })
  const amount = await m.balanceOf(payer.address)
  await send(m, { by: payer, on: 'USDC', call: ['transfer', m.market.accounts.stranger.address, amount] })
}

/** Accounts with a key get the code of a contract (EIP-7702), ahead of what waits in the pool. */
export async function gainCode(
  m: TestFacilitator,
  accounts: LocalAccount[],
  contractAddress: Hex,
): Promise<void> {
  const { stranger } = m.market.accounts
  const authorizationList = await Promise.all(
    accounts.map(async (account) => {
      const nonce = await m.chain.client.getTransactionCount({ address: account.address })
      if (!account.signAuthorization) throw new Error('the account cannot delegate')
      return account.signAuthorization({ contractAddress, chainId: m.chainId, nonce })
    }),
  )
  await m.chain.client.sendTransaction({
    account: stranger,
    to: stranger.address,
    authorizationList,
    maxPriorityFeePerGas: parseGwei('50'),
    maxFeePerGas: parseGwei('100'),
    gas: 100_000n + 40_000n * BigInt(accounts.length),
  })
}

export interface Bill {
  /** Gas of relayers, whatever became of their transactions. */
  gas: bigint
  purchases: number
  fees: bigint
  /** Base units: the gas with what comes later, less the fees. */
  loss: bigint
}

/** What relayers have spent after a block, and what it has brought. */
export async function billSince(m: TestFacilitator, block: bigint): Promise<Bill> {
  const { client } = m.chain
  const relayers = new Set(m.relayers.map(({ address }) => address.toLowerCase()))
  let gas = 0n
  for (let number = await client.getBlockNumber(); number > block; number -= 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { from, hash } of transactions) {
      if (!relayers.has(from.toLowerCase())) continue
      gas += (await client.getTransactionReceipt({ hash })).gasUsed
    }
  }
  const deposits = await client.getContractEvents({
    address: m.market.addresses.CommissionEscrow,
    abi: commissionEscrowAbi,
    eventName: 'EscrowDeposited',
    fromBlock: block + 1n,
    strict: true,
  })
  const fees = deposits.reduce((sum, { args }) => sum + args.fee, 0n)
  const purchases = deposits.length
  return { gas, purchases, fees, loss: costOf(gas + LATER * BigInt(purchases)) - fees }
}

/** As if it had been given away or lost today, by others. */
export async function alreadyGone(
  m: TestFacilitator,
  { gift = 0n, risk = 0n }: { gift?: bigint; risk?: bigint },
): Promise<void> {
  shops += 1
  const nonce = Buffer.from(numberToHex(shops, { size: 32 }).slice(2), 'hex')
  const day = Math.floor((Date.now() + m.clock.aheadMs) / 86_400_000)
  await m.sql`
    INSERT INTO facilitator.settlements (chain_id, payer, nonce, kind, digest, merchant_id, product_id, review_id, value, state, is_final,
      gift, risk, day)
    VALUES (${m.chainId}, ${Buffer.alloc(20)}, ${nonce}, 'settle', ${nonce}, 999999, ${nonce}, 1, 1, 'open', true, ${gift}, ${risk}, ${day})`
}

export const forget = (m: TestFacilitator) =>
  m.sql`DELETE FROM facilitator.settlements WHERE payer = ${Buffer.alloc(20)}`

// What the chain shows about a payment.
import { Attribution } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import {
  type Address,
  getAbiItem,
  type Hex,
  isAddressEqual,
  isHash,
  type Log,
  type PublicClient,
  parseEventLogs,
  TransactionReceiptNotFoundError,
} from 'viem'
import type { Market } from './market.ts'

/** A purchase as it has to be recorded. */
export interface Wanted {
  payer: Address
  nonce: Hex
  merchantId: bigint
  productId: Hex | undefined
  buyerAgentId: string | undefined
  /** The terms of the ref link. A buyer who settles the payment himself can choose other terms. */
  link: { productId: Hex; reviewId: number; reviewerAgentId: number; cashbackOfCommissionBps: number }
}

export type Shown =
  /** It paid for what was wanted, so much. */
  | { is: 'ours'; transaction: Hex; blockHash: Hex; payer: Address; amount: bigint }
  /** It paid something else. */
  | { is: 'another'; transaction: Hex }
  /** The chain does not show it, or not yet. `isMined`: the named transaction is there, and does something else. */
  | { is: 'absent'; isMined: boolean }

/** How far back an escrow is looked for whose transaction is not the one that was named: a replaced transaction is a few minutes old. */
const LOOK_BACK_BLOCKS = 900n
const DEPOSITED = getAbiItem({ abi: commissionEscrowAbi, name: 'EscrowDeposited' })

/**
 * Reads the named transaction. Where it does not show the payment, it may have been replaced by one with a higher fee: then the escrow's own
 * record of payer and nonce leads to it. Throws where no node answers.
 */
export async function readPurchase(
  client: PublicClient,
  market: Market,
  named: string,
  wanted: Wanted,
): Promise<Shown> {
  const receipt = await receiptOf(client, named)
  let deposit = receipt && depositIn(receipt.logs, market, wanted)
  const escrowed = deposit ? undefined : await escrowOf(client, market, wanted)
  if (escrowed) deposit = depositIn(await logsOf(client, market, escrowed), market, wanted)
  if (!deposit) return { is: 'absent', isMined: receipt !== undefined }
  const { transactionHash: transaction, blockHash, args } = deposit
  return isWanted(args, wanted)
    ? { is: 'ours', transaction, blockHash, payer: args.payer, amount: args.price }
    : { is: 'another', transaction }
}

/** When the block was made, in seconds of our clock, and rather too early: that of the chain may be ahead, or its newest block old. */
export async function timeOf(
  client: PublicClient,
  { blockHash }: { blockHash: Hex },
  now: number,
): Promise<number> {
  const [made, newest] = await Promise.all([client.getBlock({ blockHash }), client.getBlock()])
  return Math.min(Number(made.timestamp), now - Number(newest.timestamp - made.timestamp))
}

async function receiptOf(client: PublicClient, named: string) {
  if (!isHash(named)) return undefined
  try {
    return await client.getTransactionReceipt({ hash: named })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  }
}

async function escrowOf(client: PublicClient, { escrow }: Market, { payer, nonce }: Wanted): Promise<bigint> {
  const args = [payer, nonce] as const
  const call = { address: escrow, abi: commissionEscrowAbi, functionName: 'escrowOf', args } as const
  return (await client.readContract(call))[0]
}

async function logsOf(client: PublicClient, { escrow: address }: Market, escrowId: bigint) {
  const newest = await client.getBlockNumber()
  const fromBlock = newest > LOOK_BACK_BLOCKS ? newest - LOOK_BACK_BLOCKS : 0n
  return client.getLogs({ address, event: DEPOSITED, args: { escrowId }, fromBlock, toBlock: newest })
}

function depositIn(logs: Log[], { escrow }: Market, { payer, nonce }: Wanted) {
  return parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs }).find(
    ({ address, args }) =>
      isAddressEqual(address, escrow) && isAddressEqual(args.payer, payer) && args.nonce === nonce,
  )
}

type Deposit = NonNullable<ReturnType<typeof depositIn>>['args']

function isWanted(deposit: Deposit, { merchantId, productId, buyerAgentId, link }: Wanted): boolean {
  const buyer = buyerAgentId ? BigInt(buyerAgentId) : Attribution.AGENTLESS_BUYER_ID
  return (
    deposit.merchantId === merchantId &&
    deposit.reviewId === BigInt(link.reviewId) &&
    deposit.reviewerAgentId === BigInt(link.reviewerAgentId) &&
    deposit.buyerAgentId === buyer &&
    deposit.cashback === (deposit.commission * BigInt(link.cashbackOfCommissionBps)) / 10_000n &&
    deposit.productId === (productId ?? link.productId)
  )
}

// Compares the escrow of a payment on the chain with the terms of the link when the payment was signed.
import { Attribution, AttributionToken, X402 } from '@referrer/protocol'
import { commissionEscrowAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Hash, isAddressEqual, type ParseEventLogsReturnType, parseEventLogs } from 'viem'
import { z } from 'zod'
import { withBackend } from '../backend.ts'
import { type Chain, readMerchantRegistry } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import type { Entry } from './journal.ts'
import type { Settled } from './payment-state.ts'

type Deposit = ParseEventLogsReturnType<typeof commissionEscrowAbi, 'EscrowDeposited', true>[number]

const BPS = 10_000n

/** The deposit of this payment in a transaction. Null when the transaction has another deposit or none, undefined when it is not mined. */
export async function depositIn(
  { client }: Chain,
  entry: Entry,
  hash: Hash,
): Promise<Deposit | null | undefined> {
  const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
  if (!receipt) return undefined
  const deposits = parseEventLogs({
    abi: commissionEscrowAbi,
    eventName: 'EscrowDeposited',
    logs: receipt.logs,
  })
  return deposits.find((deposit) => isOf(entry, deposit)) ?? null
}

const isOf = (entry: Entry, { address, args }: Deposit): boolean =>
  isAddressEqual(address, entry.escrow) &&
  isAddressEqual(args.payer, entry.payer) &&
  args.nonce === entry.nonce

/** The deposit of a settled payment: in one of the reported transactions, else found in the logs. */
async function findDeposit(
  chain: Chain,
  entry: Entry,
  { escrowId }: Settled,
  named: (Hash | undefined)[],
): Promise<Deposit | undefined> {
  for (const hash of named) {
    const deposit = hash && (await depositIn(chain, entry, hash))
    if (deposit) return deposit
  }
  const logs = await chain.client
    .getContractEvents({
      address: entry.escrow,
      abi: commissionEscrowAbi,
      eventName: 'EscrowDeposited',
      args: { escrowId: BigInt(escrowId) },
      fromBlock: BigInt(entry.fromBlock),
      strict: true,
    })
    .catch(() => [])
  return logs.find((deposit) => isOf(entry, deposit))
}

/** Adds to a settled payment its transaction and its differences from the link; returns what could not be checked. */
export async function inspect(
  context: Context,
  chain: Chain,
  entry: Entry,
  money: Settled,
  named: (Hash | undefined)[],
): Promise<string[]> {
  const deposit = await findDeposit(chain, entry, money, named)
  if (!deposit) {
    return [
      `The terms of escrow ${money.escrowId} could not be read from the chain: compare reviewer, review and cashback with get_escrow_terms of the marketplace.`,
    ]
  }
  money.transaction = deposit.transactionHash
  const promised = promisedBy(entry)
  money.differences = differencesOf(promised, entry, deposit)
  return checkMultiplier(context, chain, promised, entry, deposit, money)
}

/**
 * The link was verified before it was stored. The product is the one that the shop offered when the payment was signed. Only the fields
 * that were read then are read again: the rest is chosen by the shop.
 */
function promisedBy({ token, header, agentId }: Entry) {
  const terms = AttributionToken.decodeUnverified(token)
  const { accepted } = Object(X402.decodeHeader(header)) as { accepted?: unknown }
  return {
    ...terms,
    productId: X402.PaymentRequirements.parse(accepted).extra.productId ?? terms.productId,
    buyerAgentId: agentId === null ? Attribution.AGENTLESS_BUYER_ID : BigInt(agentId),
  }
}

type Promised = ReturnType<typeof promisedBy>

function differencesOf(promised: Promised, entry: Entry, { args }: Deposit): string[] {
  const agent = (id: bigint) => (id === Attribution.AGENTLESS_BUYER_ID ? 'none' : String(id))
  const cashback = (args.commission * BigInt(promised.cashbackOfCommissionBps)) / BPS
  const points: [string, string | number | bigint, string | bigint][] = [
    ['merchant', promised.merchantId, args.merchantId],
    ['product', promised.productId, args.productId],
    ['review', promised.reviewId, args.reviewId],
    ['reviewer agent', promised.reviewerAgentId, args.reviewerAgentId],
    ['buyer agent', agent(promised.buyerAgentId), agent(args.buyerAgentId)],
    ['price', entry.amount, args.price],
    ['cashback', cashback, args.cashback],
  ]
  return points
    .filter(([, expected, actual]) => String(expected) !== String(actual))
    .map(([what, expected, actual]) => `${what} is ${actual} in the escrow and ${expected} by the link`)
}

/**
 * The commission must follow from the product's rate and either of two multipliers: the link's, or the one that the reviewer's rank gives now,
 * since the facilitator settles with that. The rate before or after the block is accepted: the merchant may have changed it in that block.
 */
async function checkMultiplier(
  context: Context,
  chain: Chain,
  { reviewerAgentId, commissionMultiplierBps }: Promised,
  entry: Entry,
  { args, blockNumber }: Deposit,
  money: Settled,
): Promise<string[]> {
  const products = await readProducts(chain, entry, args, [blockNumber, blockNumber - 1n]).catch(
    () => undefined,
  )
  if (!products) return ["The product's commission rate could not be read: the commission was not checked."]
  const isFrom = (multiplierBps: number) =>
    products.some(
      ({ commissionBps }) =>
        (args.price * BigInt(commissionBps) * BigInt(multiplierBps)) / (BPS * BPS) === args.commission,
    )
  if (isFrom(commissionMultiplierBps)) return []
  const [product] = products
  const kind = product?.productType === 0 ? 'repeat' : 'one_off'
  const now = await readMultiplier(context, chain, reviewerAgentId, kind).catch(() => undefined)
  if (now === undefined) {
    return [
      `The commission of ${args.commission} USDC base units does not follow from the multiplier of the link, and the marketplace did not tell the one in force: compare it with get_review_rank of agent ${reviewerAgentId}.`,
    ]
  }
  if (!isFrom(now)) {
    money.differences.push(
      `commission is ${args.commission} USDC base units in the escrow, which follows neither from the multiplier of the link (${commissionMultiplierBps} basis points) nor from the one in force (${now})`,
    )
  }
  return []
}

/** The product as of each of the blocks. */
async function readProducts(
  chain: Chain,
  { escrow }: Entry,
  { merchantId, productId }: Deposit['args'],
  blocks: bigint[],
) {
  const address = await readMerchantRegistry(chain, escrow)
  return Promise.all(
    blocks.map((blockNumber) =>
      chain.client.readContract({
        address,
        abi: merchantRegistryAbi,
        functionName: 'getProduct',
        args: [merchantId, productId],
        blockNumber,
      }),
    ),
  )
}

const Multiplier = z.object({ commission_multiplier_bps: z.int() })
const Rank = z.object({ repeat: Multiplier, one_off: Multiplier })

async function readMultiplier(
  context: Context,
  { chainId }: Chain,
  reviewerAgentId: number,
  kind: keyof z.output<typeof Rank>,
): Promise<number> {
  const rank = await withBackend(context, (ask) =>
    ask('get_review_rank', { agent_id: reviewerAgentId, chain_id: chainId }),
  )
  return Rank.parse(rank)[kind].commission_multiplier_bps
}

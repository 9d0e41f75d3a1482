// What became of an authorisation. Only the chain's word counts.
import { commissionEscrowAbi, sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Hash, isAddressEqual, parseEventLogs } from 'viem'
import type { Chain } from '../chain/chain.ts'
import { time, whole } from '../fields.ts'
import type { Entry, Outcome } from './journal.ts'

export type Money =
  | Outcome
  /** It may still be used, until then by the chain's clock. */
  | { state: 'open'; until: number }
  /** The token took it, and nobody has split it. */
  | { state: 'unsplit' }

/** Blocks that were almost forgotten may come back: so long is waited beyond the end. */
const REORGANISATION_SECONDS = 20

/** All of it as of one block: the parts of two would not fit together. */
export async function lookAtMoney({ client }: Chain, entry: Entry): Promise<Money> {
  const { number: blockNumber, timestamp } = await client.getBlock()
  const args = [entry.payer, entry.nonce] as const
  const [[escrowId], isUsed, isRefunded] = await Promise.all([
    client.readContract({
      address: entry.escrow,
      abi: commissionEscrowAbi,
      functionName: 'escrowOf',
      args,
      blockNumber,
    }),
    client.readContract({
      address: entry.usdc,
      abi: sandboxUSDCAbi,
      functionName: 'authorizationState',
      args,
      blockNumber,
    }),
    client.readContract({
      address: entry.router,
      abi: splitRouterAbi,
      functionName: 'refunded',
      args,
      blockNumber,
    }),
  ])
  if (escrowId !== 0n)
    return { state: 'settled', escrowId: whole(escrowId, 'escrow'), transaction: null, isServed: false }
  if (isRefunded) return { state: 'refunded' }
  if (isUsed) return { state: 'unsplit' }
  const until = entry.validBefore + REORGANISATION_SECONDS
  return Number(timestamp) >= until ? { state: 'never' } : { state: 'open', until }
}

/** Whether this transaction is the one that split it. Undefined: it is not mined, as far as can be told. */
export async function isSplitIn({ client }: Chain, entry: Entry, hash: Hash): Promise<boolean | undefined> {
  const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
  if (!receipt) return undefined
  return parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs: receipt.logs }).some(
    ({ address, args }) =>
      isAddressEqual(address, entry.escrow) &&
      isAddressEqual(args.payer, entry.payer) &&
      args.nonce === entry.nonce,
  )
}

/** The transaction that split it, where those that others name are not it. */
export async function findTransaction(
  chain: Chain,
  entry: Entry,
  escrowId: number,
  named: (Hash | undefined)[],
): Promise<Hash | null> {
  for (const hash of named) if (hash && (await isSplitIn(chain, entry, hash))) return hash
  const logs = await chain.client
    .getContractEvents({
      address: entry.escrow,
      abi: commissionEscrowAbi,
      eventName: 'EscrowDeposited',
      args: { escrowId: BigInt(escrowId) },
      fromBlock: BigInt(entry.fromBlock),
    })
    .catch(() => [])
  return logs[0]?.transactionHash ?? null
}

export const isFinal = (money: Money): money is Outcome => money.state !== 'open' && money.state !== 'unsplit'

/** For the caller: where the money is, and what to do. */
export function tell(money: Money, { amount, payer, nonce, key }: Entry): string {
  switch (money.state) {
    case 'settled':
      return `The payment went through: ${amount} base units of USDC, escrow ${money.escrowId}${money.transaction ? `, transaction ${money.transaction}` : ''}. Do not pay again: ${key ? 'call again with the same idempotency_key, and the shop is handed the same payment once more, or ' : ''}ask the shop for what was bought, with that transaction.`
    case 'never':
      return 'Nothing was paid, and the authorisation has expired unused: it is safe to try again.'
    case 'refunded':
      return `The payment of ${amount} base units went back to ${payer}: it is safe to try again.`
    case 'unsplit':
      return `The token took the authorisation and nobody has split the payment of ${amount} base units yet: do not pay again, and ask the facilitator for the settlement of ${payer} ${nonce}.`
    case 'open':
      return `Nothing has been paid so far, but the signed authorisation of ${amount} base units can still be used. Do not pay again until ${time(money.until)}; from then on it is safe to try again, and this tool checks first what happened.`
  }
}

// What became of an authorisation. Only the chain's word counts.
import { commissionEscrowAbi, sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
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

/** All of it as of one block, the newest unless another is named: the parts of two would not fit together. */
export async function lookAtMoney({ client }: Chain, entry: Entry, at?: number): Promise<Money> {
  const { number: blockNumber, timestamp } = await client.getBlock(
    at === undefined ? {} : { blockNumber: BigInt(at) },
  )
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
  if (escrowId !== 0n) {
    return {
      state: 'settled',
      escrowId: whole(escrowId, 'escrow'),
      transaction: null,
      isServed: false,
      block: Number(blockNumber),
      differences: [],
    }
  }
  if (isRefunded) return { state: 'refunded' }
  if (isUsed) return { state: 'unsplit' }
  const until = entry.validBefore + REORGANISATION_SECONDS
  return Number(timestamp) >= until ? { state: 'never' } : { state: 'open', until }
}

export type Settled = Extract<Money, { state: 'settled' }>

export const isFinal = (money: Money): money is Outcome => money.state !== 'open' && money.state !== 'unsplit'

/** For the caller: where the money is, and what to do. */
export function tell(money: Money, { amount, payer, nonce, key }: Entry): string {
  switch (money.state) {
    case 'settled':
      return `The payment went through: ${amount} USDC base units, escrow ${money.escrowId}${money.transaction ? `, transaction ${money.transaction}` : ''}.${tellDifferences(money)} Do not pay again: ${key ? 'call again with the same idempotency_key, and the shop is handed the same payment once more, or ' : ''}ask the shop for what was bought, with that transaction.`
    case 'never':
      return 'Nothing was paid, and the authorisation has expired unused: it is safe to try again.'
    case 'refunded':
      return `The payment of ${amount} USDC base units went back to ${payer}: it is safe to try again.`
    case 'unsplit':
      return `The token took the authorisation and nobody has split the payment of ${amount} USDC base units yet: do not pay again, and ask the facilitator for the settlement of ${payer} ${nonce}.`
    case 'open':
      return `Nothing has been paid so far, but the signed authorisation of ${amount} USDC base units can still be used. Do not pay again until ${time(money.until)}; from then on it is safe to try again, and this tool checks first what happened.`
  }
}

/** An escrow on other terms was paid all the same: it is told, and never as a success. */
export const tellDifferences = ({ differences }: Pick<Settled, 'differences'>): string =>
  differences.length === 0
    ? ''
    : ` It was not settled on the terms of the ref link: ${differences.join('; ')}. Show this to the owner, and report it to the marketplace with the transaction.`

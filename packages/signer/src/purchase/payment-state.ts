// Reads the state of an authorisation from the chain, which alone decides it.
import { commissionEscrowAbi, sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import type { Chain } from '../chain/chain.ts'
import { time, whole } from '../fields.ts'
import type { Entry, Outcome } from './journal.ts'

export type PaymentState =
  | Outcome
  /** The authorisation can still be used, until this time of the chain in Unix seconds. */
  | { state: 'open'; until: number }
  /** The token has moved the money, and it is not split yet. */
  | { state: 'unsplit' }

/** A reorganisation may bring back an earlier block time, so an authorisation counts as expired only this long after its end. */
const REORGANISATION_SECONDS = 20

/** Reads everything at one block, by default the newest, so that the parts are consistent. */
export async function readPaymentState({ client }: Chain, entry: Entry, at?: number): Promise<PaymentState> {
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

export type Settled = Extract<PaymentState, { state: 'settled' }>

export const isFinal = (money: PaymentState): money is Outcome =>
  money.state !== 'open' && money.state !== 'unsplit'

/** Text for the caller: where the money is, and what to do. */
export function describePayment(money: PaymentState, { amount, payer, nonce, key }: Entry): string {
  switch (money.state) {
    case 'settled':
      return `The payment went through: ${amount} USDC base units, escrow ${money.escrowId}${money.transaction ? `, transaction ${money.transaction}` : ''}.${describeDifferences(money)} Do not pay again: ${key ? 'call again with the same idempotency_key, and the shop is handed the same payment once more, or ' : ''}ask the shop for what was bought, with that transaction.`
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

/** Text about an escrow that was paid on other terms than the link: always an error, never a success. */
export const describeDifferences = ({ differences }: Pick<Settled, 'differences'>): string =>
  differences.length === 0
    ? ''
    : ` It was not settled on the terms of the ref link: ${differences.join('; ')}. Show this to the owner, and report it to the marketplace with the transaction.`

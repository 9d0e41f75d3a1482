// Reads from its logs what a mined transaction did for each payment in it.
import { compileEvent } from '@referrer/chain'
import { commissionEscrowAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Address, getAbiItem, type Hash, type Hex, toEventSelector } from 'viem'
import type { Chain } from '../context.ts'
import { keyText, type PaymentKey } from '../payment/payment.ts'
import { explainRevert } from './revert.ts'
import type { Ending } from './store.ts'

export interface Receipt {
  transactionHash: Hash
  status: Hex
  gasUsed: Hex
  logs: { address: Address; topics: [Hex, ...Hex[]]; data: Hex }[]
}

const deposited = getAbiItem({ abi: commissionEscrowAbi, name: 'EscrowDeposited' })
const failed = getAbiItem({ abi: splitRouterAbi, name: 'PurchaseFailed' })

const readers = new Map(
  [deposited, failed].map((event) => [
    toEventSelector(event),
    { name: event.name, read: compileEvent(event) },
  ]),
)

type Told = { payer: Address; nonce: Hex; reason?: Hex; fee?: bigint }

/** In the order of the keys. A payment without a log failed, as does every payment of a transaction that reverted. */
export function endingsOf(
  { chainId, contracts: { CommissionEscrow, SplitRouter } }: Chain,
  { transactionHash, status, logs }: Receipt,
  keys: PaymentKey[],
): Omit<Ending, 'used'>[] {
  const ours = new Set([CommissionEscrow.toLowerCase(), SplitRouter.toLowerCase()])
  const told = new Map<string, Omit<Ending, 'key' | 'used'>>()
  for (const log of status === '0x1' ? logs : []) {
    const reader = readers.get(log.topics[0])
    if (!reader || !ours.has(log.address.toLowerCase())) continue
    const { payer, nonce, reason, fee = 0n } = reader.read(log) as Told
    const of = keyText({ chainId, payer, nonce })
    if (reader.name === 'PurchaseFailed') {
      told.set(of, {
        state: 'failed',
        transaction: null,
        message: explainRevert(reason ?? '0x').message,
        fee,
      })
    } else {
      told.set(of, { state: 'settled', transaction: transactionHash, message: null, fee })
    }
  }
  const silence = {
    state: 'failed',
    transaction: null,
    message: 'the transaction reverted',
    fee: 0n,
  } as const
  return keys.map((key) => ({ key, ...(told.get(keyText(key)) ?? silence) }))
}

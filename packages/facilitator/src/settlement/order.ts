// What the split router is asked to do for one payment.
import type { Attribution } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'
import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  keccak256,
  prepareEncodeFunctionData,
  toFunctionSelector,
} from 'viem'
import { keyOf, type Payment, type PaymentKey } from '../payment/payment.ts'
import type { Deposit } from './types.ts'

/** Pulls the money and splits it; splits what somebody else pulled; splits a plain transfer. */
export type OrderKind = 'settle' | 'finish' | 'deposit'

/** One payment and one thing to do with it. Orders of kind `settle` can share a transaction. */
export interface Order {
  kind: OrderKind
  key: PaymentKey
  digest: Hex
  attribution: Attribution.Attribution
  value: bigint
  /** The call that does it alone. */
  data: Hex
  /** Left out: a plain transfer. */
  payment?: Payment
}

const router = { abi: splitRouterAbi } as const
const purchaseOf = ({ authorization, attribution }: Payment) => ({ authorization, attribution })

function orderOf(kind: OrderKind, payment: Payment, data: Hex): Order {
  const { digest, attribution, authorization } = payment
  return { kind, key: keyOf(payment), digest, attribution, value: authorization.value, data, payment }
}

const SETTLE = prepareEncodeFunctionData({ ...router, functionName: 'settle' })
const SETTLE_BATCH = toFunctionSelector(getAbiItem({ ...router, name: 'settleBatch' }))
const settled = new WeakMap<Payment, Order>()

/** Encoded once: for the trial, the gas and the transaction. */
export function toSettle(payment: Payment): Order {
  let order = settled.get(payment)
  if (!order) {
    order = orderOf('settle', payment, encodeFunctionData({ ...SETTLE, args: [purchaseOf(payment)] }))
    settled.set(payment, order)
  }
  return order
}

export function toFinish(payment: Payment): Order {
  const data = encodeFunctionData({ ...router, functionName: 'finish', args: [purchaseOf(payment)] })
  return orderOf('finish', payment, data)
}

export function toSplitDeposit(deposit: Deposit): Order {
  const { charge, attribution, digest } = deposit
  const data = encodeFunctionData({ ...router, functionName: 'splitDeposit', args: [charge, attribution] })
  return { kind: 'deposit', key: keyOfDeposit(deposit), digest, attribution, value: charge.value, data }
}

export function keyOfDeposit({
  chainId,
  charge: { payer, txHash },
}: Pick<Deposit, 'chainId'> & { charge: Pick<Deposit['charge'], 'payer' | 'txHash'> }): PaymentKey {
  return { chainId, payer: payer.toLowerCase() as Address, nonce: chargeNonce(txHash) }
}

const CHARGE_COMMITMENT_TYPEHASH = keccak256(
  new TextEncoder().encode(
    'ChargeCommitment(bytes32 txHash,bytes32 tokenHash,uint256 buyerAgentId,address payer)',
  ),
)

/** The router's own name for a charged transaction. */
export function chargeNonce(txHash: Hex): Hex {
  return keccak256(
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [CHARGE_COMMITMENT_TYPEHASH, txHash]),
  )
}

/** One transaction for all of them. A single purchase goes by itself: that costs less. */
export function callOf(orders: Order[]): Hex {
  const [only, ...others] = orders
  if (only && others.length === 0) return only.data
  const stray = orders.find(({ kind }) => kind !== 'settle')
  if (stray) throw new Error(`an order of kind ${stray.kind} cannot be part of a batch`)
  // `settle` and `settleBatch` encode a purchase alike: as what comes after the selector and one offset.
  const purchases = orders.map(({ data }) => data.slice(2 + 8 + 64))
  let offset = purchases.length * 32
  const offsets = purchases.map((purchase) => {
    const at = offset
    offset += purchase.length / 2
    return word(at)
  })
  return concat([
    SETTLE_BATCH,
    `0x${word(32)}${word(purchases.length)}${offsets.join('')}${purchases.join('')}`,
  ])
}

const word = (number: number) => number.toString(16).padStart(64, '0')

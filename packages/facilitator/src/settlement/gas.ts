// How much gas a transaction needs, from what its calls used when they were tried.
import type { Hex } from 'viem'
import type { Order } from './order.ts'
import { MOST_GAS } from './probe.ts'
import { GAS_PER_PURCHASE } from './simulation.ts'

/** An order that was tried, and the gas to count with. */
export interface Tried {
  order: Order
  gas: bigint
}

const TRANSACTION = 21_000n
const ZERO_BYTE = 4n
const OTHER_BYTE = 16n
/** What a batch does for each purchase around the purchase itself: 1,320 were measured. */
const AROUND_PURCHASE = 2_000n
/**
 * What the first purchase of a transaction uses beyond the others, who find everything touched: 37,000 were measured. Of several that were
 * tried together any may be sent alone.
 */
const FIRST_TOUCH = 60_000n
/** The router takes no purchase of a batch that it could not give this much: more than enough for the first touch too. */
const BATCH_RESERVE = GAS_PER_PURCHASE + GAS_PER_PURCHASE / 32n + 10_000n

/** An eighth more than it used: the chain goes on between the trial and the block. */
const withRoom = ({ gas }: Tried) => gas + gas / 8n + AROUND_PURCHASE

export function gasLimit(tried: Tried[], data: Hex): bigint {
  const purchases = tried.reduce((sum, each) => sum + withRoom(each), 0n)
  return TRANSACTION + dataGas(data) + purchases + (tried.length > 1 ? BATCH_RESERVE : FIRST_TOUCH)
}

/** As many, from the first on, as one transaction can hold. */
export function thatFit(tried: Tried[]): number {
  let room = MOST_GAS - TRANSACTION - BATCH_RESERVE
  const beyond = tried.findIndex((each) => {
    room -= withRoom(each) + dataGas(each.order.data)
    return room < 0n
  })
  return beyond === -1 ? tried.length : Math.max(beyond, 1)
}

function dataGas(data: Hex): bigint {
  let zeros = 0
  const bytes = Buffer.from(data.slice(2), 'hex')
  for (const byte of bytes) if (byte === 0) zeros += 1
  return BigInt(zeros) * ZERO_BYTE + BigInt(bytes.length - zeros) * OTHER_BYTE
}

// How much gas a transaction needs, from what its calls used when they were tried.
import type { Hash, Hex } from 'viem'
import { MOST_GAS } from '../onchain/probe.ts'
import { isPurchase, type Order } from './order.ts'
import { GAS_PER_PURCHASE } from './simulation.ts'

/** An order that was tried. */
export interface Tried {
  order: Order
  /** What its trial used. */
  gas: bigint
  /** Hash of the payer's code; undefined: a plain account. */
  code: Hash | undefined
  /** What it costs us, in base units. */
  cost: bigint
  /** The platform's fee that is expected; 0n where the money goes back. */
  fee: bigint
}

const TRANSACTION = 21_000n
const ZERO_BYTE = 4n
const OTHER_BYTE = 16n
/** Overhead of a batch for each purchase: 1,320 were measured. */
const AROUND_PURCHASE = 2_000n
/**
 * What the first purchase of a transaction uses beyond the others, for storage that is still cold: 37,000 were measured. Any purchase of
 * a trial may be sent alone, and is then the first.
 */
const FIRST_TOUCH = 60_000n
/** The router needs this much left before each purchase of a batch; it covers the cold storage of the first one too. */
const BATCH_RESERVE = GAS_PER_PURCHASE + GAS_PER_PURCHASE / 32n + 10_000n
/** How many plain accounts of a batch may gain code before the block, and burn all that the router gives them, while the others still settle. */
const SURPRISES = 2n
/** What we do for an escrow later: its decision, and its release. */
const LATER = 90_000n
/** A purchase in a batch, as measured. */
const USUAL = 105_000n
/** What a purchase that failed used at least: its data, and the token's refusal. */
const LEAST_BURNED = 30_000n

/** An eighth more than it used: the chain goes on between the trial and the block. */
const withRoom = (gas: bigint) => gas + gas / 8n + AROUND_PURCHASE
/** In a batch a wallet with code may use all that the router gives it, and must not take the gas of others. */
const inBatch = ({ gas, code }: Tried) => withRoom(code ? GAS_PER_PURCHASE : gas)

/** Alone, a payment cannot burn much more than its trial used. */
export function gasLimit(tried: Tried[], data: Hex): bigint {
  const [only, ...others] = tried
  const around = TRANSACTION + dataGas(data)
  if (only && others.length === 0) return around + withRoom(only.gas) + FIRST_TOUCH
  const purchases = tried.reduce((sum, each) => sum + inBatch(each), 0n)
  let limit = around + purchases + BATCH_RESERVE + SURPRISES * GAS_PER_PURCHASE
  if (limit > MOST_GAS) limit = MOST_GAS
  return limit
}

/** Of the transaction that deploys a wallet, whose trial used so much. */
export const deploymentGasLimit = (used: bigint, data: Hex): bigint =>
  TRANSACTION + dataGas(data) + withRoom(used) + used / 63n

/** The gas of an order and of all that follows from it, when so many share its transaction. */
export const lifeGas = (order: Order, gas: bigint, sharers: number): bigint =>
  gas + dataGas(order.data) + TRANSACTION / BigInt(sharers) + (isPurchase(order) ? LATER : 0n)

/** How many of them, from the first on, fit into one transaction. */
export function thatFit(tried: Tried[]): number {
  let room = MOST_GAS - TRANSACTION - BATCH_RESERVE
  const beyond = tried.findIndex((each) => {
    room -= inBatch(each) + dataGas(each.order.data)
    return room < 0n
  })
  return beyond === -1 ? tried.length : Math.max(beyond, 1)
}

/** Logs do not tell what each purchase of a batch used: the failed ones share what is beyond the usual gas of the others. */
export function burnedEach(gasUsed: bigint, endings: { state: string }[]): bigint {
  const failed = BigInt(endings.filter(({ state }) => state === 'failed').length)
  if (failed === 0n) return 0n
  const burned = (gasUsed - USUAL * (BigInt(endings.length) - failed)) / failed
  return burned > LEAST_BURNED ? burned : LEAST_BURNED
}

function dataGas(data: Hex): bigint {
  let zeros = 0
  const bytes = Buffer.from(data.slice(2), 'hex')
  for (const byte of bytes) if (byte === 0) zeros += 1
  return BigInt(zeros) * ZERO_BYTE + BigInt(bytes.length - zeros) * OTHER_BYTE
}

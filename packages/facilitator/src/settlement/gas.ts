// How much gas a transaction needs, from what its calls used when they were tried, and what it is worth.
import type { Hex } from 'viem'
import type { Config } from '../config.ts'
import { MOST_GAS } from '../onchain/probe.ts'
import type { Order } from './order.ts'
import { GAS_PER_PURCHASE } from './simulation.ts'
import type { Outcome } from './states.ts'

/** An order that was tried. Amounts in base units. */
export interface Tried {
  order: Order
  /** What its trial used. */
  gas: bigint
  /** What it costs us. */
  cost: bigint
  /** The platform's fee that is expected. */
  fee: bigint
  /** What it costs beyond that fee, and what it may cost at worst. */
  gift: bigint
  risk: bigint
  /** Of the payer's wallet: no sale has come of it yet. */
  isDeployment?: true
}

const TRANSACTION = 21_000n
const ZERO_BYTE = 4n
const OTHER_BYTE = 16n
/** Overhead of a batch for each purchase: 1,320 were measured, and 11,000 where it fails. */
const AROUND_PURCHASE = 2_000n
const AROUND_FAILURE = 12_000n
/**
 * What the first purchase of a transaction uses beyond the others, for storage that is still cold: 37,000 were measured. Any purchase of
 * a trial may be sent alone, and is then the first.
 */
const FIRST_TOUCH = 60_000n
/** The router needs this much left before each purchase of a batch. */
const BATCH_RESERVE = GAS_PER_PURCHASE / 32n + 10_000n
/** What we do for an escrow later: its decision, and its release. */
const LATER = 90_000n
/** A purchase in a batch, as measured. */
const USUAL = 105_000n
/** What a purchase that failed used at least: its data, and the token's refusal. */
const LEAST_BURNED = 30_000n
/** And in a batch at most. */
const MOST_BURNED = TRANSACTION + GAS_PER_PURCHASE + AROUND_FAILURE

/** Of each purchase of a batch: all that the router gives it, so that none of them, whatever it does, takes the gas of another. */
const inBatch = ({ data }: Order) => GAS_PER_PURCHASE + AROUND_FAILURE + dataGas(data)

/** An eighth more than it used: the chain goes on between the trial and the block. Alone, a payment cannot burn much more than that. */
const alone = (gas: bigint) => gas + gas / 8n + AROUND_PURCHASE + FIRST_TOUCH

export function gasLimit(tried: Pick<Tried, 'order' | 'gas'>[], data: Hex): bigint {
  const [only, ...others] = tried
  if (only && others.length === 0) return TRANSACTION + dataGas(data) + alone(only.gas)
  return TRANSACTION + BATCH_RESERVE + tried.reduce((sum, { order }) => sum + inBatch(order), 0n)
}

/** The most that an order uses over its life, in whatever transaction it is sent, and with its part of what that takes for all. */
export function mostGas({ order, gas }: Pick<Tried, 'order' | 'gas'>, isShared: boolean): bigint {
  const most = dataGas(order.data) + alone(gas)
  return TRANSACTION + LATER + (isShared && inBatch(order) > most ? inBatch(order) : most)
}

/** Of the transaction that deploys a wallet, whose trial used so much. */
export const deploymentGasLimit = (used: bigint, data: Hex): bigint =>
  TRANSACTION + dataGas(data) + used + used / 8n + used / 63n + AROUND_PURCHASE

/** The gas of an order and of all that follows from it. Whether others share its transaction is not known before it is written. */
export const lifeGas = (order: Order, gas: bigint): bigint => gas + dataGas(order.data) + TRANSACTION + LATER

/** How many of them, from the first on, fit into one transaction. */
export function thatFit(tried: Pick<Tried, 'order'>[]): number {
  let room = MOST_GAS - TRANSACTION - BATCH_RESERVE
  const beyond = tried.findIndex(({ order }) => {
    room -= inBatch(order)
    return room < 0n
  })
  return beyond === -1 ? tried.length : Math.max(beyond, 1)
}

/**
 * Of each purchase of a transaction, over its life. Logs do not tell what each used: the failed ones share what is beyond the usual gas of
 * the others, up to what a purchase may use, and the others share the rest.
 */
export function usedEach(gasUsed: bigint, endings: { state: Outcome }[]): Record<Outcome, bigint> {
  const failed = BigInt(endings.filter(({ state }) => state === 'failed').length)
  const settled = BigInt(endings.length) - failed
  let burned = 0n
  if (failed > 0n) burned = (gasUsed - USUAL * settled + failed - 1n) / failed
  if (failed > 0n && burned < LEAST_BURNED) burned = LEAST_BURNED
  if (settled > 0n && burned > MOST_BURNED) burned = MOST_BURNED
  const rest = gasUsed - burned * failed
  return { settled: settled > 0n ? (rest + settled - 1n) / settled + LATER : 0n, failed: burned }
}

function dataGas(data: Hex): bigint {
  const bytes = Buffer.from(data.slice(2), 'hex')
  let zeros = 0
  for (const byte of bytes) if (byte === 0) zeros += 1
  return BigInt(zeros) * ZERO_BYTE + BigInt(bytes.length - zeros) * OTHER_BYTE
}

/** Wei in an ether, over base units in a dollar. */
const SCALE = 10n ** 12n

/** In base units, rounded up, at the prices of the configuration. */
export const costOf = (
  { gasPriceWei, ethPriceUsd }: Pick<Config, 'gasPriceWei' | 'ethPriceUsd'>,
  gas: bigint,
): bigint => (gas * gasPriceWei * ethPriceUsd + SCALE - 1n) / SCALE

import { type Hex, hexToBigInt, keccak256, numberToHex } from 'viem'
import { smallest } from '../bigint.ts'
import { RpcError } from '../rpc/index.ts'
import { deliver, type Parcel } from './courier.ts'
import { type Fees, quote } from './fees.ts'
import { isRevert, revertReason } from './revert-reason.ts'
import type { Sight } from './sight.ts'
import { giveNonce, hasUnfunded, nextNonce, postpone, readWaiting, refuse, storeSigned } from './store.ts'
import type { Desk, Flight, Intent, Signed, Waiting } from './types.ts'

/** A revert is believed when it was seen this often in a row: a node that lags reverts what depends on news. */
const REVERTS_TO_FAIL = 3
/** Nodes further behind the best than this do not count when a nonce is chosen. */
const STALE_BLOCKS = 32
const LEAST_GAS = 21_000n

/**
 * Gives nonces to those in the line, as many as may be in flight, oldest first. What cannot go now lets others pass. Returns how many it
 * sent.
 */
export async function dispatch(desk: Desk, unmined: Flight[], sights: Sight[]): Promise<number> {
  const { leadership, maxInFlight } = desk
  const signer = signerOf(desk)
  const free = maxInFlight - unmined.length
  if (free <= 0) return 0
  const spent = unmined.reduce((sum, flight) => sum + costOf(flight), 0n)
  const isFunded =
    desk.unfunded !== undefined && (await readBalance(desk)) - spent >= (desk.unfunded.cheapest ?? 0n)
  if (isFunded) desk.unfunded = { cheapest: undefined }
  const line = await readWaiting(leadership.sql, signer, { now: desk.now(), limit: free, isFunded })
  if (line.length === 0) return 0
  const fees = await readFees(desk)
  let balance = (await readBalance(desk)) - spent
  let nonce = Math.max(await nextNonce(leadership.sql, signer), countOf(sights))
  const open = unmined.map((flight) => flight.nonce)
  const parcels: Parcel[] = []

  for (const intent of line) {
    const gas = await prepare(desk, intent, fees, balance, open)
    if (gas === undefined) continue
    const signed = await sign(desk, intent, nonce, gas, fees)
    desk.emit({ type: 'signed', intent: intent.id, nonce, hash: signed.hash })
    const given = nonce
    const isStored = await leadership.transaction(async (tx) => {
      if (!(await giveNonce(tx, signer, intent.id, given, gas))) return false
      await storeSigned(tx, signer, intent.id, given, signed)
      return true
    })
    if (!isStored) continue
    desk.emit({ type: 'stored', intent: intent.id, nonce, hash: signed.hash })
    parcels.push({ intent: intent.id, nonce, signed, to: desk.rpc.endpoints })
    balance -= intent.value + gas * fees.maxFeePerGas
    open.push(nonce)
    nonce += 1
  }
  await deliver(desk, parcels)
  if (desk.unfunded && !(await hasUnfunded(leadership.sql, signer))) {
    desk.unfunded = undefined
    desk.emit({ type: 'funded' })
  }
  return parcels.length
}

/** Of nodes that are up to date, the one that knows least: to choose a nonce that is used costs time, to leave one out stops everything. */
function countOf(sights: Sight[]): number {
  const best = Math.max(...sights.map(({ head }) => head))
  return Math.min(...sights.filter(({ head }) => head >= best - STALE_BLOCKS).map(({ count }) => count))
}

export const signerOf = ({ chainId, account }: Desk) => ({ chainId, address: account.address })

const costOf = ({ value, gas, signed }: Flight) => value + gas * (signed.at(-1)?.maxFeePerGas ?? 0n)

/** The gas that an intent needs, or nothing when it cannot go now; then it says why. */
async function prepare(
  desk: Desk,
  intent: Waiting,
  fees: Fees & { baseFee: bigint },
  balance: bigint,
  open: number[],
): Promise<bigint | undefined> {
  if (fees.baseFee > desk.maxFeePerGas) {
    const reason = `waits for a lower base fee: it is ${fees.baseFee} wei, the cap is ${desk.maxFeePerGas}`
    return hold(desk, intent, reason)
  }
  const costWith = (gas: bigint) => intent.value + gas * fees.maxFeePerGas
  const least = costWith(LEAST_GAS)
  if (least > balance) return holdUnfunded(desk, intent, least, balance)
  const gas = intent.knownGas ?? (await simulate(desk, intent))
  if (typeof gas === 'string') return hold(desk, intent, gas)
  if (typeof gas !== 'bigint') return holdReverted(desk, intent, revertReason(gas.data, desk.errors), open)
  if (intent.maxGas !== null && gas > intent.maxGas) {
    return holdReverted(desk, intent, `takes ${gas} gas, more than ${intent.maxGas}`, open)
  }
  const cost = costWith(gas)
  return cost > balance ? holdUnfunded(desk, intent, cost, balance) : gas
}

/** It goes as soon as the account can pay for it; of the signer that is told once, for all that wait. */
async function holdUnfunded(desk: Desk, intent: Waiting, cost: bigint, balance: bigint): Promise<undefined> {
  const reason = `waits for funds: needs ${cost} wei, ${desk.account.address} has ${balance} left`
  if (!desk.unfunded) desk.emit({ type: 'unfunded', reason })
  desk.unfunded = { cheapest: smallest(desk.unfunded?.cheapest ?? cost, cost) }
  return hold(desk, intent, reason, { lacksFunds: true })
}

/** The gas it takes, the revert, or what else is wrong with it. */
async function simulate(desk: Desk, intent: Waiting): Promise<bigint | RpcError | string> {
  const result = await estimateGas(desk, intent).catch((error: unknown) => {
    if (isRevert(error)) return error
    // The nodes did answer just now: what they fail at twice is this intent, and others may fare better.
    const isItsOwn = error instanceof RpcError && (error.kind === 'refused' || desk.stumbledAt === intent.id)
    if (isItsOwn) return error.message
    desk.stumbledAt = intent.id
    throw error
  })
  desk.stumbledAt = undefined
  return result
}

async function hold(
  desk: Desk,
  intent: Waiting,
  reason: string,
  {
    lacksFunds = false,
    reverts = 0,
    afterNonce = null,
  }: { lacksFunds?: boolean; reverts?: number; afterNonce?: number | null } = {},
): Promise<undefined> {
  const retryAt = new Date(desk.now().getTime() + desk.retryAfterMs)
  await desk.leadership.transaction((tx) =>
    postpone(tx, signerOf(desk), intent.id, { reason, lacksFunds, retryAt, reverts, afterNonce }),
  )
  if (reason !== intent.reason) desk.emit({ type: 'waiting', intent: intent.id, reason, lacksFunds })
}

/** It may depend on what is still in flight, so it is judged after that. */
async function holdReverted(desk: Desk, intent: Waiting, reason: string, open: number[]): Promise<undefined> {
  const afterNonce = intent.afterNonce ?? Math.max(-1, ...open)
  const isClear = open.every((nonce) => nonce > afterNonce)
  const reverts = isClear ? intent.reverts + 1 : 0
  if (reverts < REVERTS_TO_FAIL) return hold(desk, intent, reason, { reverts, afterNonce })
  const isRefused = await desk.leadership.transaction((tx) => refuse(tx, signerOf(desk), intent.id, reason))
  if (isRefused) desk.emit({ type: 'failed', intent: intent.id, reason })
}

/** With a quarter to spare. Reverts only when every node that answers says so. */
export async function estimateGas(
  { rpc, account, signal }: Desk,
  { to, data, value }: Pick<Intent, 'to' | 'data' | 'value'>,
): Promise<bigint> {
  const params = [{ from: account.address, to, data, value: numberToHex(value) }]
  const withRoom = (gas: Hex) => (hexToBigInt(gas) * 5n) / 4n
  try {
    return withRoom(await rpc.request<Hex>('eth_estimateGas', params, { signal }))
  } catch (error) {
    if (!isRevert(error)) throw error
    const others = rpc.endpoints.map((endpoint) =>
      endpoint.request<Hex>('eth_estimateGas', params, { signal }),
    )
    const gas = await Promise.any(others).catch(() => undefined)
    if (gas === undefined) throw error
    return withRoom(gas)
  }
}

export async function readFees({
  rpc,
  chainId,
  maxFeePerGas,
  signal,
}: Desk): Promise<Fees & { baseFee: bigint }> {
  const [block, tip] = await Promise.all([
    rpc.request<{ baseFeePerGas?: Hex } | null>('eth_getBlockByNumber', ['latest', false], { signal }),
    rpc.request<Hex>('eth_maxPriorityFeePerGas', [], { signal }),
  ])
  if (!block?.baseFeePerGas)
    throw new RpcError(
      'refused',
      `chain ${chainId} shows no base fee: the sender needs a chain with EIP-1559`,
    )
  const baseFee = hexToBigInt(block.baseFeePerGas)
  return { baseFee, ...quote(baseFee, hexToBigInt(tip), maxFeePerGas) }
}

async function readBalance({ rpc, account, signal }: Desk): Promise<bigint> {
  return hexToBigInt(await rpc.request<Hex>('eth_getBalance', [account.address, 'latest'], { signal }))
}

export async function sign(
  { account, chainId, now }: Desk,
  { to, data, value }: Pick<Intent, 'to' | 'data' | 'value'>,
  nonce: number,
  gas: bigint,
  { maxFeePerGas, maxPriorityFeePerGas }: Fees,
): Promise<Signed> {
  const fees = { maxFeePerGas, maxPriorityFeePerGas }
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to,
    data,
    value,
    gas,
    ...fees,
  })
  return { raw, hash: keccak256(raw), ...fees, signedAt: now() }
}

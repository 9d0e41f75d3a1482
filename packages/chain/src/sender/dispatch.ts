import { type Hex, hexToBigInt, keccak256, numberToHex } from 'viem'
import { smallest } from '../bigint.ts'
import { RpcError } from '../rpc/index.ts'
import { type Broadcast, broadcast } from './broadcast.ts'
import { type Fees, quote } from './fees.ts'
import type { NodeView } from './node-view.ts'
import { isRevert, revertReason } from './revert-reason.ts'
import { giveNonce, hasUnfunded, nextNonce, postpone, readWaiting, refuse, storeSigned } from './store.ts'
import {
  type Flight,
  type Intent,
  type Signed,
  type SignerContext,
  SigningError,
  type Waiting,
} from './types.ts'

/** An intent fails after this many reverts in a row: a lagging node may revert what depends on a recent block. */
const REVERTS_TO_FAIL = 3
/** Nodes that lag further behind the highest head are ignored when a nonce is chosen. */
const STALE_BLOCKS = 32
const LEAST_GAS = 21_000n
export const WAITS_FOR_SIGNER = 'waits for its signer, which does not sign'

/**
 * Assigns nonces to enqueued intents, oldest first, up to the limit of transactions in flight, and broadcasts them. An intent that cannot
 * be sent now does not block later ones. Returns how many were sent.
 */
export async function dispatch(
  context: SignerContext,
  unmined: Flight[],
  views: NodeView[],
): Promise<number> {
  const { leadership, maxInFlight } = context
  const signer = signerOf(context)
  const free = maxInFlight - unmined.length
  if (free <= 0) return 0
  const spent = unmined.reduce((sum, flight) => sum + costOf(flight), 0n)
  const isFunded =
    context.unfunded !== undefined &&
    (await readBalance(context)) - spent >= (context.unfunded.cheapest ?? 0n)
  if (isFunded) context.unfunded = { cheapest: undefined }
  const line = await readWaiting(leadership.sql, signer, { now: context.now(), limit: free, isFunded })
  if (line.length === 0) return 0
  for (const { id, origin } of line) context.origins.set(id, origin)
  const fees = await readFees(context)
  let balance = (await readBalance(context)) - spent
  let nonce = Math.max(await nextNonce(leadership.sql, signer), countOf(views))
  const open = unmined.map((flight) => flight.nonce)
  const broadcasts: Broadcast[] = []

  for (const intent of line) {
    const gas = await prepare(context, intent, fees, balance, open)
    if (gas === undefined) continue
    const signed = await signIfPossible(context, intent, nonce, gas, fees)
    if (!signed) {
      await hold(context, intent, WAITS_FOR_SIGNER)
      // The others would only wait for the same signer; the next round begins with them.
      break
    }
    context.emit({ type: 'signed', intent: intent.id, nonce, hash: signed.hash })
    const given = nonce
    const isStored = await leadership.transaction(async (tx) => {
      if (!(await giveNonce(tx, signer, intent.id, given, gas))) return false
      await storeSigned(tx, signer, intent.id, given, signed)
      return true
    })
    if (!isStored) continue
    context.emit({ type: 'stored', intent: intent.id, nonce, hash: signed.hash })
    broadcasts.push({ intent: intent.id, nonce, signed, to: context.rpc.endpoints })
    balance -= intent.value + gas * fees.maxFeePerGas
    open.push(nonce)
    nonce += 1
  }
  await broadcast(context, broadcasts)
  if (context.unfunded && !(await hasUnfunded(leadership.sql, signer))) {
    context.unfunded = undefined
    context.emit({ type: 'funded' })
  }
  return broadcasts.length
}

/** The lowest count of the up-to-date nodes: a nonce that is already used costs time, a skipped nonce blocks everything after it. */
function countOf(views: NodeView[]): number {
  const best = Math.max(...views.map(({ head }) => head))
  return Math.min(...views.filter(({ head }) => head >= best - STALE_BLOCKS).map(({ count }) => count))
}

export const signerOf = ({ chainId, account }: SignerContext) => ({ chainId, address: account.address })

const costOf = ({ value, gas, signed }: Flight) => value + gas * (signed.at(-1)?.maxFeePerGas ?? 0n)

/** The gas that an intent needs; undefined when it cannot be sent now, and then the reason is stored. */
async function prepare(
  context: SignerContext,
  intent: Waiting,
  fees: Fees & { baseFee: bigint },
  balance: bigint,
  open: number[],
): Promise<bigint | undefined> {
  if (fees.baseFee > context.maxFeePerGas) {
    const reason = `waits for a lower base fee: it is ${fees.baseFee} wei, the cap is ${context.maxFeePerGas}`
    return hold(context, intent, reason)
  }
  const costWith = (gas: bigint) => intent.value + gas * fees.maxFeePerGas
  const least = costWith(LEAST_GAS)
  if (least > balance) return holdUnfunded(context, intent, least, balance)
  const gas = intent.knownGas ?? (await simulate(context, intent))
  if (typeof gas === 'string') return hold(context, intent, gas)
  if (typeof gas !== 'bigint')
    return holdReverted(context, intent, revertReason(gas.data, context.errors), open)
  if (intent.maxGas !== null && gas > intent.maxGas) {
    return holdReverted(context, intent, `takes ${gas} gas, more than ${intent.maxGas}`, open)
  }
  const cost = costWith(gas)
  return cost > balance ? holdUnfunded(context, intent, cost, balance) : gas
}

/** The intent is sent once the account can pay for it. The event `unfunded` is emitted once for all intents that wait for funds. */
async function holdUnfunded(
  context: SignerContext,
  intent: Waiting,
  cost: bigint,
  balance: bigint,
): Promise<undefined> {
  const reason = `waits for funds: needs ${cost} wei, ${context.account.address} has ${balance} left`
  if (!context.unfunded) context.emit({ type: 'unfunded', reason })
  context.unfunded = { cheapest: smallest(context.unfunded?.cheapest ?? cost, cost) }
  return hold(context, intent, reason, { lacksFunds: true })
}

/** The estimated gas, the revert, or the message of another error that this intent causes. */
async function simulate(context: SignerContext, intent: Waiting): Promise<bigint | RpcError | string> {
  const result = await estimateGas(context, intent).catch((error: unknown) => {
    if (isRevert(error)) return error
    // The nodes answered other calls in this round: an intent whose simulation fails twice is the cause, and others may succeed.
    const isCause =
      error instanceof RpcError && (error.kind === 'refused' || context.lastUnanswered === intent.id)
    if (isCause) return error.message
    context.lastUnanswered = intent.id
    throw error
  })
  context.lastUnanswered = undefined
  return result
}

async function hold(
  context: SignerContext,
  intent: Waiting,
  reason: string,
  {
    lacksFunds = false,
    reverts = 0,
    afterNonce = null,
  }: { lacksFunds?: boolean; reverts?: number; afterNonce?: number | null } = {},
): Promise<undefined> {
  const retryAt = new Date(context.now().getTime() + context.retryAfterMs)
  await context.leadership.transaction((tx) =>
    postpone(tx, signerOf(context), intent.id, { reason, lacksFunds, retryAt, reverts, afterNonce }),
  )
  if (reason !== intent.reason) context.emit({ type: 'waiting', intent: intent.id, reason, lacksFunds })
}

/** The call may depend on a transaction in flight, so reverts count only after those are mined. */
async function holdReverted(
  context: SignerContext,
  intent: Waiting,
  reason: string,
  open: number[],
): Promise<undefined> {
  const afterNonce = intent.afterNonce ?? Math.max(-1, ...open)
  const isClear = open.every((nonce) => nonce > afterNonce)
  const reverts = isClear ? intent.reverts + 1 : 0
  if (reverts < REVERTS_TO_FAIL) return hold(context, intent, reason, { reverts, afterNonce })
  const isRefused = await context.leadership.transaction((tx) =>
    refuse(tx, signerOf(context), intent.id, reason),
  )
  if (isRefused) context.emit({ type: 'failed', intent: intent.id, reason })
}

/** The estimate plus a quarter. Throws a revert only when every node that answers reverts. */
export async function estimateGas(
  { rpc, account, signal }: SignerContext,
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
}: SignerContext): Promise<Fees & { baseFee: bigint }> {
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

async function readBalance({ rpc, account, signal }: SignerContext): Promise<bigint> {
  return hexToBigInt(await rpc.request<Hex>('eth_getBalance', [account.address, 'latest'], { signal }))
}

/** Undefined when the account did not sign; the round then ends with why. */
export async function signIfPossible(
  context: SignerContext,
  intent: Pick<Intent, 'to' | 'data' | 'value'>,
  nonce: number,
  gas: bigint,
  fees: Fees,
): Promise<Signed | undefined> {
  try {
    return await sign(context, intent, nonce, gas, fees)
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    context.unsigned = error
    return undefined
  }
}

/** Throws a `SigningError`. */
export async function sign(
  { account, chainId, now }: SignerContext,
  { to, data, value }: Pick<Intent, 'to' | 'data' | 'value'>,
  nonce: number,
  gas: bigint,
  { maxFeePerGas, maxPriorityFeePerGas }: Fees,
): Promise<Signed> {
  const fees = { maxFeePerGas, maxPriorityFeePerGas }
  const transaction = { type: 'eip1559', chainId, nonce, to, data, value, gas, ...fees } as const
  const raw = await account.signTransaction(transaction).catch((error: Error) => {
    throw new SigningError(`${account.address} cannot sign: ${error.message}`, { cause: error })
  })
  return { raw, hash: keccak256(raw), ...fees, signedAt: now() }
}

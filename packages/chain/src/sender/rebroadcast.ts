import { type Broadcast, broadcast } from './broadcast.ts'
import { readFees, signerOf, signIfPossible, WAITS_FOR_SIGNER } from './dispatch.ts'
import { type Fees, raise } from './fees.ts'
import { isNonceLost } from './finality.ts'
import type { NodeView } from './node-view.ts'
import { finish, loseNonce, noteReason, storeSigned } from './store.ts'
import type { Flight, Signed, SignerContext } from './types.ts'

/**
 * Sends transactions again to nodes that have dropped them, and raises the fee of stuck ones. An intent whose nonce a foreign transaction
 * has used is enqueued again. Returns those that are still in flight.
 */
export async function rebroadcast(
  context: SignerContext,
  unmined: Flight[],
  views: NodeView[],
): Promise<Flight[]> {
  const isNonceUsed = (flight: Flight) => views.every(({ count }) => count > flight.nonce)
  const inFlight: Flight[] = []
  const reasons = new Map<bigint, string>()
  const broadcasts: Broadcast[] = []
  let market: Fees | undefined
  for (const flight of unmined) {
    if (isNonceUsed(flight)) {
      if (await loseNonceForGood(context, flight, views)) continue
      reasons.set(flight.id, `nonce ${flight.nonce} is used, and the nodes do not show yet for good by what`)
    } else {
      const newest = newestOf(flight)
      if (isOld(context, newest)) market ??= await readFees(context)
      const isStuck = market && isOld(context, newest) && needsMore(flight, newest, market, views)
      const fees = isStuck && market ? raise(newest, market, context.maxFeePerGas) : undefined
      if (isStuck && !fees)
        reasons.set(flight.id, 'waits for lower fees: the cap keeps its own from being raised')
      const raised = fees && (await bump(context, flight, fees))
      if (fees && !raised) reasons.set(flight.id, WAITS_FOR_SIGNER)
      broadcasts.push(raised ?? resend(flight, newest, views))
    }
    inFlight.push(flight)
  }
  const refusals = await broadcast(
    context,
    broadcasts.filter(({ to }) => to.length > 0),
  )
  for (const flight of inFlight)
    await recordReason(context, flight, refusals.get(flight.id) ?? reasons.get(flight.id) ?? null)
  return inFlight
}

function newestOf({ id, nonce, signed }: Flight): Signed {
  const newest = signed.at(-1)
  if (!newest) throw new Error(`intent ${id} has nonce ${nonce} but nothing signed for it`)
  return newest
}

const isOld = ({ now, stuckAfterMs }: SignerContext, { signedAt }: Signed) =>
  now().getTime() - signedAt.getTime() >= stuckAfterMs

/** A transaction behind an earlier nonce gains nothing from a higher fee, unless its fee has fallen below the market. */
function needsMore(flight: Flight, newest: Signed, market: Fees, views: NodeView[]): boolean {
  const isNext = views.some(({ count }) => count === flight.nonce)
  return isNext || newest.maxFeePerGas < market.maxFeePerGas
}

/** Undefined when the account did not sign; then what was signed before is sent again. */
async function bump(context: SignerContext, flight: Flight, fees: Fees): Promise<Broadcast | undefined> {
  const { id, nonce, gas } = flight
  const signed = await signIfPossible(context, flight, nonce, gas, fees)
  if (!signed) return undefined
  context.emit({ type: 'signed', intent: id, nonce, hash: signed.hash })
  await context.leadership.transaction((tx) => storeSigned(tx, signerOf(context), id, nonce, signed))
  context.emit({ type: 'stored', intent: id, nonce, hash: signed.hash })
  return { intent: id, nonce, signed, to: context.rpc.endpoints }
}

function resend({ id, nonce }: Flight, signed: Signed, views: NodeView[]): Broadcast {
  const lacking = views.filter(({ count, known }) => count <= nonce && !known.has(signed.hash))
  return { intent: id, nonce, signed, to: lacking.map(({ endpoint }) => endpoint) }
}

async function loseNonceForGood(context: SignerContext, flight: Flight, views: NodeView[]): Promise<boolean> {
  const { id, nonce, fillsGap } = flight
  const hashes = flight.signed.map(({ hash }) => hash)
  const use = { address: context.account.address, nonce, hashes }
  if (!(await isNonceLost(views, use, context.confirmations, { signal: context.signal }))) return false
  await context.leadership.transaction((tx) =>
    fillsGap ? finish(tx, id, 'failed', `nonce ${nonce} needed no filling`) : loseNonce(tx, id),
  )
  context.emit({ type: 'nonce-lost', intent: id, nonce })
  return true
}

async function recordReason(
  context: SignerContext,
  { id, reason: known }: Flight,
  reason: string | null,
): Promise<void> {
  if (reason === known) return
  await context.leadership.transaction((tx) => noteReason(tx, id, reason))
  if (reason) context.emit({ type: 'waiting', intent: id, reason, lacksFunds: false })
}

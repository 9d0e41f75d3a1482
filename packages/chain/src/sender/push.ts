import { deliver, type Parcel } from './courier.ts'
import { readFees, sign, signerOf } from './dispatch.ts'
import { type Fees, raise } from './fees.ts'
import { isNonceLost } from './finality.ts'
import type { Sight } from './sight.ts'
import { finish, loseNonce, noteReason, storeSigned } from './store.ts'
import type { Desk, Flight, Signed } from './types.ts'

/**
 * Gives nodes again what they have forgotten, and more fee to what is stuck. An intent whose nonce somebody else has used goes back into
 * the line. Returns those that are still in flight.
 */
export async function push(desk: Desk, unmined: Flight[], sights: Sight[]): Promise<Flight[]> {
  const usedBySomeone = (flight: Flight) => sights.every(({ count }) => count > flight.nonce)
  const inFlight: Flight[] = []
  const reasons = new Map<bigint, string>()
  const parcels: Parcel[] = []
  let market: Fees | undefined
  for (const flight of unmined) {
    if (usedBySomeone(flight)) {
      if (await loseNonceForGood(desk, flight, sights)) continue
      reasons.set(flight.id, `nonce ${flight.nonce} is used, and the nodes do not show yet for good by what`)
    } else {
      const newest = newestOf(flight)
      if (isOld(desk, newest)) market ??= await readFees(desk)
      const isStuck = market && isOld(desk, newest) && needsMore(flight, newest, market, sights)
      const fees = isStuck && market ? raise(newest, market, desk.maxFeePerGas) : undefined
      if (isStuck && !fees)
        reasons.set(flight.id, 'waits for lower fees: the cap keeps its own from being raised')
      parcels.push(fees ? await bump(desk, flight, fees) : reminder(flight, newest, sights))
    }
    inFlight.push(flight)
  }
  const refusals = await deliver(
    desk,
    parcels.filter(({ to }) => to.length > 0),
  )
  for (const flight of inFlight)
    await explain(desk, flight, refusals.get(flight.id) ?? reasons.get(flight.id) ?? null)
  return inFlight
}

function newestOf({ id, nonce, signed }: Flight): Signed {
  const newest = signed.at(-1)
  if (!newest) throw new Error(`intent ${id} has nonce ${nonce} but nothing signed for it`)
  return newest
}

const isOld = ({ now, stuckAfterMs }: Desk, { signedAt }: Signed) =>
  now().getTime() - signedAt.getTime() >= stuckAfterMs

/** What waits behind another does not get on by paying more, unless its fee has fallen behind the market. */
function needsMore(flight: Flight, newest: Signed, market: Fees, sights: Sight[]): boolean {
  const isNext = sights.some(({ count }) => count === flight.nonce)
  return isNext || newest.maxFeePerGas < market.maxFeePerGas
}

async function bump(desk: Desk, flight: Flight, fees: Fees): Promise<Parcel> {
  const { id, nonce, gas } = flight
  const signed = await sign(desk, flight, nonce, gas, fees)
  desk.emit({ type: 'signed', intent: id, nonce, hash: signed.hash })
  await desk.leadership.transaction((tx) => storeSigned(tx, signerOf(desk), id, nonce, signed))
  desk.emit({ type: 'stored', intent: id, nonce, hash: signed.hash })
  return { intent: id, nonce, signed, to: desk.rpc.endpoints }
}

function reminder({ id, nonce }: Flight, signed: Signed, sights: Sight[]): Parcel {
  const lacking = sights.filter(({ count, known }) => count <= nonce && !known.has(signed.hash))
  return { intent: id, nonce, signed, to: lacking.map(({ endpoint }) => endpoint) }
}

async function loseNonceForGood(desk: Desk, flight: Flight, sights: Sight[]): Promise<boolean> {
  const { id, nonce, fillsGap } = flight
  const hashes = flight.signed.map(({ hash }) => hash)
  const use = { address: desk.account.address, nonce, hashes }
  if (!(await isNonceLost(sights, use, desk.confirmations, { signal: desk.signal }))) return false
  await desk.leadership.transaction((tx) =>
    fillsGap ? finish(tx, id, 'failed', `nonce ${nonce} needed no filling`) : loseNonce(tx, id),
  )
  desk.emit({ type: 'nonce-lost', intent: id, nonce })
  return true
}

async function explain(desk: Desk, { id, reason: known }: Flight, reason: string | null): Promise<void> {
  if (reason === known) return
  await desk.leadership.transaction((tx) => noteReason(tx, id, reason))
  if (reason) desk.emit({ type: 'waiting', intent: id, reason, lacksFunds: false })
}

import { hexToNumber, numberToHex } from 'viem'
import { RpcError } from '../rpc/index.ts'
import { dispatch, signerOf, WAITS_FOR_SIGNER } from './dispatch.ts'
import { judgeBlocks } from './finality.ts'
import { closeGap } from './gap.ts'
import { headsIn, type NodeView, type Receipt, readNodeViews, receiptIn } from './node-view.ts'
import { rebroadcast } from './rebroadcast.ts'
import { isRevert, revertReason } from './revert-reason.ts'
import { finish, hasReason, noteMined, readFlights } from './store.ts'
import type { Flight, Mined, SignerContext } from './types.ts'

/**
 * One round: reads the outcome of what is in flight, rebroadcasts what is stuck, sends what is enqueued. Returns whether a sent
 * transaction is not mined yet, and the heads of the nodes at which that was read. Throws a `SigningError` at its end while
 * something waits for its signature.
 */
export async function round(context: SignerContext): Promise<{ isUnmined: boolean; heads: string }> {
  const { rpc, account, leadership, signal } = context
  const flights = await readFlights(leadership.sql, signerOf(context))
  for (const { id, origin } of flights) context.origins.set(id, origin)
  const views = await readNodeViews(rpc, account.address, flights, context.recentBroadcasts, { signal })
  const unmined = await settle(context, flights, views)
  const open = await rebroadcast(context, unmined, views)
  await closeGap(context, flights, open, views)
  const sent = await dispatch(context, open, views)
  if (context.unsigned) {
    if (await hasReason(leadership.sql, signerOf(context), WAITS_FOR_SIGNER)) throw context.unsigned
    context.unsigned = undefined
  }
  return { isUnmined: open.length + sent > 0, heads: headsIn(views) }
}

/** Records in which blocks transactions were mined and finishes those whose outcome is final. Returns those that may need a rebroadcast. */
async function settle(context: SignerContext, flights: Flight[], views: NodeView[]): Promise<Flight[]> {
  const found = flights.map((flight) => {
    const receipts = views.flatMap((view) => receiptIn(view, flight) ?? [])
    return { flight, receipts, places: receipts.length > 0 ? receipts.map(placeOf) : known(flight) }
  })
  const places = new Map(found.flatMap((item) => item.places).map((place) => [place.blockHash, place]))
  const verdicts = await judgeBlocks(context.rpc, [...places.values()], context.confirmations, {
    signal: context.signal,
  })

  const unmined: Flight[] = []
  for (const { flight, receipts, places } of found) {
    const final = receipts.find(({ blockHash }) => verdicts.get(blockHash) === 'final')
    const place = places.find(({ blockHash }) => verdicts.get(blockHash) !== 'gone')
    await recordPlace(context, flight, final ? placeOf(final) : (place ?? null))
    if (final) await conclude(context, flight, final)
    else if (!receipts.some(({ blockHash }) => verdicts.get(blockHash) === 'open')) unmined.push(flight)
  }
  return unmined
}

const known = ({ mined }: Flight): Mined[] => (mined ? [mined] : [])

const placeOf = ({ transactionHash, blockNumber, blockHash }: Receipt): Mined => ({
  hash: transactionHash,
  blockNumber: hexToNumber(blockNumber),
  blockHash,
})

async function recordPlace(
  context: SignerContext,
  { id, mined }: Flight,
  place: Mined | null,
): Promise<void> {
  if (mined?.hash === place?.hash && mined?.blockHash === place?.blockHash) return
  await context.leadership.transaction((tx) => noteMined(tx, id, place))
  if (place) context.emit({ type: 'mined', intent: id, hash: place.hash, blockNumber: place.blockNumber })
  else context.emit({ type: 'reorganised', intent: id })
}

async function conclude(context: SignerContext, flight: Flight, receipt: Receipt): Promise<void> {
  const reason = receipt.status === '0x1' ? null : await replay(context, flight, receipt)
  const state = reason === null ? 'confirmed' : 'failed'
  await context.leadership.transaction((tx) => finish(tx, flight.id, state, reason))
  if (reason === null) context.emit({ type: 'confirmed', intent: flight.id, hash: receipt.transactionHash })
  else context.emit({ type: 'failed', intent: flight.id, reason })
}

/** Why a mined transaction reverted, as far as the nodes still have the state before it. */
async function replay(
  { rpc, account, errors, signal }: SignerContext,
  { to, data, value, gas }: Flight,
  { blockNumber, gasUsed }: Receipt,
): Promise<string> {
  if (BigInt(gasUsed) >= gas) return `mined, but ran out of its ${gas} gas`
  const call = { from: account.address, to, data, value: numberToHex(value), gas: numberToHex(gas) }
  for (const block of [hexToNumber(blockNumber) - 1, hexToNumber(blockNumber)]) {
    try {
      await rpc.request('eth_call', [call, numberToHex(block)], { signal })
    } catch (error) {
      if (isRevert(error)) return `mined, but ${revertReason(error.data, errors)}`
      if (!(error instanceof RpcError)) throw error
    }
  }
  return 'mined, but reverted for a reason that a replay does not show'
}

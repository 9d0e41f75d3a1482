import { hexToNumber, numberToHex } from 'viem'
import { RpcError } from '../rpc/index.ts'
import { dispatch, signerOf } from './dispatch.ts'
import { judgeBlocks } from './finality.ts'
import { closeGap } from './gap.ts'
import { push } from './push.ts'
import { isRevert, revertReason } from './revert-reason.ts'
import { headsIn, look, type Receipt, receiptIn, type Sight } from './sight.ts'
import { finish, noteMined, readFlights } from './store.ts'
import type { Desk, Flight, Mined } from './types.ts'

/**
 * One round: see what became of what is in flight, push what is stuck, send what waits. Tells whether something sent is not mined yet, and
 * the heads by which that was seen.
 */
export async function round(desk: Desk): Promise<{ isUnmined: boolean; heads: string }> {
  const { rpc, account, leadership, signal } = desk
  const flights = await readFlights(leadership.sql, signerOf(desk))
  const sights = await look(rpc, account.address, flights, desk.handed, { signal })
  const unmined = await settle(desk, flights, sights)
  const open = await push(desk, unmined, sights)
  await closeGap(desk, flights, open, sights)
  const sent = await dispatch(desk, open, sights)
  return { isUnmined: open.length + sent > 0, heads: headsIn(sights) }
}

/** Records where flights were mined and finishes those whose outcome is final. Returns those that nodes may have to be told of again. */
async function settle(desk: Desk, flights: Flight[], sights: Sight[]): Promise<Flight[]> {
  const found = flights.map((flight) => {
    const receipts = sights.flatMap((sight) => receiptIn(sight, flight) ?? [])
    return { flight, receipts, places: receipts.length > 0 ? receipts.map(placeOf) : known(flight) }
  })
  const places = new Map(found.flatMap((item) => item.places).map((place) => [place.blockHash, place]))
  const verdicts = await judgeBlocks(desk.rpc, [...places.values()], desk.confirmations, {
    signal: desk.signal,
  })

  const unmined: Flight[] = []
  for (const { flight, receipts, places } of found) {
    const final = receipts.find(({ blockHash }) => verdicts.get(blockHash) === 'final')
    const place = places.find(({ blockHash }) => verdicts.get(blockHash) !== 'gone')
    await recordPlace(desk, flight, final ? placeOf(final) : (place ?? null))
    if (final) await conclude(desk, flight, final)
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

async function recordPlace(desk: Desk, { id, mined }: Flight, place: Mined | null): Promise<void> {
  if (mined?.hash === place?.hash && mined?.blockHash === place?.blockHash) return
  await desk.leadership.transaction((tx) => noteMined(tx, id, place))
  if (place) desk.emit({ type: 'mined', intent: id, hash: place.hash, blockNumber: place.blockNumber })
  else desk.emit({ type: 'reorganised', intent: id })
}

async function conclude(desk: Desk, flight: Flight, receipt: Receipt): Promise<void> {
  const reason = receipt.status === '0x1' ? null : await replay(desk, flight, receipt)
  const state = reason === null ? 'confirmed' : 'failed'
  await desk.leadership.transaction((tx) => finish(tx, flight.id, state, reason))
  if (reason === null) desk.emit({ type: 'confirmed', intent: flight.id, hash: receipt.transactionHash })
  else desk.emit({ type: 'failed', intent: flight.id, reason })
}

/** Why a mined transaction reverted, as far as nodes still know the state it met. */
async function replay(
  { rpc, account, errors, signal }: Desk,
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

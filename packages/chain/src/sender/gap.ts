import { estimateGas, readFees, sign, signerOf } from './dispatch.ts'
import type { Sight } from './sight.ts'
import { addFiller, nextNonce, reopen, storeSigned } from './store.ts'
import type { Desk, Flight } from './types.ts'

/**
 * The chain takes nonces without holes. When it has waited for long for one that nothing in flight has, what had that nonce is sent again
 * (its block is gone, deeper than we thought possible), and where nothing had it, a transfer of nothing to ourselves.
 */
export async function closeGap(
  desk: Desk,
  flights: Flight[],
  unmined: Flight[],
  sights: Sight[],
): Promise<void> {
  const { leadership, now, stuckAfterMs, maxInFlight } = desk
  const signer = signerOf(desk)
  const missing = Math.max(...sights.map(({ count }) => count))
  const end = unmined[0]?.nonce ?? (await nextNonce(leadership.sql, signer))
  if (missing >= end) {
    desk.gap = undefined
    return
  }
  if (desk.gap?.nonce !== missing) desk.gap = { nonce: missing, since: now() }
  if (now().getTime() - desk.gap.since.getTime() < stuckAfterMs) return
  const held = new Set(flights.map(({ nonce }) => nonce))
  for (let nonce = missing; nonce < Math.min(end, missing + maxInFlight); nonce += 1) {
    if (held.has(nonce)) continue
    const isOurs = await leadership.transaction((tx) => reopen(tx, signer, nonce))
    if (!isOurs) await fill(desk, nonce)
    desk.emit({ type: 'gap', nonce, filledBy: isOurs ? 'intent' : 'nothing' })
  }
  desk.gap = undefined
}

/** Stored only: the next round finds that no node knows it. */
async function fill(desk: Desk, nonce: number): Promise<void> {
  const signer = signerOf(desk)
  const nothing = { to: signer.address, data: '0x', value: 0n } as const
  const gas = await estimateGas(desk, nothing)
  const signed = await sign(desk, nothing, nonce, gas, await readFees(desk))
  await desk.leadership.transaction(async (tx) => {
    const id = await addFiller(tx, signer, nonce, gas)
    await storeSigned(tx, signer, id, nonce, signed)
  })
}

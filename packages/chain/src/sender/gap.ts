import { estimateGas, readFees, sign, signerOf } from './dispatch.ts'
import type { NodeView } from './node-view.ts'
import { addFiller, nextNonce, reopen, storeSigned } from './store.ts'
import type { Flight, SignerContext } from './types.ts'

/**
 * The chain takes nonces without gaps. When it has waited too long for a nonce that no transaction in flight has, the intent that had that
 * nonce is sent again (its block was reorganised away after it was final). If no intent had it, a transfer of zero to the signer fills it.
 */
export async function closeGap(
  context: SignerContext,
  flights: Flight[],
  unmined: Flight[],
  views: NodeView[],
): Promise<void> {
  const { leadership, now, stuckAfterMs, maxInFlight } = context
  const signer = signerOf(context)
  const missing = Math.max(...views.map(({ count }) => count))
  const end = unmined[0]?.nonce ?? (await nextNonce(leadership.sql, signer))
  if (missing >= end) {
    context.gap = undefined
    return
  }
  if (context.gap?.nonce !== missing) context.gap = { nonce: missing, since: now() }
  if (now().getTime() - context.gap.since.getTime() < stuckAfterMs) return
  const held = new Set(flights.map(({ nonce }) => nonce))
  for (let nonce = missing; nonce < Math.min(end, missing + maxInFlight); nonce += 1) {
    if (held.has(nonce)) continue
    const isOurs = await leadership.transaction((tx) => reopen(tx, signer, nonce))
    if (!isOurs) await fill(context, nonce)
    context.emit({ type: 'gap', nonce, filledBy: isOurs ? 'intent' : 'nothing' })
  }
  context.gap = undefined
}

/** Only stores the transaction: the next round finds that no node has it and broadcasts it. */
async function fill(context: SignerContext, nonce: number): Promise<void> {
  const signer = signerOf(context)
  const nothing = { to: signer.address, data: '0x', value: 0n } as const
  const gas = await estimateGas(context, nothing)
  const signed = await sign(context, nothing, nonce, gas, await readFees(context))
  await context.leadership.transaction(async (tx) => {
    const id = await addFiller(tx, signer, nonce, gas)
    await storeSigned(tx, signer, id, nonce, signed)
  })
}

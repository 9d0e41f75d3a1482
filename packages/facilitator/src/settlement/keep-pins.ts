// Deletes the pins of which nothing came, when the router splits nothing of theirs any more.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, hexToNumber } from 'viem'
import type { Chain, Context } from '../context.ts'
import { unpin } from './store.ts'

const EVERY_MS = 60_000
/** In seconds: the router splits what arrived no later than so long after the end of its authorisation. */
export const FINISH_WINDOW = 3_600

export async function keepPins(context: Context, chain: Chain, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      await dropEnded(context, chain)
    } catch (err) {
      context.log.warn({ err, chain: chain.chainId }, 'pins that have ended are not deleted yet')
    }
  }
}

/** By the chain's clock, which is the router's, and by ours: a node that is ahead ends no pin that could still be used. */
export async function dropEnded({ sql, clock }: Context, { rpc, chainId }: Chain): Promise<void> {
  const block = await rpc.request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
  const now = Math.min(hexToNumber(block.timestamp), Math.floor(clock() / 1_000))
  await unpin(sql, chainId, now - 2 * FINISH_WINDOW)
}

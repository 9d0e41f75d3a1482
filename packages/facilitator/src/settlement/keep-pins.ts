// Deletes the pins of which nothing came, when the router splits nothing of theirs any more.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, hexToNumber } from 'viem'
import type { Chain, Context } from '../context.ts'
import { unpin } from './store.ts'

const EVERY_MS = 60_000
/** In seconds: the router splits what arrived no later than so long after the end of its authorisation. */
export const FINISH_WINDOW = 3_600

export async function keepPins(
  { sql, log }: Context,
  { rpc, chainId }: Chain,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      // By the chain's clock, which is the router's.
      const block = await rpc.request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
      await unpin(sql, chainId, hexToNumber(block.timestamp) - 2 * FINISH_WINDOW)
    } catch (err) {
      log.warn({ err, chain: chainId }, 'pins that have ended are not deleted yet')
    }
  }
}

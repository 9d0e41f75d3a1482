import type { Batch, Follower } from '../following/following.ts'
import { queueChanges } from './store.ts'

/**
 * Keeps the changes that webhooks may be told of until the chain has confirmed them; `announce.ts` takes them from there. Where no webhook
 * of the chain is enabled, it looks once for a batch and writes nothing.
 */
export const webhooksFollower: Follower = {
  async follow({ tx, chain, changes, now }: Batch) {
    await queueChanges(tx, chain.config.chainId, changes, now)
  },
}

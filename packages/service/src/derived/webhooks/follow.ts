import type { Batch, Follower } from '../following/following.ts'
import { queueChanges } from './store.ts'

/**
 * Keeps the changes that webhooks may be told of until the chain has confirmed them; `announce.ts` takes them from there. Where no webhook
 * of the chain is enabled, it is one statement for a batch that writes nothing.
 */
export const webhooksFollower: Follower = {
  async follow({ tx, chain, changes, now }: Batch) {
    await queueChanges(tx, chain.config.chainId, changes, now)
  },
}

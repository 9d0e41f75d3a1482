import type { Context } from '../context.ts'
import type { Follower } from '../workers/following.ts'
import { oracleOf } from './oracle.ts'
import { releaseMarked } from './release.ts'

/** What the oracle makes of what changed. */
export const oracleFollower = (context: Context): Follower => ({
  async follow(batch) {
    await releaseMarked(batch, oracleOf(context))
  },
})

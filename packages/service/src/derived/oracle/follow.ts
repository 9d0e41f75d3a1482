import type { Context } from '../../kit/context.ts'
import type { Follower } from '../following/following.ts'
import { compare, reviewsOf } from './comparisons.ts'
import { find, findUnderWay } from './findings.ts'
import { oracleOf } from './oracle.ts'
import { releaseMarked } from './release.ts'

/** What the oracle makes of what changed. The opinions are up to date by then. */
export const oracleFollower = (context: Context): Follower => ({
  async follow(batch) {
    await compare(batch)
    await findUnderWay(batch)
    await find(batch, reviewsOf(batch.changes))
    await releaseMarked(batch, oracleOf(context))
  },
  refresh: findUnderWay,
})

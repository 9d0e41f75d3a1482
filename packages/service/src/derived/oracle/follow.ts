import type { Context } from '../../kit/context.ts'
import type { Follower } from '../following/following.ts'
import { compare, reviewsOf } from './comparisons.ts'
import { find, findUnderWay } from './findings.ts'
import { oracleOf } from './oracle.ts'
import { releaseAfterChanges } from './release.ts'

/** Makes comparisons, findings and releases after changes. It must run after the opinions follower. */
export const oracleFollower = (context: Context): Follower => ({
  async follow(batch) {
    await compare(batch)
    await findUnderWay(batch)
    await find(batch, reviewsOf(batch.changes))
    await releaseAfterChanges(batch, oracleOf(context))
  },
  refresh: findUnderWay,
})

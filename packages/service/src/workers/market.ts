import { sweepSeenRequests } from '../auth/replays.ts'
import { sweepSessions } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { postgresSearchWorker } from '../discovery-postgres/source.ts'
import { embeddingWorker, sweepEmbedders } from '../embeddings/worker.ts'
import { sweepIntents } from '../intents/store.ts'
import { listingsFollower } from '../listings/follow.ts'
import { sweepLinks } from '../messenger/store.ts'
import { refreshOffers } from '../offers/refresh.ts'
import { opinionsFollower } from '../opinions/follow.ts'
import { oracleFollower } from '../oracle/follow.ts'
import { catchUpReleases, settleEscrows } from '../oracle/schedule.ts'
import { sweepProofs } from '../proofs/store.ts'
import { ranksFollower } from '../ranks/follow.ts'
import { sweepReviewChanges } from '../reviews/kept.ts'
import { refreshLinks } from '../reviews/ref-links.ts'
import { searchWorker } from '../search-thread/client.ts'
import { sweepWritten } from '../written/store.ts'
import type { Work } from './index.ts'

/** What the market does by itself. */
export function marketWork(context: Context): Work {
  return {
    queues: [],
    schedules: [
      sweepSeenRequests,
      sweepSessions,
      sweepIntents,
      sweepProofs(context.config),
      sweepWritten,
      sweepLinks,
      sweepReviewChanges,
      refreshLinks(context),
      settleEscrows(context),
      catchUpReleases(context),
      sweepEmbedders(context),
      refreshOffers(context),
    ],
    followers: [opinionsFollower, oracleFollower(context), ranksFollower, listingsFollower(context)],
    workers: [
      context.config.discoveryIndex === 'memory' ? searchWorker(context) : postgresSearchWorker(context),
      ...(context.config.embedder ? [embeddingWorker(context)] : []),
    ],
  }
}

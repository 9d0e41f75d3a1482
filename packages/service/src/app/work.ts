import { listingsFollower } from '../derived/listings/follow.ts'
import { noticesFollower } from '../derived/notices/follow.ts'
import { sweepNotices } from '../derived/notices/store.ts'
import { noticesWorker } from '../derived/notices/worker.ts'
import { refreshOffers } from '../derived/offers/refresh.ts'
import { opinionsFollower } from '../derived/opinions/follow.ts'
import { oracleFollower } from '../derived/oracle/follow.ts'
import { catchUpReleases, settleEscrows } from '../derived/oracle/schedule.ts'
import { ranksFollower } from '../derived/ranks/follow.ts'
import { searchRings } from '../derived/rings/schedule.ts'
import { standingFollower } from '../derived/standing/follow.ts'
import { webhooksFollower } from '../derived/webhooks/follow.ts'
import { sweepChanges } from '../derived/webhooks/store.ts'
import { webhooksWorker } from '../derived/webhooks/worker.ts'
import { learns } from '../discovery/embeddings/embedders.ts'
import { learnSchedule } from '../discovery/embeddings/learn.ts'
import { embeddingWorker, queryModelWorker, sweepEmbedders } from '../discovery/embeddings/worker.ts'
import { searchWorker } from '../discovery/memory-index/client.ts'
import { postgresSearchWorker } from '../discovery/postgres-index/source.ts'
import { sweepSeenRequests } from '../doors/auth/replays.ts'
import { sweepSessions } from '../doors/auth/sessions.ts'
import type { Context } from '../kit/context.ts'
import { sweepDeadLetters } from '../market/dead-letters/store.ts'
import { sweepDrafts } from '../market/intents/drafts.ts'
import { sweepIntents } from '../market/intents/store.ts'
import { sweepLinks } from '../market/messenger/store.ts'
import { receiptsWorker } from '../market/proofs/receipts-worker.ts'
import { sweepProofs } from '../market/proofs/store.ts'
import { sweepQuotas } from '../market/quotas/store.ts'
import { refreshLinks } from '../market/ref-tokens/refresh.ts'
import { readRegistrations, sweepRegistrations } from '../market/registrations/schedule.ts'
import { sweepReviewChanges } from '../market/reviews/answers.ts'
import { sweepDeliveries } from '../market/webhooks/deliveries.ts'
import { sweepWebhooks } from '../market/webhooks/store.ts'
import type { Work } from './workers.ts'

/** All work that the service does without being asked, as far as its roles want it. */
export function marketWork(context: Context): Work {
  const { roles } = context.config
  const ofApi = roles.has('api') ? [searchOf(context)] : []
  if (!roles.has('workers'))
    return { schedules: [], followers: [], workers: [...ofApi, ...queryModelOf(context)] }
  return {
    schedules: [
      sweepSeenRequests,
      sweepSessions,
      sweepIntents,
      sweepDrafts,
      sweepProofs(context.config),
      sweepQuotas,
      sweepLinks,
      sweepDeadLetters,
      sweepReviewChanges,
      refreshLinks(context),
      settleEscrows(context),
      catchUpReleases(context),
      sweepEmbedders(context),
      ...(learns(context.config.embedder) ? [learnSchedule(context)] : []),
      refreshOffers(context),
      readRegistrations(context),
      sweepRegistrations(context),
      sweepNotices(context),
      searchRings(context),
      // Also without keys: what was stored while there were some must not stay for ever.
      sweepWebhooks,
      sweepDeliveries(context),
      sweepChanges(context),
    ],
    followers: [
      opinionsFollower,
      oracleFollower(context),
      // Before the ranks, which use the standings of the day.
      standingFollower(context),
      ranksFollower(context.config),
      listingsFollower(context),
      // Also without a messenger: when one is added, reminders of earlier purchases are due all the same.
      noticesFollower,
      // Also without keys: another process may have them, and its webhooks would miss what this one follows.
      webhooksFollower,
    ],
    workers: [
      ...ofApi,
      receiptsWorker(context),
      ...(context.config.embedder ? [embeddingWorker(context)] : []),
      ...(context.config.messenger ? [noticesWorker(context)] : []),
      ...(context.config.webhookKeys.length > 0 ? [webhooksWorker(context)] : []),
    ],
  }
}

const searchOf = (context: Context) =>
  context.config.discoveryIndex === 'memory' ? searchWorker(context) : postgresSearchWorker(context)

/** Where no worker embeds texts, questions are still embedded. */
function queryModelOf(context: Context) {
  const { roles, embedder } = context.config
  return roles.has('api') && embedder && embedder.kind !== 'endpoint' ? [queryModelWorker(context)] : []
}

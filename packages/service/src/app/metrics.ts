import {
  addFigures,
  programFigures,
  type RequestMetrics,
  readInBackground,
  sharedQuestion,
} from '@referrer/process'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { countPendingChanges } from '../derived/following/following.ts'
import { countNotices, oldestNoticeSeconds } from '../derived/notices/figures.ts'
import { oracleFigures } from '../derived/oracle/figures.ts'
import { standingFigures } from '../derived/standing/figures.ts'
import { countMessages, oldestWebhookSeconds } from '../derived/webhooks/figures.ts'
import { embedderFigures } from '../discovery/embeddings/figures.ts'
import { countIntents } from '../discovery/embeddings/intents.ts'
import { countTexts } from '../discovery/embeddings/store.ts'
import { addSearchFigures } from '../discovery/memory-index/figures.ts'
import { readinessOf } from '../doors/http/health.ts'
import type { ChainHealth, Context } from '../kit/context.ts'
import { refusalCounts } from '../kit/refusals.ts'
import { COUNTED } from '../machinery/db/counts.ts'
import { addReplicaFigures } from '../machinery/replicas/figures.ts'
import { readAccounts } from '../views/operators/accounts.ts'
import type { WorkEvent } from './workers.ts'

const DATABASE_PATIENCE_MS = 2_000
const BALANCES_EVERY_MS = 30_000
const READINESS_EVERY_MS = 5_000

export interface Metrics extends RequestMetrics {
  countEvent(event: WorkEvent): void
}

export function createMetrics(context: Context): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addSearchFigures(context, registry)
  if (context.replicas) addReplicaFigures(context.replicas, registry)

  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name: `referrer_${name}`, help, labelNames, registers })
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `referrer_${name}`, help, labelNames, registers })

  const ready = gauge('ready', 'Whether /readyz answers 200. If it stays 0, /readyz says which check fails')
  const databaseUp = gauge(
    'database_up',
    'Whether the database answers. While it is 0, requests fail and nothing is written or sent',
  )
  const limitsUp = gauge(
    'limits_store_up',
    'Whether the store of rate limits that replicas share answers; 1 where each process counts alone',
  )
  const capped = `counted up to ${COUNTED}`
  const scheduleRuns = counter(
    'schedule_runs_total',
    'Runs of schedules in this process by outcome. After `failed` the error is in jobs.schedules and in the log',
    ['schedule', 'outcome'],
  )
  const workerUp = gauge(
    'worker_up',
    'Whether a worker can do its work. If it stays 0, the log and /readyz say why',
    ['worker'],
  )
  const workerRestarts = counter('worker_restarts_total', 'Restarts of a worker after a failure', ['worker'])
  const chainHead = gauge('chain_head_block', 'Newest block of the chain that a node has shown', ['chain'])
  const chainIndexed = gauge('chain_indexed_block', 'Newest block in the records', ['chain'])
  const chainLagBlocks = gauge(
    'chain_lag_blocks',
    'Blocks that the records lag behind the chain. If it grows, look at the worker of the indexer and at the nodes',
    ['chain'],
  )
  const chainLagSeconds = gauge('chain_lag_seconds', 'Seconds that the records lag behind the chain', [
    'chain',
  ])
  const chainHeadAge = gauge(
    'chain_head_age_seconds',
    'Age of the newest block. If it grows, the chain stands still or all its nodes do',
    ['chain'],
  )
  const chainActive = gauge('chain_active', 'Whether this replica writes the records of the chain', ['chain'])
  const chainGauges = [chainHead, chainIndexed, chainLagBlocks, chainLagSeconds, chainHeadAge, chainActive]
  const sends = gauge('sender_transactions', 'Own transactions by state', ['chain', 'state'])
  const sendsOldest = gauge(
    'sender_oldest_seconds',
    'Age of the oldest transaction in a state. If it grows, the reason is in sender.intents',
    ['chain', 'state'],
  )
  const changes = gauge(
    'pending_changes',
    `Changes that ranks and the oracle have not processed yet, ${capped}`,
    ['chain'],
  )
  const decisions = gauge(
    'oracle_open_decisions',
    `What the oracle decided and the chain does not show yet, ${capped}`,
    ['chain', 'kind'],
  )
  const dueOldest = gauge(
    'oracle_oldest_due_seconds',
    'Since when the first unsettled escrow could have been settled',
    ['chain'],
  )
  const standingAge = gauge(
    'standing_age_seconds',
    'Age of the last computation of standings; none where no shop was ever verified. Above a day it is late: the log says why',
    ['chain'],
  )
  const standingTook = gauge('standing_pass_seconds', 'How long the last computation of standings took', [
    'chain',
  ])
  const standingCounts = gauge('standing_counted', 'Owners and verified shops of the last computation', [
    'chain',
    'what',
  ])
  const texts = gauge('texts_to_embed', `Texts that a model has yet to embed, ${capped}`, ['embedder'])
  const textsOldest = gauge(
    'texts_to_embed_oldest_due_seconds',
    'How long the longest due text waits for its model. If it grows, look at the worker `embeddings` and at the endpoint of the model',
    ['embedder'],
  )
  const embedders = gauge(
    'embedder',
    '1 for the model that is configured and for the one that serves. They differ while the configured one embeds everything',
    ['embedder', 'role'],
  )
  const learnedAge = gauge(
    'word_vectors_age_seconds',
    'Age of the newest word vectors that were learned from the market; none before the first',
    ['embedder'],
  )
  const learnedLessons = gauge('word_vectors_lessons', 'How many products they were learned from', [
    'embedder',
  ])
  const learnedTook = gauge('word_vectors_learning_seconds', 'How long it took to learn them', ['embedder'])
  const intents = counter(
    'intent_vectors_total',
    'Intents in this process by where their vectors came from, or why there was none',
    ['outcome'],
  )
  const notices = counter(
    'notices_total',
    'Messages about purchases that this process tried to send, or passed over because nobody is linked, by outcome',
    ['outcome'],
  )
  const noticesOldest = gauge('notices_oldest_due_seconds', 'How long the longest due message waits')
  const webhooks = counter(
    'webhook_messages_total',
    'Attempts of this process to send messages to webhooks by outcome; `disabled` counts webhooks that were given up',
    ['outcome'],
  )
  const webhooksOldest = gauge(
    'webhooks_oldest_due_seconds',
    'How long the longest due webhook waits for a worker. If it grows, look at the worker `webhooks`',
  )
  const requests = new Histogram({
    name: 'referrer_http_request_duration_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers,
  })

  const balances = gauge(
    'account_balance_wei',
    'What an account of ours has for gas, read every 30 seconds at most. Send it some before it is below referrer_account_reserve_wei',
    ['chain', 'account', 'role'],
  )
  const reserves = gauge(
    'account_reserve_wei',
    'With less than this an account of ours should be filled up: about ten batches at the highest fee that we bid',
    ['chain', 'account', 'role'],
  )
  const refusals = counter(
    'refusals_total',
    'Refused requests of routes and calls of tools, by kind. `failed` and `unavailable` are ours: look for `a request failed` in the log',
    ['door', 'kind'],
  )
  const indexerEvents = counter(
    'indexer_events_total',
    'What this process did to the records of a chain. `rolled-back` is a reorganisation, `failed` an attempt that is repeated',
    ['chain', 'type'],
  )
  const senderEvents = counter(
    'sender_events_total',
    'What happened to our transactions. `trouble`, `reorganised`, `nonce-lost` and `gap` are rare: the log has the details',
    ['chain', 'type'],
  )
  // A counter that begins at 0 shows its first event as an increase.
  for (const chain of context.chains.keys()) {
    for (const type of ['rolled-back', 'failed']) indexerEvents.inc({ chain, type }, 0)
    for (const type of ['reorganised', 'failed', 'nonce-lost', 'gap', 'trouble'])
      senderEvents.inc({ chain, type }, 0)
  }
  const chains = [...context.chains].map(([chainId, { rpc }]) => ({ chainId, rpc }))
  const { sql, config } = context
  addFigures({ Gauge, Counter }, registry, programFigures({ sql, commit: config.commit, chains }))

  // It asks nodes, for which a scrape does not wait.
  const askReadiness = readInBackground(READINESS_EVERY_MS, readinessOf(context), (err) =>
    context.log.warn({ err }, 'the readiness cannot be told'),
  )
  const askAccounts = [...context.chains].map(([chainId, chain]) =>
    readInBackground(
      BALANCES_EVERY_MS,
      async () => {
        const accounts = await readAccounts({ config, chains: new Map([[chainId, chain]]) })
        if (accounts.some(({ balance }) => balance === undefined)) throw new Error('no node answers')
        return accounts
      },
      (err) =>
        context.log.warn(
          { err, chain: chainId },
          'the balances of our accounts cannot be read; they are read again',
        ),
    ),
  )
  const askDatabase = sharedQuestion(DATABASE_PATIENCE_MS, () =>
    Promise.all([
      context.senderHealth(),
      context.chainHealth(),
      oracleFigures(context),
      countPendingChanges(context),
      standingFigures(context),
      countTexts(context.sql),
      embedderFigures(context),
      // Without a messenger nobody sends what is due.
      context.config.messenger && oldestNoticeSeconds(context),
      context.config.webhookKeys.length > 0 ? oldestWebhookSeconds(context) : undefined,
    ]),
  )

  async function lookAtDatabase(): Promise<void> {
    const gauges = [
      sends,
      sendsOldest,
      changes,
      decisions,
      dueOldest,
      standingAge,
      standingTook,
      standingCounts,
      texts,
      textsOldest,
      embedders,
      learnedAge,
      learnedLessons,
      learnedTook,
      noticesOldest,
      webhooksOldest,
      ...chainGauges,
    ]
    try {
      const [
        transactions,
        chains,
        oracle,
        announced,
        standings,
        queued,
        { models, learned },
        oldestNotice,
        oldestWebhook,
      ] = await askDatabase()
      // Series that no longer exist must disappear.
      for (const each of gauges) each.reset()
      for (const { chainId, state, count, oldestSeconds } of transactions) {
        sends.set({ chain: chainId, state }, count)
        sendsOldest.set({ chain: chainId, state }, oldestSeconds)
      }
      for (const { chainId: chain, kind, open, oldestDueSeconds } of oracle) {
        decisions.set({ chain, kind }, open)
        dueOldest.set({ chain }, oldestDueSeconds)
      }
      for (const { chainId: chain, count } of announced) changes.set({ chain }, count)
      for (const { chainId: chain, ageSeconds, tookSeconds, owners, verified } of standings) {
        standingAge.set({ chain }, ageSeconds)
        standingTook.set({ chain }, tookSeconds)
        standingCounts.set({ chain, what: 'owners' }, owners)
        standingCounts.set({ chain, what: 'verified shops' }, verified)
      }
      for (const { embedder, count, oldestDueSeconds } of queued) {
        texts.set({ embedder }, count)
        textsOldest.set({ embedder }, oldestDueSeconds)
      }
      for (const { embedder, role } of models) embedders.set({ embedder, role }, 1)
      if (learned) {
        const { embedder, ageSeconds, lessons, tookSeconds } = learned
        learnedAge.set({ embedder }, ageSeconds)
        learnedLessons.set({ embedder }, lessons)
        learnedTook.set({ embedder }, tookSeconds)
      }
      if (oldestNotice !== undefined) noticesOldest.set(oldestNotice)
      if (oldestWebhook !== undefined) webhooksOldest.set(oldestWebhook)
      tellOfChains(chains)
      databaseUp.set(1)
    } catch (err) {
      context.log.warn({ err }, 'figures of the database are missing')
      for (const each of gauges) each.reset()
      databaseUp.set(0)
    }
  }

  function tellOfChains(chains: ChainHealth[]): void {
    for (const { chainId: chain, head, indexed, lagSeconds, headAgeSeconds, isActive } of chains) {
      if (head !== null) chainHead.set({ chain }, Number(head))
      if (indexed !== null) chainIndexed.set({ chain }, Number(indexed))
      if (head !== null && indexed !== null)
        chainLagBlocks.set({ chain }, Math.max(0, Number(head - indexed)))
      if (lagSeconds !== null) chainLagSeconds.set({ chain }, lagSeconds)
      if (headAgeSeconds !== null) chainHeadAge.set({ chain }, headAgeSeconds)
      chainActive.set({ chain }, isActive ? 1 : 0)
    }
  }

  function lookAtWorkers(): void {
    workerRestarts.reset()
    for (const { name: worker, state, restarts } of context.workerHealth()) {
      workerUp.set({ worker }, state === 'running' ? 1 : 0)
      workerRestarts.inc({ worker }, restarts)
    }
  }

  function lookAtIntents(): void {
    intents.reset()
    for (const [outcome, count] of Object.entries(countIntents(context))) intents.inc({ outcome }, count)
  }

  function lookAtNotices(): void {
    notices.reset()
    for (const [outcome, count] of Object.entries(countNotices(context))) notices.inc({ outcome }, count)
  }

  function lookAtWebhooks(): void {
    webhooks.reset()
    for (const [outcome, count] of Object.entries(countMessages(context))) webhooks.inc({ outcome }, count)
  }

  function lookAtReadiness(): void {
    const known = askReadiness()
    if ('value' in known) ready.set(known.value.isReady ? 1 : 0)
    else if (known.failed) ready.set(0)
    else ready.remove()
  }

  function lookAtRefusals(): void {
    refusals.reset()
    for (const { door, kind, count } of refusalCounts(context)) refusals.inc({ door, kind }, count)
  }

  function lookAtAccounts(): void {
    balances.reset()
    reserves.reset()
    const known = askAccounts.flatMap((ask) => {
      const accounts = ask()
      return 'value' in accounts ? accounts.value : []
    })
    for (const { chainId: chain, role, address: account, balance, reserve } of known) {
      if (balance === undefined) continue
      balances.set({ chain, account, role }, Number(balance))
      reserves.set({ chain, account, role }, Number(reserve))
    }
  }

  return {
    contentType: registry.contentType,
    async render() {
      lookAtReadiness()
      await lookAtDatabase()
      limitsUp.set(context.limits.isUp() ? 1 : 0)
      lookAtWorkers()
      lookAtIntents()
      lookAtNotices()
      lookAtWebhooks()
      lookAtRefusals()
      lookAtAccounts()
      return registry.metrics()
    },
    countEvent(event) {
      const [subject, type = ''] = event.type.split('.', 2)
      if ('schedule' in event) scheduleRuns.inc({ schedule: event.schedule, outcome: type })
      else if ('chain' in event && subject === 'indexer') indexerEvents.inc({ chain: event.chain, type })
      else if ('chain' in event) senderEvents.inc({ chain: event.chain, type })
    },
    observeRequest: (labels, seconds) => requests.observe(labels, seconds),
  }
}

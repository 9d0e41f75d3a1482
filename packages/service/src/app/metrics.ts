import { type RequestMetrics, sharedQuestion } from '@referrer/process'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { countPendingChanges } from '../derived/following/following.ts'
import { countNotices, oldestNoticeSeconds } from '../derived/notices/figures.ts'
import { oracleFigures } from '../derived/oracle/figures.ts'
import { countIntents } from '../discovery/embeddings/intents.ts'
import { countTexts } from '../discovery/embeddings/store.ts'
import { addSearchFigures } from '../discovery/memory-index/figures.ts'
import type { ChainHealth, Context } from '../kit/context.ts'
import { COUNTED } from '../machinery/db/counts.ts'
import type { WorkEvent } from './workers.ts'

const DATABASE_PATIENCE_MS = 2_000

export interface Metrics extends RequestMetrics {
  countEvent(event: WorkEvent): void
}

export function createMetrics(context: Context): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addSearchFigures(context, registry)

  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name: `referrer_${name}`, help, labelNames, registers })
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `referrer_${name}`, help, labelNames, registers })

  const databaseUp = gauge('database_up', 'Whether the database answers')
  const capped = `counted up to ${COUNTED}`
  const scheduleRuns = counter('schedule_runs_total', 'Runs of schedules in this process by outcome', [
    'schedule',
    'outcome',
  ])
  const workerUp = gauge('worker_up', 'Whether a worker can do its work', ['worker'])
  const workerRestarts = counter('worker_restarts_total', 'Restarts of a worker after a failure', ['worker'])
  const chainHead = gauge('chain_head_block', 'Newest block of the chain', ['chain'])
  const chainIndexed = gauge('chain_indexed_block', 'Newest block in the records', ['chain'])
  const chainLagBlocks = gauge('chain_lag_blocks', 'Blocks that the records lag behind the chain', ['chain'])
  const chainLagSeconds = gauge('chain_lag_seconds', 'Seconds that the records lag behind the chain', [
    'chain',
  ])
  const chainActive = gauge('chain_active', 'Whether this replica writes the records of the chain', ['chain'])
  const chainGauges = [chainHead, chainIndexed, chainLagBlocks, chainLagSeconds, chainActive]
  const sends = gauge('sender_transactions', 'Own transactions by state', ['chain', 'state'])
  const sendsOldest = gauge('sender_oldest_seconds', 'Age of the oldest transaction in a state', [
    'chain',
    'state',
  ])
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
  const texts = gauge('texts_to_embed', `Texts that a model has yet to embed, ${capped}`, ['embedder'])
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
  const requests = new Histogram({
    name: 'referrer_http_request_duration_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers,
  })

  const askDatabase = sharedQuestion(DATABASE_PATIENCE_MS, () =>
    Promise.all([
      context.senderHealth(),
      context.chainHealth(),
      oracleFigures(context),
      countPendingChanges(context),
      countTexts(context.sql),
      // Without a messenger nobody sends what is due.
      context.config.messenger && oldestNoticeSeconds(context),
    ]),
  )

  async function lookAtDatabase(): Promise<void> {
    const gauges = [sends, sendsOldest, changes, decisions, dueOldest, texts, noticesOldest, ...chainGauges]
    try {
      const [transactions, chains, oracle, announced, queued, oldestNotice] = await askDatabase()
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
      for (const { embedder, count } of queued) texts.set({ embedder }, count)
      if (oldestNotice !== undefined) noticesOldest.set(oldestNotice)
      tellOfChains(chains)
      databaseUp.set(1)
    } catch (err) {
      context.log.warn({ err }, 'figures of the database are missing')
      for (const each of gauges) each.reset()
      databaseUp.set(0)
    }
  }

  function tellOfChains(chains: ChainHealth[]): void {
    for (const { chainId: chain, head, indexed, lagSeconds, isActive } of chains) {
      if (head !== null) chainHead.set({ chain }, Number(head))
      if (indexed !== null) chainIndexed.set({ chain }, Number(indexed))
      if (head !== null && indexed !== null)
        chainLagBlocks.set({ chain }, Math.max(0, Number(head - indexed)))
      if (lagSeconds !== null) chainLagSeconds.set({ chain }, lagSeconds)
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

  return {
    contentType: registry.contentType,
    async render() {
      await lookAtDatabase()
      lookAtWorkers()
      lookAtIntents()
      lookAtNotices()
      return registry.metrics()
    },
    countEvent(event) {
      if (!('schedule' in event)) return
      const outcome = event.type.slice(event.type.indexOf('.') + 1)
      scheduleRuns.inc({ schedule: event.schedule, outcome })
    },
    observeRequest: (labels, seconds) => requests.observe(labels, seconds),
  }
}

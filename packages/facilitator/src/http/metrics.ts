import { senderHealth } from '@referrer/chain'
import { type RequestMetrics, sharedQuestion } from '@referrer/process'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { formatEther, getAddress } from 'viem'
import type { Context } from '../context.ts'
import type { RefusalReason } from '../payment/refused.ts'
import { lookAtRelayers } from '../relayers.ts'
import type { SettlementEvent } from '../settlement/events.ts'

const PATIENCE_MS = 2_000

/** What a caller was told. */
export type Told = 'settled' | 'valid' | 'pending' | RefusalReason

export interface Metrics extends RequestMetrics {
  /** A request about a payment has come; call what it returns when it is over. */
  begin(route: string): () => void
  countAnswer(route: string, told: Told): void
  countEvent(event: SettlementEvent): void
}

export function createMetrics(context: Context): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name: `referrer_${name}`, help, labelNames, registers })
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `referrer_${name}`, help, labelNames, registers })
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: number[],
  ) => new Histogram({ name: `referrer_${name}`, help, labelNames, buckets, registers })

  const answers = counter('payment_answers_total', 'Answers about payments by what they say', [
    'route',
    'told',
  ])
  const inProgress = gauge('payments_in_progress', 'Requests about payments that wait for their answer', [
    'route',
  ])
  const settlements = counter('settlements_total', 'Payments that were brought to an end, by outcome', [
    'chain',
    'outcome',
  ])
  const seconds = histogram(
    'settlement_duration_seconds',
    'From the payment to its outcome',
    ['chain', 'outcome'],
    [0.05, 0.1, 0.3, 1, 2, 3, 5, 10, 30, 60],
  )
  const batches = histogram(
    'settlement_batch_size',
    'Payments in a transaction',
    ['chain'],
    [1, 2, 4, 8, 16, 32, 64, 128],
  )
  const senderEvents = counter('sender_events_total', 'What happened to transactions', ['chain', 'type'])
  const databaseUp = gauge('database_up', 'Whether the database answers')
  const sends = gauge('sender_transactions', 'Own transactions by relayer and state', [
    'chain',
    'relayer',
    'state',
  ])
  const chainUp = gauge('chain_up', 'Whether a node of the chain answers', ['chain'])
  const balances = gauge('relayer_balance_ether', 'What a relayer has for gas', ['chain', 'relayer'])
  const settlers = gauge('relayer_is_settler', 'Whether the router lets a relayer settle', [
    'chain',
    'relayer',
  ])
  const requests = histogram(
    'http_request_duration_seconds',
    'Duration of HTTP requests',
    ['method', 'route', 'status'],
    [0.003, 0.01, 0.03, 0.1, 0.3, 1, 2, 3, 5, 10, 30, 60],
  )

  const askDatabase = sharedQuestion(PATIENCE_MS, () => senderHealth(context.sql))
  const askChains = [...context.chains.values()].map((chain) => ({
    chain: chain.chainId,
    ask: sharedQuestion(PATIENCE_MS, () => lookAtRelayers(context, chain)),
  }))

  async function lookAtDatabase(): Promise<void> {
    sends.reset()
    try {
      for (const { chainId: chain, signer, enqueued, sent } of await askDatabase()) {
        const relayer = getAddress(signer)
        sends.set({ chain, relayer, state: 'enqueued' }, enqueued)
        sends.set({ chain, relayer, state: 'sent' }, sent)
      }
      databaseUp.set(1)
    } catch (err) {
      context.log.warn({ err }, 'metrics of the database cannot be read')
      databaseUp.set(0)
    }
  }

  async function lookAtChains(): Promise<void> {
    balances.reset()
    settlers.reset()
    for (const { chain, ask } of askChains) {
      const states = await ask().catch((err) => {
        context.log.warn({ err, chain }, 'metrics of a chain cannot be read')
      })
      chainUp.set({ chain }, states ? 1 : 0)
      for (const { address: relayer, balance, isSettler } of states ?? []) {
        balances.set({ chain, relayer }, Number(formatEther(balance)))
        settlers.set({ chain, relayer }, isSettler ? 1 : 0)
      }
    }
  }

  return {
    contentType: registry.contentType,
    async render() {
      await Promise.all([lookAtDatabase(), lookAtChains()])
      return registry.metrics()
    },
    begin(route) {
      inProgress.inc({ route })
      return () => inProgress.dec({ route })
    },
    countAnswer: (route, told) => answers.inc({ route, told }),
    countEvent(event) {
      const { chainId: chain } = event
      if (event.type === 'sending') batches.observe({ chain }, event.size)
      else if (event.type === 'sender') senderEvents.inc({ chain, type: event.event.type })
      else {
        settlements.inc({ chain, outcome: event.status })
        seconds.observe({ chain, outcome: event.status }, event.seconds)
      }
    },
    observeRequest: (labels, seconds) => requests.observe(labels, seconds),
  }
}

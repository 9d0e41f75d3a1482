import { senderHealth } from '@referrer/chain'
import {
  addFigures,
  programFigures,
  type RequestMetrics,
  readInBackground,
  sharedQuestion,
} from '@referrer/process'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { getAddress } from 'viem'
import type { Context } from '../context.ts'
import type { RefusalReason } from '../payment/refused.ts'
import { lookAtRelayers, type RelayerState, troubleOf } from '../relayers.ts'
import { givenOn } from '../settlement/allowance.ts'
import type { SettlementEvent } from '../settlement/events.ts'

const PATIENCE_MS = 2_000
const BALANCES_EVERY_MS = 30_000
/** A relayer should be filled up when it can pay for fewer full batches. */
const RESERVED_BATCHES = 10n

/** What a caller was told. */
export type Told = 'settled' | 'valid' | 'pending' | RefusalReason

const TOLD: readonly Told[] = [
  'settled',
  'valid',
  'pending',
  'invalid_payment',
  'self_referral',
  'settle_failed',
]

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

  const answers = counter(
    'payment_answers_total',
    "Answers about payments by what they say. `settle_failed` is ours or the chain's: look for `payment not settled` in the log",
    ['route', 'told'],
  )
  const inProgress = gauge('payments_in_progress', 'Requests about payments that wait for their answer', [
    'route',
  ])
  const settlements = counter('settlements_total', 'Payments that were brought to an end, by outcome', [
    'chain',
    'outcome',
  ])
  const seconds = histogram(
    'settlement_duration_seconds',
    'From the payment to its outcome in a block. Callers wait for it; above ten seconds look at the nodes and at the fee',
    ['chain', 'outcome'],
    [0.05, 0.1, 0.3, 1, 2, 3, 5, 10, 30, 60],
  )
  const batches = histogram(
    'settlement_batch_size',
    'Payments in a transaction',
    ['chain'],
    [1, 2, 4, 8, 16, 32, 64, 128],
  )
  const confirmationSeconds = histogram(
    'settlement_confirmation_seconds',
    'From the payment to the block that makes its outcome final. If it grows while settlements are quick, the chain or its nodes are slow',
    ['chain', 'outcome'],
    [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
  )
  const senderEvents = counter(
    'sender_events_total',
    'What happened to transactions. `trouble`, `reorganised`, `nonce-lost` and `gap` are rare: the log has the details',
    ['chain', 'type'],
  )
  const ready = gauge(
    'ready',
    'Whether the database answers and every chain has a relayer that can settle. If it stays 0, /readyz says what is wrong',
  )
  const databaseUp = gauge('database_up', 'Whether the database answers. While it is 0, nothing is settled')
  const limitsUp = gauge(
    'limits_store_up',
    'Whether the store of rate limits that replicas share answers; 1 where each process counts alone',
  )
  const sends = gauge(
    'sender_transactions',
    'Own transactions by relayer and state. If `enqueued` does not fall, the reason is in sender.intents',
    ['chain', 'relayer', 'state'],
  )
  const sendsOldest = gauge(
    'sender_oldest_seconds',
    'Age of the oldest transaction in a state, by relayer. If it grows, the reason is in sender.intents',
    ['chain', 'relayer', 'state'],
  )
  const chainUp = gauge(
    'chain_up',
    'Whether a node of the chain answers, asked every 30 seconds at most. While it is 0, nothing is settled there',
    ['chain'],
  )
  const account = ['chain', 'account', 'role'] as const
  const balances = gauge(
    'account_balance_wei',
    'What a relayer has for gas, read every 30 seconds at most. Send it some before it is below referrer_account_reserve_wei',
    account,
  )
  const reserves = gauge(
    'account_reserve_wei',
    'With less than this a relayer should be filled up: ten full batches at the present fee',
    account,
  )
  const settlers = gauge(
    'relayer_is_settler',
    'Whether the router lets a relayer settle. If 0, its admin has to grant SETTLER_ROLE',
    ['chain', 'relayer'],
  )
  const given = gauge(
    'given_away_base_units',
    'What gas beyond fees costs today by kind: gifts, and what failed or may fail. Each kind ends at half of referrer_giveaway_base_units',
    ['chain', 'kind'],
  )
  const giveaway = gauge(
    'giveaway_base_units',
    'GIVEAWAY_PER_DAY: what may be given away on a chain and UTC day, in base units of USDC',
    ['chain'],
  )
  const requests = histogram(
    'http_request_duration_seconds',
    'Duration of HTTP requests',
    ['method', 'route', 'status'],
    [0.003, 0.01, 0.03, 0.1, 0.3, 1, 2, 3, 5, 10, 30, 60],
  )

  const { sql, config, chains } = context
  addFigures(
    { Gauge, Counter },
    registry,
    programFigures({ sql, commit: config.commit, chains: chains.values() }),
  )

  // A counter that begins at 0 shows its first event as an increase.
  for (const route of ['/verify', '/settle', '/mpp/charge'])
    for (const told of TOLD) answers.inc({ route, told }, 0)
  for (const chain of chains.keys()) {
    for (const outcome of ['settled', 'refused', 'failed']) {
      settlements.inc({ chain, outcome }, 0)
      seconds.zero({ chain, outcome })
    }
    for (const outcome of ['settled', 'failed']) confirmationSeconds.zero({ chain, outcome })
    giveaway.set({ chain }, Number(config.giveawayPerDay))
    for (const type of ['reorganised', 'failed', 'nonce-lost', 'gap', 'trouble'])
      senderEvents.inc({ chain, type }, 0)
  }

  const askDatabase = sharedQuestion(PATIENCE_MS, async () => ({
    open: await senderHealth(sql),
    given: await Promise.all(
      [...chains.keys()].map(async (chain) => ({ chain, ...(await givenOn(sql, chain, context.clock())) })),
    ),
  }))
  const askChains = [...chains.values()].map((chain) => ({
    chain: chain.chainId,
    canSettle: (states: RelayerState[]) => states.some((state) => !troubleOf(chain, state)),
    ask: readInBackground(
      BALANCES_EVERY_MS,
      () => lookAtRelayers(context, chain),
      (err) => context.log.warn({ err, chain: chain.chainId }, 'metrics of a chain cannot be read'),
    ),
  }))

  /** Whether the database answers. */
  async function lookAtDatabase(): Promise<boolean> {
    sends.reset()
    sendsOldest.reset()
    try {
      const now = context.clock()
      const found = await askDatabase()
      for (const { chain, gift, risk } of found.given) {
        given.set({ chain, kind: 'gifts' }, Number(gift))
        given.set({ chain, kind: 'failures' }, Number(risk))
      }
      for (const { chainId: chain, signer, ...open } of found.open) {
        const relayer = getAddress(signer)
        for (const [state, count, oldest] of [
          ['enqueued', open.enqueued, open.oldestEnqueuedAt],
          ['sent', open.sent, open.oldestSentAt],
        ] as const) {
          sends.set({ chain, relayer, state }, count)
          sendsOldest.set({ chain, relayer, state }, oldest ? (now - oldest.getTime()) / 1_000 : 0)
        }
      }
      databaseUp.set(1)
      return true
    } catch (err) {
      context.log.warn({ err }, 'metrics of the database cannot be read')
      databaseUp.set(0)
      return false
    }
  }

  /** Whether all of them can be settled on; undefined when that is not known yet. */
  function lookAtChains(): boolean | undefined {
    let areReady: boolean | undefined = true
    for (const each of [chainUp, balances, reserves, settlers]) each.reset()
    for (const { chain, ask, canSettle } of askChains) {
      const known = ask()
      if (!('value' in known)) {
        if (known.failed) chainUp.set({ chain }, 0)
        areReady = known.failed ? false : areReady && undefined
        continue
      }
      chainUp.set({ chain }, 1)
      if (!canSettle(known.value)) areReady = false
      for (const { address, balance, batchCost, isSettler } of known.value) {
        const labels = { chain, account: address, role: 'relayer' }
        balances.set(labels, Number(balance))
        reserves.set(labels, Number(batchCost * RESERVED_BATCHES))
        settlers.set({ chain, relayer: address }, isSettler ? 1 : 0)
      }
    }
    return areReady
  }

  return {
    contentType: registry.contentType,
    async render() {
      limitsUp.set(context.limits.isUp() ? 1 : 0)
      const [areReady, isDatabaseUp] = [lookAtChains(), await lookAtDatabase()]
      if (areReady === undefined && isDatabaseUp) ready.remove()
      else ready.set(areReady && isDatabaseUp ? 1 : 0)
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
      else if (event.type === 'final')
        confirmationSeconds.observe({ chain, outcome: event.status }, event.seconds)
      else {
        settlements.inc({ chain, outcome: event.status })
        seconds.observe({ chain, outcome: event.status }, event.seconds)
      }
    },
    observeRequest: (labels, seconds) => requests.observe(labels, seconds),
  }
}

// Follows transactions until their outcome is final, and brings the rows of their payments into the state that the chain tells. A
// transaction of an earlier process is followed from the state that Postgres holds, by the same transitions.
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcError, readTransaction } from '@referrer/chain'
import { outsideRequests } from '@referrer/process'
import { type Address, isAddressEqual } from 'viem'
import type { Chain } from '../context.ts'
import type { PaymentKey } from '../payment/payment.ts'
import { observeBlock, observeNonce, observeReorganisation } from './observe.ts'
import { isMined, storedState } from './states.ts'
import { openIntents, rowsOfIntent } from './store.ts'
import type { Records, Tracked, TrackedTransaction } from './transaction.ts'
import { acceptUnsent, handOver, withdrawIfHopeless } from './withdraw.ts'

export interface Tracker {
  /** `known`: of a transaction that this process has just enqueued; of others it is read. */
  follow(intentId: bigint, known?: { relayer: Address; keys: PaymentKey[] }): Promise<Tracked>
  /** How many transactions of a relayer wait to be mined. */
  waiting(relayer: Address): number
  /** The sender has told something about a transaction. */
  wake(intentId: bigint): void
  run(signal: AbortSignal): Promise<void>
}

interface Flight extends TrackedTransaction {
  looking: Promise<void> | undefined
  lookAgain: boolean
}

const LOOK_EVERY_MS = 1_000
/** Another process may have died since, or the database was lost while a batch was written. */
const ADOPT_EVERY_MS = 5_000

export function createTracker(records: Records, chain: Chain, onMined: () => void): Tracker {
  const { sql, log } = records
  const flights = new Map<bigint, Flight>()

  const waiting = (relayer: Address) =>
    [...flights.values()].filter((flight) => flight.isWaiting && flight.relayer === relayer).length

  const follow: Tracker['follow'] = (intentId, known) => {
    let flight = flights.get(intentId)
    if (!flight) {
      flight = {
        intentId,
        relayer: known?.relayer,
        payments: known?.keys.map((key) => ({ key, state: 'enqueued' })),
        heldBy: new Set(),
        since: performance.now(),
        first: Promise.withResolvers(),
        isWaiting: true,
        seen: undefined,
        looking: undefined,
        lookAgain: false,
      }
      flights.set(intentId, flight)
      const begun = flight
      // It is looked after for all its payments, and longer than the request lasts that made it.
      outsideRequests(() => look(begun))
    }
    return flight.first.promise
  }

  /** One look at a time for each transaction; what happens meanwhile is looked at after it. */
  function look(flight: Flight): void {
    if (flight.looking) {
      flight.lookAgain = true
      return
    }
    flight.looking = lookOnce(flight)
      .catch((err) => {
        if (!(err instanceof RpcError))
          log.warn(
            { err, intent: String(flight.intentId) },
            'the outcome of a transaction cannot be read; it is read again',
          )
      })
      .finally(() => {
        flight.looking = undefined
        if (flight.lookAgain && flights.has(flight.intentId)) {
          flight.lookAgain = false
          look(flight)
        }
      })
  }

  async function lookOnce(flight: Flight): Promise<void> {
    const { intentId } = flight
    const status = await readTransaction(sql, { id: intentId })
    if (!status) throw new Error(`intent ${intentId} is not in the outbox`)
    const { state, mined, from } = status
    const ours = [...chain.relayers, ...chain.retiring]
    flight.relayer = ours.find(({ address }) => isAddressEqual(address, from))?.address
    flight.payments ??= (await rowsOfIntent(sql, intentId)).map((row) => ({
      key: row.key,
      state: storedState(row, status),
    }))
    observeNonce(flight, status)
    if (mined) {
      const isDeep = state === 'confirmed' || state === 'failed'
      const seen = await observeBlock(records, chain, flight, mined, isDeep)
      if (seen) tell(flight, { mined: seen })
      if (isDeep && flight.seen?.blockHash === mined.blockHash) flights.delete(intentId)
    } else if (state === 'failed') {
      end(flight, await acceptUnsent(records, flight, status))
    } else if (flight.payments.some((payment) => isMined(payment.state))) {
      await observeReorganisation(records, flight)
    } else if (state === 'enqueued' && !(await handOver(records, chain, flight, status, waiting))) {
      const isAnySent = [...flights.values()].some(isOnItsWay)
      const message = await withdrawIfHopeless(records, flight, status, isAnySent)
      if (message !== undefined) end(flight, message)
    }
  }

  /** It was never sent. */
  function end(flight: Flight, message: string): void {
    flights.delete(flight.intentId)
    tell(flight, { message })
  }

  function tell(flight: Flight, tracked: Tracked): void {
    flight.first.resolve(tracked)
    if (!flight.isWaiting) return
    flight.isWaiting = false
    onMined()
  }

  return {
    follow,
    waiting,
    wake(intentId) {
      const flight = flights.get(intentId)
      if (flight) look(flight)
    },
    async run(signal) {
      let adoptAt = 0
      while (!signal.aborted) {
        try {
          if (performance.now() >= adoptAt) {
            for (const intentId of await openIntents(sql, chain.chainId)) void follow(intentId)
            adoptAt = performance.now() + ADOPT_EVERY_MS
          }
          for (const flight of flights.values()) look(flight)
        } catch (err) {
          log.warn({ err }, 'open settlements cannot be read; they are read again')
        }
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
  }
}

const isOnItsWay = ({ isWaiting, payments = [] }: Flight) =>
  isWaiting && payments.some(({ state }) => state === 'sent')

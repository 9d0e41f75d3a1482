import { setTimeout as sleep } from 'node:timers/promises'
import type { Abi, LocalAccount } from 'viem'
import { type Leadership, lead } from '../leadership.ts'
import { RpcError, type RpcPool } from '../rpc/index.ts'
import { readHeads } from './node-view.ts'
import { signerLock, wakePayload } from './outbox.ts'
import { createRecentBroadcasts } from './recent-broadcasts.ts'
import { round } from './round.ts'
import {
  type EventOfSigner,
  type Origin,
  type SenderEvent,
  type SignerContext,
  SigningError,
} from './types.ts'

export interface SenderOptions {
  chainId: number
  rpc: RpcPool
  databaseUrl: string
  /** The accounts whose intents this process sends. Intents of others wait for another process. */
  signers: LocalAccount[]
  /** How many blocks, including its own, make an outcome final. */
  confirmations: number
  /** The highest price paid for a unit of gas, in wei. */
  maxFeePerGas: bigint
  /** The errors of the contracts that are called, by which a revert is named. */
  errors?: Abi
  /** How long a transaction may wait to be mined before its fee is raised, and a nonce be missing before it is filled. */
  stuckAfterMs?: number
  /** How many transactions of a signer are in the nodes' pools at once; nodes guarantee room for sixteen per account. */
  maxInFlight?: number
  /** After how long an intent that could not be sent is tried again. */
  retryAfterMs?: number
  /** How often it reads the chain when no notification wakes it. */
  pollIntervalMs?: number
  /** How often it reads the heads of the chain while a sent transaction is not mined; default: `pollIntervalMs`. */
  watchIntervalMs?: number
  now?: () => Date
  onEvent?: ((event: SenderEvent) => void) | undefined
}

export interface Sender {
  /** Runs until the signal aborts; retries temporary failures instead of throwing. */
  run(signal: AbortSignal): Promise<void>
}

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 10_000

export function createSender(options: SenderOptions): Sender {
  const { chainId, databaseUrl, signers, pollIntervalMs = 1_000, watchIntervalMs = pollIntervalMs } = options

  async function serve(account: LocalAccount, signal: AbortSignal): Promise<void> {
    const { address } = account
    const origins = new Map<bigint, Origin>()
    const emit = (event: EventOfSigner) => {
      const origin = 'intent' in event ? origins.get(event.intent) : undefined
      options.onEvent?.({ signer: address, ...event, ...(origin && { origin }) })
      if (event.type === 'confirmed' || event.type === 'failed') origins.delete(event.intent)
    }
    let failures = 0

    function recovered() {
      if (failures > 0) emit({ type: 'recovered' })
      failures = 0
    }

    async function pauseAfter(error: unknown) {
      const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)
      failures += 1
      emit({ type: 'trouble', error: error instanceof Error ? error : new Error(String(error)), retryInMs })
      await sleep(retryInMs, undefined, { signal }).catch(() => {})
    }

    /** While a transaction is not mined, only the heads are polled often: a full round asks for everything in flight. */
    async function nextBlock(wakeSignal: WakeSignal, heads: string): Promise<void> {
      const until = performance.now() + pollIntervalMs
      do {
        if ((await wakeSignal.wait(watchIntervalMs, signal)) || signal.aborted) return
      } while (performance.now() < until && (await readHeads(options.rpc, { signal })) === heads)
    }

    async function work(leadership: Leadership): Promise<void> {
      const wakeSignal = createWakeSignal()
      await leadership.sql.listen('sender', (payload) => {
        if (payload === wakePayload(chainId, address)) wakeSignal.notify()
      })
      emit({ type: 'active' })
      const context: SignerContext = {
        stuckAfterMs: 30_000,
        retryAfterMs: 5_000,
        maxInFlight: 16,
        errors: [],
        now: () => new Date(),
        ...options,
        account,
        leadership,
        signal,
        emit,
        recentBroadcasts: createRecentBroadcasts(),
        origins,
        gap: undefined,
        unfunded: undefined,
        lastUnanswered: undefined,
        unsigned: undefined,
      }
      while (!signal.aborted) {
        try {
          const { isUnmined, heads } = await round(context)
          recovered()
          await (isUnmined ? nextBlock(wakeSignal, heads) : wakeSignal.wait(pollIntervalMs, signal))
        } catch (error) {
          if (signal.aborted) return
          if (!(error instanceof RpcError || error instanceof SigningError)) throw error
          await pauseAfter(error)
        }
      }
    }

    while (!signal.aborted) {
      try {
        await lead({ databaseUrl, lock: signerLock(chainId, address), signal, onStandby: recovered }, work)
      } catch (error) {
        if (!signal.aborted) await pauseAfter(error)
      }
    }
  }

  return {
    async run(signal) {
      await Promise.all(signers.map((account) => serve(account, signal)))
    },
  }
}

/** Waits for some time or until notified; a notification while nobody waits is kept. */
function createWakeSignal() {
  let isNotified = false
  let wake = () => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    /** Resolves to whether it was notified. */
    async wait(ms: number, signal: AbortSignal): Promise<boolean> {
      const awake = new AbortController()
      wake = () => awake.abort()
      if (!isNotified)
        await sleep(ms, undefined, { signal: AbortSignal.any([signal, awake.signal]) }).catch(() => {})
      const wasNotified = isNotified
      isNotified = false
      return wasNotified
    },
  }
}

type WakeSignal = ReturnType<typeof createWakeSignal>

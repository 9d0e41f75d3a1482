import { setTimeout as sleep } from 'node:timers/promises'
import type { Abi, LocalAccount } from 'viem'
import { type Leadership, lead } from '../leadership.ts'
import { RpcError, type RpcPool } from '../rpc/index.ts'
import { round } from './desk.ts'
import { signerLock, wakeWord } from './outbox.ts'
import { createHanded, readHeads } from './sight.ts'
import type { Desk, EventOfSigner, SenderEvent } from './types.ts'

export interface SenderOptions {
  chainId: number
  rpc: RpcPool
  databaseUrl: string
  /** Whose intents are sent. Those of others wait. */
  signers: LocalAccount[]
  /** How many blocks, its own included, make an outcome final. */
  confirmations: number
  /** The most that is ever paid for a unit of gas, in wei. */
  maxFeePerGas: bigint
  /** The errors of the contracts that are called, by which a revert is named; what they do not declare stays unnamed. */
  errors?: Abi
  /** How long a transaction may wait to be mined before its fee is raised, and a nonce be missing before it is filled. */
  stuckAfterMs?: number
  /** How many transactions of a signer wait in the nodes' pools at once; nodes keep sixteen an account for sure. */
  maxInFlight?: number
  /** When an intent that could not go is tried again. */
  retryAfterMs?: number
  /** How often it looks at the chain when nobody has woken it. */
  pollIntervalMs?: number
  /** How often while something sent is not mined yet; as ever when left out. */
  watchIntervalMs?: number
  now?: () => Date
  onEvent?: ((event: SenderEvent) => void) | undefined
}

export interface Sender {
  /** Until the signal; never throws for what may pass. */
  run(signal: AbortSignal): Promise<void>
}

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 10_000

export function createSender(options: SenderOptions): Sender {
  const { chainId, databaseUrl, signers, pollIntervalMs = 1_000, watchIntervalMs = pollIntervalMs } = options

  async function serve(account: LocalAccount, signal: AbortSignal): Promise<void> {
    const { address } = account
    const emit = (event: EventOfSigner) => options.onEvent?.({ signer: address, ...event })
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

    /** While something is not mined, only the heads are watched closely: a round asks for all that is in flight. */
    async function nextBlock(bell: Bell, heads: string): Promise<void> {
      const until = performance.now() + pollIntervalMs
      do {
        if ((await bell.wait(watchIntervalMs, signal)) || signal.aborted) return
      } while (performance.now() < until && (await readHeads(options.rpc, { signal })) === heads)
    }

    async function work(leadership: Leadership): Promise<void> {
      const bell = createBell()
      await leadership.sql.listen('sender', (word) => {
        if (word === wakeWord(chainId, address)) bell.ring()
      })
      emit({ type: 'active' })
      const desk: Desk = {
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
        handed: createHanded(),
        gap: undefined,
        unfunded: undefined,
        stumbledAt: undefined,
      }
      while (!signal.aborted) {
        try {
          const { isUnmined, heads } = await round(desk)
          recovered()
          await (isUnmined ? nextBlock(bell, heads) : bell.wait(pollIntervalMs, signal))
        } catch (error) {
          if (signal.aborted) return
          if (!(error instanceof RpcError)) throw error
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

/** Lets one wait for some time, or until somebody rings; a ring while nobody waits is not lost. */
function createBell() {
  let rung = false
  let wake = () => {}
  return {
    ring() {
      rung = true
      wake()
    },
    /** Whether somebody rang. */
    async wait(ms: number, signal: AbortSignal): Promise<boolean> {
      const awake = new AbortController()
      wake = () => awake.abort()
      if (!rung)
        await sleep(ms, undefined, { signal: AbortSignal.any([signal, awake.signal]) }).catch(() => {})
      const wasRung = rung
      rung = false
      return wasRung
    },
  }
}

type Bell = ReturnType<typeof createBell>

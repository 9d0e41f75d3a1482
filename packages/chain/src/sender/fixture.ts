import type { LocalClient } from '@referrer/contracts/local'
import type { TestDatabase } from '@referrer/database/testing'
import { type Address, type Hex, type LocalAccount, parseEther, parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, vi } from 'vitest'
import { createRpcPool } from '../rpc/index.ts'
import { enqueueTransaction, readTransaction, type TransactionRequest } from './outbox.ts'
import { createSender, type SenderOptions } from './sender.ts'
import type { SenderEvent, TransactionState } from './types.ts'

export const CONFIRMATIONS = 3
export const CAP = parseGwei('100')
/** Reverts with Error("no"). */
export const SAYS_NO: Hex = `0x7f08c379a0${'00'.repeat(28)}60005260206004526002602452616e6f60f01b60445260646000fd`

export const freshAddress = (): Address => privateKeyToAccount(generatePrivateKey()).address

/** Somebody with gas and no history. */
export async function freshSigner(client: LocalClient, value = parseEther('1')): Promise<LocalAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await client.setBalance({ address: account.address, value })
  return account
}

export interface RunningSender {
  events: SenderEvent[]
  seen(type: SenderEvent['type']): Promise<SenderEvent>
  /** How often it asked a node so far. */
  requests(): number
  /** Waits until it has looked at the chain some more times. */
  looksAgain(): Promise<void>
  stop(): Promise<void>
}

export interface FixtureOptions {
  chainId: number
  urls: string[]
  database: TestDatabase
  fetch?: typeof fetch
  /** How long a node is waited for; long, because a busy machine is slow. */
  rpcTimeoutMs?: number
}

/** A sender in this process that looks often. */
export function startSender(
  { chainId, urls, database, fetch: send = fetch, rpcTimeoutMs = 20_000 }: FixtureOptions,
  options: Pick<SenderOptions, 'signers'> & Partial<SenderOptions>,
): RunningSender {
  const stopping = new AbortController()
  const events: SenderEvent[] = []
  let requests = 0
  const counting: typeof fetch = (input, init) => {
    requests += 1
    return send(input, init)
  }
  const sender = createSender({
    chainId,
    rpc: createRpcPool({ chainId, urls, timeoutMs: rpcTimeoutMs, fetch: counting }),
    databaseUrl: database.url,
    confirmations: CONFIRMATIONS,
    maxFeePerGas: CAP,
    retryAfterMs: 50,
    pollIntervalMs: 20,
    ...options,
    onEvent: (event) => {
      events.push(event)
      options.onEvent?.(event)
    },
  })
  const done = sender.run(stopping.signal)
  return {
    events,
    seen: (type) =>
      vi.waitFor(() => {
        const event = events.find((item) => item.type === type)
        if (!event) throw new Error(`no event "${type}" among ${events.map((item) => item.type).join(', ')}`)
        return event
      }, PATIENCE),
    requests: () => requests,
    async looksAgain() {
      const enough = requests + 20 * urls.length
      await until(() => requests >= enough)
    },
    async stop() {
      stopping.abort()
      await done
    },
  }
}

const PATIENCE = { timeout: 40_000, interval: 20 }

/** Waits until the intent is in that state. */
export async function reached(database: TestDatabase, id: bigint, state: TransactionState) {
  return vi.waitFor(async () => {
    const status = await readTransaction(database.sql, { id })
    expect(status?.state, `intent ${id} (${status?.reason})`).toBe(state)
    return status as NonNullable<typeof status>
  }, PATIENCE)
}

export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  await vi.waitFor(async () => {
    if (!(await condition())) throw new Error(`never: ${condition}`)
  }, PATIENCE)
}

let keys = 0

/** One wei for somebody new: sent twice, it shows. */
export async function enqueueGift(
  database: TestDatabase,
  chainId: number,
  from: LocalAccount,
  changes: Partial<TransactionRequest> = {},
): Promise<{ id: bigint; to: Address }> {
  const to = changes.to ?? freshAddress()
  keys += 1
  const request = {
    chainId,
    from: from.address,
    to,
    data: '0x' as Hex,
    value: 1n,
    key: `gift ${keys}`,
    ...changes,
  }
  return { id: await enqueueTransaction(database.sql, request), to }
}

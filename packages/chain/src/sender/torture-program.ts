import { writeSync } from 'node:fs'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createRpcPool } from '../rpc/index.ts'
import { createSender } from './sender.ts'
import type { SenderEvent } from './types.ts'

/** What the torture test tells its child, in the environment variable TORTURE. */
export interface TortureSettings {
  databaseUrl: string
  chains: { chainId: number; urls: string[]; keys: Hex[] }[]
  confirmations: number
  /** The process kills itself at the first of these events. */
  crashAt: SenderEvent['type'][]
}

const { databaseUrl, chains, confirmations, crashAt }: TortureSettings = JSON.parse(process.env.TORTURE ?? '')

function onEvent(event: SenderEvent): void {
  const detail = event.type === 'trouble' ? ` ${event.error.message}` : ''
  // Nothing waits in a buffer when the process dies.
  writeSync(1, `${event.type}${detail}\n`)
  if (crashAt.includes(event.type)) process.kill(process.pid, 'SIGKILL')
}

await Promise.all(
  chains.map(({ chainId, urls, keys }) =>
    createSender({
      chainId,
      rpc: createRpcPool({ chainId, urls, timeoutMs: 500 }),
      databaseUrl,
      signers: keys.map((key) => privateKeyToAccount(key)),
      confirmations,
      maxFeePerGas: 10n ** 12n,
      stuckAfterMs: 500,
      retryAfterMs: 200,
      pollIntervalMs: 80,
      onEvent,
    }).run(new AbortController().signal),
  ),
)

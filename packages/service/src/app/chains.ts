// What follows the chains: an indexer for each, and a sender for each that the service has keys for, as far as the roles want them.
import {
  createSender,
  type Indexer,
  type IndexerEvent,
  indexerHealth,
  type SenderEvent,
  senderHealth,
} from '@referrer/chain'
import type { LocalAccount } from 'viem'
import type { Chain, ChainHealth, Context, SenderHealth } from '../kit/context.ts'
import { ERRORS } from '../kit/contract-errors.ts'
import type { Frame, Worker } from '../machinery/workers/frame.ts'
import { linkPublished } from '../market/ref-tokens/refresh.ts'
import { createMarketIndexer } from './indexing.ts'

type Prefixed<Prefix extends string, Event extends { type: string }> = Event extends unknown
  ? Omit<Event, 'type'> & { type: `${Prefix}.${Event['type']}`; chain: number }
  : never

export type ChainEvent = Prefixed<'indexer', IndexerEvent> | Prefixed<'sender', SenderEvent>

export type ChainsContext = Pick<Context, 'config' | 'sql' | 'databaseUrl' | 'chains' | 'clock'>

export interface FollowedChains {
  workers: Worker[]
  chainHealth(): Promise<ChainHealth[]>
  senderHealth(): Promise<SenderHealth[]>
}

const GWEI = 1_000_000_000n

export function followChains(
  context: ChainsContext,
  signers: LocalAccount[],
  onEvent: (event: ChainEvent) => void,
): FollowedChains {
  const { sql, config, databaseUrl } = context
  const followed = [...context.chains.values()].map((chain) => follow(chain))

  function follow({ config: chain, rpc, attestation }: Chain): {
    chainId: number
    indexer: Indexer
    workers: Worker[]
  } {
    const { chainId } = chain
    let frame: Frame | undefined
    const indexer = createMarketIndexer({
      chain,
      rpc,
      databaseUrl: databaseUrl.reveal(),
      link: (tx, internalIds) => linkPublished(tx, context, { config: chain, attestation }, internalIds),
      onEvent(event) {
        if (event.type === 'failed') frame?.failing(event.error)
        else frame?.working()
        onEvent({ ...event, type: `indexer.${event.type}`, chain: chainId } as ChainEvent)
      },
    })
    const indexing: Worker = {
      name: `indexer ${chainId}`,
      run(signal, given) {
        frame = given
        return indexer.run(signal)
      },
    }
    const isSending = config.roles.has('workers') && signers.length > 0
    return {
      chainId,
      indexer,
      workers: [
        ...(config.roles.has('indexer') ? [indexing] : []),
        ...(isSending ? [sendingOn({ config: chain, rpc })] : []),
      ],
    }
  }

  function sendingOn({
    config: { chainId, confirmations, maxFeePerGasGwei },
    rpc,
  }: Omit<Chain, 'attestation'>): Worker {
    return {
      name: `sender ${chainId}`,
      run: (signal, frame) =>
        createSender({
          chainId,
          rpc,
          databaseUrl: databaseUrl.reveal(),
          signers,
          confirmations,
          maxFeePerGas: BigInt(maxFeePerGasGwei) * GWEI,
          errors: ERRORS,
          onEvent(event) {
            if (event.type === 'trouble') frame.failing(event.error)
            else frame.working()
            onEvent({ ...event, type: `sender.${event.type}`, chain: chainId } as ChainEvent)
          },
        }).run(signal),
    }
  }

  return {
    workers: followed.flatMap(({ workers }) => workers),
    async chainHealth() {
      const recorded = new Map((await indexerHealth(sql)).map((health) => [health.chainId, health]))
      return followed.map(({ chainId, indexer }) => {
        const { isActive, error } = indexer.status()
        const known = recorded.get(chainId)
        const { head = null, indexed = null, lagSeconds = null, headAgeSeconds = null } = known ?? {}
        return { chainId, head, indexed, lagSeconds, headAgeSeconds, isActive, error }
      })
    },
    senderHealth: () => countTransactions(context),
  }
}

/** By chain and state, over all signers. */
async function countTransactions({ sql, clock }: ChainsContext): Promise<SenderHealth[]> {
  const counted = new Map<string, SenderHealth>()
  const now = clock()
  for (const signer of await senderHealth(sql)) {
    for (const [state, count, oldest] of [
      ['enqueued', signer.enqueued, signer.oldestEnqueuedAt],
      ['sent', signer.sent, signer.oldestSentAt],
    ] as const) {
      const key = `${signer.chainId} ${state}`
      const sum = counted.get(key) ?? { chainId: signer.chainId, state, count: 0, oldestSeconds: 0 }
      const age = oldest ? (now - oldest.getTime()) / 1_000 : 0
      counted.set(key, { ...sum, count: sum.count + count, oldestSeconds: Math.max(sum.oldestSeconds, age) })
    }
  }
  return [...counted.values()]
}

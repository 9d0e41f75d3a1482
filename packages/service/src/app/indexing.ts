import { createIndexer, type Indexer, type IndexerEvent, type RpcPool } from '@referrer/chain'
import type { Transaction } from '@referrer/database'
import type { ChainConfig } from '@referrer/process'
import { keccak256, stringToHex } from 'viem'
import { createEventReader, type EventOf, type MarketEvent } from '../kit/events.ts'
import { applyIdentityEvents, finalizeAgents } from '../market/agents/mirror.ts'
import { applyEscrowEvents } from '../market/escrows/mirror.ts'
import { applyFeedbackEvents } from '../market/feedback/mirror.ts'
import { applyMerchantEvents, finalizeProducts } from '../market/merchants/mirror.ts'
import { applyReviewEvents, finalizeReviews, type Link } from '../market/reviews/mirror.ts'

export type IndexedChain = Pick<
  ChainConfig,
  'chainId' | 'contracts' | 'startBlock' | 'finalityDepth' | 'pollIntervalMs'
>

export interface IndexingOptions {
  chain: IndexedChain
  rpc: RpcPool
  databaseUrl: string
  link: Link
  onEvent?: ((event: IndexerEvent) => void) | undefined
}

/** An indexer that writes the events of a chain to the tables of agents, merchants, reviews, escrows and feedback. */
export function createMarketIndexer({ chain, rpc, databaseUrl, link, onEvent }: IndexingOptions): Indexer {
  const { chainId } = chain
  const reader = createEventReader(chain.contracts)

  async function write(tx: Transaction, events: MarketEvent[], isFinal: boolean): Promise<void> {
    const by = Map.groupBy(events, ({ contract }) => contract)
    const of = <Contract extends MarketEvent['contract']>(contract: Contract) =>
      (by.get(contract) ?? []) as EventOf<Contract>[]
    requireKnownAddresses(of('AddressRegistry'), chain)
    // All use one connection: the statements are pipelined, and Postgres does them in this order.
    await Promise.all([
      applyIdentityEvents(tx, chainId, of('IdentityRegistry'), isFinal),
      applyMerchantEvents(tx, chainId, of('MerchantRegistry'), isFinal),
      applyReviewEvents(tx, chainId, of('ReviewRegistry'), isFinal, link),
      applyEscrowEvents(tx, chainId, [...of('CommissionEscrow'), ...of('SplitRouter')]),
      applyFeedbackEvents(tx, chainId, of('ReputationRegistry')),
    ])
  }

  return createIndexer({
    ...chain,
    rpc,
    databaseUrl,
    filter: reader.filter,
    apply: (tx, logs, isFinal) => write(tx, reader.decode(logs), isFinal),
    async finalized(tx, number) {
      await Promise.all([
        finalizeAgents(tx, chainId, number),
        finalizeProducts(tx, chainId, number),
        finalizeReviews(tx, chainId, number),
      ])
    },
    onEvent,
  })
}

const KEYS = {
  IDENTITY_REGISTRY: 'IdentityRegistry',
  MERCHANT_REGISTRY: 'MerchantRegistry',
  REVIEW_REGISTRY: 'ReviewRegistry',
  COMMISSION_ESCROW: 'CommissionEscrow',
  SPLIT_ROUTER: 'SplitRouter',
} as const

const CONTRACT_OF_KEY = new Map(
  Object.entries(KEYS).map(([key, contract]) => [keccak256(stringToHex(key)), contract]),
)

/** Stops at the block that replaces a contract whose new address is not configured: going on would miss its events. */
function requireKnownAddresses(
  events: EventOf<'AddressRegistry'>[],
  { chainId, contracts }: IndexedChain,
): void {
  for (const { args, blockNumber } of events) {
    const contract = CONTRACT_OF_KEY.get(args.key)
    if (!contract) continue
    const known = [contracts[contract]].flat().map((address) => address.toLowerCase())
    if (known.includes(args.current.toLowerCase())) continue
    const remedy = Array.isArray(contracts[contract])
      ? `add it to contracts.${contract} of that chain and start again`
      : `this version follows one ${contract} only, so bring the service up to date first`
    throw new Error(
      `block ${blockNumber} of chain ${chainId} names ${args.current} as ${contract}: ${remedy}`,
    )
  }
}

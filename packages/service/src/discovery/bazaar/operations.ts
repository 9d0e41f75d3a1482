// The catalogue of everything that is sold here, for clients that know x402 and nothing of this market.
import { createTurns } from '@referrer/net'
import { createCache } from '@referrer/process'
import { X402 } from '@referrer/protocol'
import { keyOf } from '@referrer/search'
import { type Address, hexToBytes } from 'viem'
import type { z } from 'zod'
import { cut } from '../../derived/texts/text.ts'
import { type Chain, type Context, once, oncePerProcess } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { INTENT_CHARACTERS, searchFor } from '../answers/answer.ts'
import { openHits } from '../answers/choose.ts'
import { searchOf } from '../answers/operations.ts'
import { itemOf } from './item.ts'
import { bestToken } from './links.ts'
import type { BazaarResource, BazaarResources, BazaarSearch } from './shapes.ts'
import { findResources, merchantsPaying, openKeys } from './store.ts'

/** What the official client can filter by. */
export interface Filter {
  type: string | undefined
  payTo: Address | undefined
  scheme: string | undefined
  network: string | undefined
  extensions: string | undefined
}

type Item = z.output<typeof BazaarResource>

interface Listed {
  chain: Chain
  /** The product's key in the search index. */
  key: string
}

interface Found extends Listed {
  score: number
}

/** A catalogue that is read page by page stays as it is meanwhile, and everybody who reads it makes one query together. */
const KEPT_MS = 10_000
const MOST_LISTS = 200
const MOST_BYTES = 32 * 1024 * 1024
const BYTES_OF_KEY = 120
/** A search ends after so many matches. */
const MOST_FOUND = 60
const MOST_SEARCHES = 500
/** A page can have more than a megabyte. */
const PAGES_AT_ONCE = 4

export async function listResources(
  context: Context,
  chains: readonly Chain[],
  filter: Filter,
  { limit, offset }: { limit: number; offset: number },
): Promise<z.output<typeof BazaarResources>> {
  const lists = await Promise.all(chainsOf(chains, filter).map((chain) => listOf(context, chain, filter)))
  const listed = lists.flat()
  return {
    x402Version: X402.VERSION,
    items: await itemsOf(context, listed.slice(offset, offset + limit)),
    pagination: { limit, offset, total: listed.length },
  }
}

export async function searchResources(
  context: Context,
  chains: readonly Chain[],
  filter: Filter,
  { query, limit, cursor }: { query: string; limit: number; cursor: number },
): Promise<z.output<typeof BazaarSearch>> {
  const each = await Promise.all(
    chainsOf(chains, filter).map((chain) => matchesOf(context, chain, filter, cut(query, INTENT_CHARACTERS))),
  )
  const found = each
    .flatMap(({ matches }) => matches)
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
  const resources = await itemsOf(context, found.slice(cursor, cursor + limit))
  const next = cursor + limit < found.length ? String(cursor + limit) : null
  return {
    x402Version: X402.VERSION,
    resources,
    partialResults: each.some(({ isCut }) => isCut),
    pagination: { limit: resources.length, cursor: next },
  }
}

/** Everything here is sold over HTTP, for an exact price, and says how to call it. */
function chainsOf(chains: readonly Chain[], { type, scheme, network, extensions }: Filter): readonly Chain[] {
  if ((type ?? 'http') !== 'http' || (scheme ?? 'exact') !== 'exact') return []
  if ((extensions ?? 'bazaar') !== 'bazaar') return []
  return chains.filter(({ config }) => network === undefined || X402.Network.from(config.chainId) === network)
}

async function listOf(context: Context, chain: Chain, { payTo }: Filter): Promise<Listed[]> {
  const keys = await listsOf(context)({ chain, payTo: merchantIn(chain, payTo) })
  return keys.map((key) => ({ chain, key }))
}

/** Whose products are asked for; undefined: everybody's, because every payment here is made to the split router. */
function merchantIn({ config }: Chain, payTo: Address | undefined): Address | undefined {
  const isRouter = config.contracts.SplitRouter.some(
    (router) => router.toLowerCase() === payTo?.toLowerCase(),
  )
  return isRouter ? undefined : payTo
}

const listsOf = once(({ sql, clock }) =>
  createCache<{ chain: Chain; payTo: Address | undefined }, string[]>({
    keyOf: ({ chain, payTo }) => `${chain.config.chainId}/${payTo ?? ''}`,
    load: async ({ chain: { config }, payTo }) => {
      if (payTo === undefined) return openKeys(sql, config.chainId, undefined)
      const merchants = await merchantsPaying(sql, config.chainId, Buffer.from(hexToBytes(payTo)))
      return merchants.length === 0 ? [] : openKeys(sql, config.chainId, merchants)
    },
    ttlMs: () => KEPT_MS,
    clock,
    max: MOST_LISTS,
    maxBytes: MOST_BYTES,
    bytesOf: (keys) => (keys.length + 1) * BYTES_OF_KEY,
  }),
)

async function matchesOf(context: Context, chain: Chain, filter: Filter, query: string) {
  const { matches, isCut } = await searchesOf(context)({ chain, query })
  if (merchantIn(chain, filter.payTo) === undefined) return { matches, isCut }
  const theirs = new Set((await listOf(context, chain, filter)).map(({ key }) => key))
  return { matches: matches.filter(({ key }) => theirs.has(key)), isCut }
}

const searchesOf = once((context) =>
  createCache<{ chain: Chain; query: string }, { matches: Found[]; isCut: boolean; isAvailable: boolean }>({
    keyOf: ({ chain, query }) => JSON.stringify([chain.config.chainId, query]),
    load: async ({ chain, query }) => {
      const filters = { category: undefined, ceiling: undefined }
      const { chainId } = chain.config
      const asked = { chainId, intent: query, most: MOST_FOUND, ...filters }
      const { hits, isAvailable } = await searchFor(searchOf(context), asked)
      const matching = hits.filter(({ intentMatch }) => intentMatch > 0)
      const open = await openHits(context.sql, chainId, filters, matching)
      const matches = open.slice(0, MOST_FOUND).map(({ key, score }) => ({ chain, key, score }))
      // Discovery answers by rank where the index cannot be asked. Here nobody would see that it does not match, and a client may buy it.
      return { matches, isCut: matching.length >= MOST_FOUND || !isAvailable, isAvailable }
    },
    ttlMs: ({ isAvailable }) => (isAvailable ? KEPT_MS : 0),
    clock: context.clock,
    max: MOST_SEARCHES,
  }),
)

/** In the same order; without what was closed meanwhile. */
const itemsOf = (context: Context, listed: readonly Listed[]): Promise<Item[]> =>
  pages(context)(async () => {
    const byChain = Map.groupBy(listed, ({ chain }) => chain)
    const found = new Map<string, Item>()
    await Promise.all([...byChain].map(([chain, some]) => readItems(context, chain, some, found)))
    return listed.flatMap((each) => found.get(nameOf(each)) ?? [])
  })

const pages = oncePerProcess(() => createTurns(PAGES_AT_ONCE))

const nameOf = ({ chain, key }: Listed) => `${chain.config.chainId}/${key}`

async function readItems(
  context: Context,
  chain: Chain,
  listed: readonly Listed[],
  found: Map<string, Item>,
): Promise<void> {
  const { chainId } = chain.config
  const rows = await findResources(
    context.sql,
    chainId,
    listed.map(({ key }) => key),
  )
  await Promise.all(
    rows.map(async (row) => {
      const key = keyOf(row.merchant_id, row.product_id)
      const token = await bestToken(context)({ chainId, key, productType: row.product_type })
      found.set(nameOf({ chain, key }), itemOf(context, chain, row, token))
    }),
  )
}

/** A cursor is the position of the next match. */
export function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (!/^\d{1,4}$/.test(cursor)) throw new MarketError('invalid input', 'invalid cursor')
  return Number(cursor)
}

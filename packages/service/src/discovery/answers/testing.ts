// A test market with only the rows that discovery reads.
import type { Sql } from '@referrer/database'
import { keyOf } from '@referrer/search'
import type { Context } from '../../kit/context.ts'
import { asIndexer } from '../../testing/records.ts'
import type { Search, Source } from '../source.ts'
import { type Asked, answerTo } from './answer.ts'

export const NOW = Date.parse('2026-06-15T12:00:00Z')
export const MODEL = 'test/model@1'

export const account = (number: number): Buffer => Buffer.alloc(20, number)
export const productId = (number: number): Buffer => Buffer.alloc(32, number)

export interface Listed {
  merchantId?: number
  name?: string
  category?: string
  rank?: number
  /** The price its endpoint asked for; left out: unknown. */
  price?: number
  leastPrice?: number
  isOpen?: boolean
  isOneOff?: boolean
  reviews?: readonly bigint[]
  reviewCount?: number
}

export interface Written {
  /** An unknown agent is created, with an owner of its own. */
  agentId?: number
  merchantId?: number
  satisfaction?: number
  description?: string
  publishedAt?: Date
  refToken?: string
  /** The author's owner at publication. */
  authorOwner?: number
  vector?: readonly number[]
  isOnChain?: boolean
}

export type Answer = {
  products: {
    merchant_id: number
    product_id: string
    product_score: number
    sub_scores: { intent_match: number; product_rank: number }
    reviews: { slot: string; internal_id: number; relevance: number }[] | null
    [key: string]: unknown
  }[]
  coverage?: string
  checklists?: Record<string, string[]>
}

/** A source that finds these products, best first. */
export function sourceOf(hits: readonly [product: number, intentMatch: number][]): Source {
  const found = hits.map(([number, intentMatch]) => ({
    key: keyOf(1n, productId(number)),
    intentMatch,
    rank: 0.5,
  }))
  return {
    embedderId: MODEL,
    find: async (_chainId, { limit }) => found.slice(0, limit),
    explain: async (_chainId, { limit }) => ({
      hits: found.slice(0, limit).map((hit) => ({ ...hit, words: hit.intentMatch, near: 0 })),
      share: 0,
      reading: { words: [], fillers: [], beyond: [] },
    }),
  }
}

export function smallMarket(sql: Sql, chainId: number) {
  let numbers = 0
  const context = {
    sql,
    clock: () => NOW,
    config: { publicUrl: 'https://market.test' },
  } as unknown as Context

  const market = {
    context,

    async agent(agentId: number, owner: number, transferredAt: Date | null = null): Promise<void> {
      await asIndexer(
        sql,
        (tx) => tx`
          INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at, transferred_at)
          VALUES (${chainId}, ${agentId}, ${account(owner)}, ${account(0)}, '', now(), ${transferredAt})
          ON CONFLICT DO NOTHING`,
      )
      await sql`INSERT INTO market.agents (chain_id, agent_id) VALUES (${chainId}, ${agentId}) ON CONFLICT DO NOTHING`
    },

    async rank(agentId: number, { repeat, oneOff }: { repeat?: number; oneOff?: number }): Promise<void> {
      await sql`
        INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off, day)
        VALUES (${chainId}, ${agentId}, ${repeat ?? null}, ${oneOff ?? null}, 0)`
    },

    async product(number: number, listed: Listed = {}): Promise<void> {
      const { merchantId = 1, name = `Product ${number}`, category = '', rank = 0.5, reviews = [] } = listed
      const [id, url] = [productId(number), `https://shop.test/${number}`]
      await asIndexer(
        sql,
        (tx) => tx`
          INSERT INTO chain.products
          VALUES (${chainId}, ${merchantId}, ${id}, 500, ${listed.leastPrice ?? 0}, ${listed.isOneOff ? 1 : 0}, '', true, now())`,
      )
      await sql`
        INSERT INTO market.products (chain_id, merchant_id, product_id, name, category, rank, endpoint_url)
        VALUES (${chainId}, ${merchantId}, ${id}, ${name}, ${category}, ${rank}, ${url})`
      await sql`
        INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
        VALUES (${chainId}, ${merchantId}, ${id}, ${listed.isOpen ?? true}, ${listed.reviewCount ?? reviews.length},
          ${[...reviews]}::bigint[], '')`
      if (listed.price === undefined) return
      await sql`
        INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url, price)
        VALUES (${chainId}, ${merchantId}, ${id}, ${url}, ${listed.price})`
    },

    /** Returns the internal id. */
    async review(written: Written = {}): Promise<bigint> {
      const number = ++numbers
      const {
        agentId = 100 + number,
        merchantId = 1,
        satisfaction = 1,
        description = `Review ${number}`,
      } = written
      await market.agent(agentId, agentId % 256)
      const [row] = await sql<[{ internal_id: bigint }]>`
        INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content,
          satisfaction_score, author_owner, ref_token, ref_review_id)
        VALUES (${chainId}, ${agentId}, ${merchantId}, ${productId(1)}, ${productId(0)}, 1, ${number}, 0,
          ${JSON.stringify({ rating: 1 + 4 * satisfaction, description })}, ${satisfaction},
          ${account(written.authorOwner ?? agentId % 256)}, ${written.refToken ?? null}, ${number}) RETURNING internal_id`
      const { internal_id: internalId } = row
      if (written.isOnChain ?? true) {
        await asIndexer(
          sql,
          (tx) => tx`
            INSERT INTO chain.reviews (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind,
              proof_id, published_at)
            VALUES (${chainId}, ${number}, ${internalId}, ${agentId}, ${merchantId}, ${productId(1)}, ${productId(0)}, 1, ${number},
              ${written.publishedAt ?? new Date(NOW)})`,
        )
      }
      if (written.vector) {
        await sql`INSERT INTO market.embedders (embedder_id, dims) VALUES (${MODEL}, 2) ON CONFLICT DO NOTHING`
        await sql`
          INSERT INTO market.review_vectors (embedder_id, internal_id, text_hash, vector)
          VALUES (${MODEL}, ${internalId}, ''::bytea, ${Buffer.from(Int8Array.from(written.vector))})`
      }
      return internalId
    },

    /** By default asks for five products for `something`, without vectors. */
    async ask(search: Partial<Search> = {}, asked: Partial<Asked> = {}): Promise<Answer> {
      const { source = sourceOf([]), embed = async () => undefined } = search
      const wanted = {
        intent: 'something',
        category: undefined,
        ceiling: undefined,
        most: 5,
        includeAll: false,
        isBrief: false,
      }
      return JSON.parse(await answerTo(context, { source, embed }, { ...wanted, chainId, ...asked }))
    },
  }
  return market
}

export type SmallMarket = ReturnType<typeof smallMarket>

/** The numbers of the products, in order. */
export const numbersOf = ({ products }: Answer): number[] =>
  products.map(({ product_id }) => Number.parseInt(product_id.slice(2, 4), 16))

export function first({ products: [product] }: Answer): Answer['products'][number] {
  if (!product) throw new Error('there is no product in the answer')
  return product
}

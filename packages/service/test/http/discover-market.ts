// Helpers for tests of discovery: products to find, and requests for them.
import { listProduct, type Product } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { expect } from 'vitest'
import type { Service } from '../../src/app/service.ts'
import { searchIndex, searchState } from '../../src/discovery/memory-index/client.ts'
import { asked } from '../../src/discovery/memory-index/testing.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { type Answer, type Caller, must } from './caller.ts'
import { generic, productOf, startTestMarket, type TestMarket } from './market.ts'
import { publish, registered } from './reviews.ts'
import { type Person, quiet, type Review } from './town.ts'

/** A market that trusts this machine as a proxy, so that each request can be another client for the rate limits. */
export const startFinding = (env: Record<string, string> = {}, chainIds = [31_337]): Promise<TestMarket> =>
  startTestMarket({ chainIds, env: { TRUSTED_PROXIES: '127.0.0.1', ALLOW_PRIVATE_HOSTS: 'true', ...env } })

let clients = 0

/** Asks as a client that has not asked before. */
export function ask({ call }: { call: Caller }, query: string): Promise<Answer> {
  clients += 1
  const client = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`
  return call('GET', `/v1/discover?${query}`, { headers: { 'x-forwarded-for': client } })
}

/** Repeats the request until the answer fulfils the condition: changes take a moment, and a search may be too slow. */
export const foundWhere = (
  m: { call: Caller },
  query: string,
  isRight: (body: Answer['body']) => boolean,
  what = `the right answer to ${query}`,
): Promise<Answer> =>
  until(async () => {
    const answer = await ask(m, query)
    expect(answer.status, `${query} was answered ${answer.text}`).toBe(200)
    return isRight(answer.body) ? answer : undefined
  }, what)

/**
 * Waits until everything that was written is listed and embedded, and is in the indexes of these replicas: an answer that looks right can
 * be one of an index that has not read the last change.
 */
export async function searchable(m: TestMarket, replicas: readonly Service[] = [m.service]): Promise<void> {
  await quiet(m)
  await until(
    async () => (await m.sql`SELECT FROM market.texts_to_embed LIMIT 1`).count === 0,
    'texts to be embedded',
  )
  await Promise.all(replicas.map((replica) => followed(replica, m.chainId)))
}

async function followed({ context }: Service, chainId: number): Promise<void> {
  const state = searchState(context)
  // All that the thread told before its answer is known by now. Its next poll may be under way, the one after that is not.
  await until(() => searchIndex(context).find(chainId, asked('anything')), 'the index to answer')
  for (let polls = 0; polls < 2; polls += 1) {
    const { standing } = state
    await until(() => state.standing && state.standing !== standing, 'the index to read changes')
  }
}

export const idsOf = ({ products }: Answer['body']): string[] =>
  products.map(({ product_id }: { product_id: string }) => product_id)

/** An answer with at least one match of the intent. */
export const found = (m: { call: Caller }, query: string): Promise<Answer> =>
  foundWhere(m, query, ({ products }) => products[0]?.sub_scores.intent_match > 0)

/** An answer whose first product is this one, as a match of the intent. */
export const findsFirst = (m: { call: Caller }, query: string, { productId }: Product): Promise<Answer> =>
  foundWhere(
    m,
    query,
    ({ products: [first] }) => first?.product_id === productId && first.sub_scores.intent_match > 0,
  )

export interface About {
  name: string
  description?: string
  category?: string
  /** By default nothing listens there. */
  endpoint?: string
}

/** Describes a product, or changes its description. */
export async function describeProduct(
  { call, market }: Pick<TestMarket, 'call' | 'market'>,
  { merchantId, productId: product_id }: Product,
  { name, description = '', category = '', endpoint = 'http://127.0.0.1:1/' }: About,
  { as = market.accounts.merchant as LocalAccount, query = '' } = {},
): Promise<void> {
  const body = { merchant_id: Number(merchantId), product_id, endpoint_url: endpoint }
  const described = { ...body, name, description, category }
  await must(call('POST', `/v1/merchant/product${query}`, { as, body: described }))
}

let products = 0

/** Lists products of the merchant account and describes them. */
export async function sellAll(
  m: TestMarket,
  merchantId: bigint,
  all: readonly (About & { minPrice?: bigint; oneOff?: boolean })[],
): Promise<Product[]> {
  const listed: Product[] = []
  for (const { minPrice = 0n, oneOff = false } of all) {
    products += 1
    const product = { merchantId, productId: productOf(products) }
    await listProduct(m.market, m.market.accounts.merchant, product, { minPrice, oneOff })
    listed.push(product)
  }
  await m.indexed()
  await Promise.all(all.map((about, at) => describeProduct(m, listed[at] as Product, about)))
  return listed
}

/** Publishes reviews with approved proofs and registers their texts, in this order. */
export async function writeAll(
  m: TestMarket,
  product: Product,
  reviews: readonly (readonly [author: Person, rating: number, text?: string])[],
): Promise<Review[]> {
  const published: { author: Person; content: string; reviewId: number }[] = []
  for (const [author, rating, text = 'As I saw it'] of reviews) {
    const content = generic(rating, text)
    published.push({ author, content, reviewId: await publish(m.market, { ...author, product, content }) })
  }
  await m.indexed()
  return Promise.all(
    published.map(async ({ author, content, reviewId }) => {
      const internalId = await registered(m, reviewId, content)
      return { author, product, reviewId: BigInt(reviewId), internalId }
    }),
  )
}

/** A day later than any on which ranks are recomputed. */
const LAST_DAY = 2_000_000

/** Sets the ranks of agents for both types; null: none. */
export async function setRanks(
  m: TestMarket,
  ranks: readonly (readonly [Pick<Person, 'agentId'>, number | null])[],
): Promise<void> {
  await quiet(m)
  const [agents, values] = [ranks.map(([{ agentId }]) => agentId), ranks.map(([, rank]) => rank)]
  await m.sql`
    INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off, day)
    SELECT ${m.chainId}, k.agent_id, k.rank, k.rank, ${LAST_DAY}
    FROM unnest(${agents}::bigint[], ${values}::float8[]) AS k (agent_id, rank)
    ON CONFLICT (chain_id, agent_id) DO UPDATE SET repeat = excluded.repeat, one_off = excluded.one_off, day = excluded.day`
}

/** Sets the ranks of products. */
export async function setProductRanks(
  m: TestMarket,
  ranks: readonly (readonly [Product, number])[],
): Promise<void> {
  await quiet(m)
  for (const [{ merchantId, productId }, rank] of ranks) {
    await m.sql`
      UPDATE market.products SET rank = ${rank}
      WHERE chain_id = ${m.chainId} AND merchant_id = ${merchantId} AND product_id = decode(${productId.slice(2)}, 'hex')`
  }
}

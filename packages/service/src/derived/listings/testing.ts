// A test market with everything that discovery shows: writes rows as the indexer and the operations do.
import type { Sql, Transaction } from '@referrer/database'
import type { Context } from '../../kit/context.ts'
import { asIndexer } from '../../testing/records.ts'
import type { Follower } from '../following/following.ts'
import { account, bytes32, createHistory, type Product } from '../ranks/testing.ts'
import { listingsFollower } from './follow.ts'

const withoutModel = { config: { embedder: undefined } } as Pick<Context, 'config'>

export type ListedRow = {
  is_open: boolean
  review_count: number
  shortlist: bigint[]
  evidence: string
  searches: string
  changed_in: string
}

export type Shops = ReturnType<typeof createShops>

/** Agent n belongs to owner n, and becomes merchant n when it opens. */
export function createShops(
  sql: Sql,
  chainId: number,
  followers: readonly Follower[] = [listingsFollower(withoutModel)],
) {
  const history = createHistory(sql, chainId, followers)
  let texts = 0
  return {
    ...history,

    async open(merchantId: number, owner: number): Promise<void> {
      await asIndexer(
        sql,
        (tx) => tx`
          INSERT INTO chain.merchants (chain_id, merchant_id, active, opened_by)
          VALUES (${chainId}, ${merchantId}, true, ${account(owner)})
          ON CONFLICT (chain_id, merchant_id) DO UPDATE SET active = true, opened_by = excluded.opened_by`,
      )
    },
    async close(merchantId: number): Promise<void> {
      await asIndexer(
        sql,
        (tx) =>
          tx`UPDATE chain.merchants SET active = false WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}`,
      )
    },
    async suspend(merchantId: number, suspended: boolean): Promise<void> {
      await asIndexer(
        sql,
        (tx) =>
          tx`UPDATE chain.merchants SET suspended = ${suspended} WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}`,
      )
    },
    async sell({ merchantId, number }: Product, active: boolean): Promise<void> {
      await asIndexer(
        sql,
        (tx) =>
          tx`UPDATE chain.products SET active = ${active}
          WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${bytes32(number)}`,
      )
    },
    async describe(
      { merchantId, number }: Product,
      {
        name = '',
        category = '',
        description = '',
      }: { name?: string; category?: string; description?: string },
    ): Promise<void> {
      await sql`
        UPDATE market.products SET name = ${name}, category = ${category}, description = ${description}
        WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${bytes32(number)}`
    },
    /** Deletes the product, as a reorganisation does. */
    async forget({ merchantId, number }: Product): Promise<void> {
      await asIndexer(sql, async (tx) => {
        await tx`DELETE FROM chain.products WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${bytes32(number)}`
        await tx`DELETE FROM market.products WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${bytes32(number)}`
      })
    },
    /** Sets or replaces the text of a review. */
    async write(internalId: bigint, description: string, searchedFor?: string): Promise<void> {
      texts += 1
      const content = { rating: 5, description, searched_for: searchedFor }
      await sql`
        UPDATE market.reviews SET content = ${JSON.stringify(content)}, content_hash = ${bytes32(texts)}
        WHERE internal_id = ${internalId}`
    },
    async rank(agentId: number, rank: number): Promise<void> {
      await sql`
        INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off) VALUES (${chainId}, ${agentId}, ${rank}, ${rank})
        ON CONFLICT (chain_id, agent_id) DO UPDATE SET repeat = excluded.repeat, one_off = excluded.one_off`
    },

    /** The listing after all changes were followed. */
    async listing({ merchantId, number }: Product): Promise<ListedRow | undefined> {
      await history.follow()
      const [row] = await sql<ListedRow[]>`
        SELECT is_open, review_count, shortlist, evidence, searches, changed_in::text FROM market.listings
        WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${bytes32(number)}`
      return row
    },
  }
}

/**
 * Counts the statements that are sent, in transactions or not. A query is sent when it is first awaited; a fragment of another
 * query never is.
 */
export async function countStatements(sql: Sql, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  const sent = new Set<unknown>()
  const counted = <T extends Sql | Transaction>(tx: T): T =>
    new Proxy(tx, {
      apply(target, self, args) {
        const query = Reflect.apply(target, self, args)
        const { handle } = query ?? {}
        if (typeof handle !== 'function') return query
        query.handle = () => {
          sent.add(query)
          return handle.call(query)
        }
        return query
      },
    })
  type Work = (tx: Transaction) => Promise<unknown>
  const begin = (...given: [Work] | [string, Work]) =>
    given.length === 2
      ? sql.begin(given[0], (tx) => given[1](counted(tx)))
      : sql.begin((tx) => given[0](counted(tx)))
  const get = (target: Sql, name: string | symbol) => (name === 'begin' ? begin : Reflect.get(target, name))
  await work(new Proxy(counted(sql), { get }))
  return sent.size
}

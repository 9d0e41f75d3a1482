import { createHash } from 'node:crypto'
import type { Sql, Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { inflationOf } from '@referrer/ranking'
import { keyOf } from '@referrer/search'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dueHosts, takeDue } from '../../src/derived/offers/store.ts'
import { meanRanksOf, ranksOf } from '../../src/derived/ranks/store.ts'
import {
  customersOf,
  entriesAfter,
  ownersAfter,
  shopOf,
  shopsAfter,
  spentBy as spentByOwner,
  standingOfOwner,
} from '../../src/derived/standing/reads.ts'
import { horizonOf, lastPass } from '../../src/derived/standing/store.ts'
import { bestRanked, findOpen, findShortlisted } from '../../src/discovery/answers/store.ts'
import { findResources, merchantsPaying, openKeys } from '../../src/discovery/bazaar/store.ts'
import { endpointsOf } from '../../src/discovery/resources/store.ts'
import type { Context } from '../../src/kit/context.ts'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { countReviewsOfAgent, productsReviewedBy } from '../../src/market/agents/reviewed.ts'
import {
  agentsOfOwner,
  countAgents,
  findAgent,
  findAgentsAlone,
  listAgents,
} from '../../src/market/agents/store.ts'
import { earningsInPeriod, earningsOfAgent, payeeOf } from '../../src/market/earnings/store.ts'
import { type EscrowRow, escrowsOfAgent, findEscrowOfAgent } from '../../src/market/escrows/store.ts'
import { listIntents, pendingIntents } from '../../src/market/intents/store.ts'
import {
  countMerchants,
  countMerchantsOfOwner,
  findMerchant,
  findMerchantAlone,
  findProduct,
  listMerchants,
  merchantsOfOwner,
  productIdsOf,
  salesOf,
} from '../../src/market/merchants/store.ts'
import { claimReceipts, countSpent, factsOf } from '../../src/market/proofs/receipts-store.ts'
import {
  countPendingProofsOf,
  findProof,
  listProofs,
  pendingProofsOf,
} from '../../src/market/proofs/store.ts'
import { findToLink, findUnlinkedProducts, lockPublished } from '../../src/market/ref-tokens/store.ts'
import { queueMissing } from '../../src/market/registrations/store.ts'
import {
  countProductsToReview,
  productsNotBought,
  productsToReview,
} from '../../src/market/reviewable/store.ts'
import { listDisputes } from '../../src/market/reviews/disputes.ts'
import {
  findPurchases,
  findRefTokens,
  findRegistrable,
  findReviewRecords,
  findReviews,
  listReviews,
  reviewsOfAgent,
  reviewsOfProduct,
} from '../../src/market/reviews/store.ts'
import { spentBy } from '../../src/market/spending/spent.ts'
import { readLimit } from '../../src/market/spending/store.ts'
import { type EscrowKey, votesMissing } from '../../src/market/votes/gate.ts'
import { findVotable, findVotableReviews } from '../../src/market/votes/store.ts'
import { asIndexer, fillMarket, productId, WHALES } from '../../src/testing/records.ts'
import { findPurchase, newestPurchases, newestReviews } from '../../src/views/activity/store.ts'
import { bestAgents, countsOfAgents, earningDays, publishedBy } from '../../src/views/agents/store.ts'
import { findBuyerReview, transactionsOf, votesOf } from '../../src/views/escrows/store.ts'
import { reputationOf } from '../../src/views/merchants/store.ts'
import { buyerReviewsOf, listAgentIds } from '../../src/views/operators/store.ts'
import { proofsOfAgent, purchasesOf } from '../../src/views/owners/store.ts'
import {
  largestCategories,
  openProducts,
  opinionDays,
  opinionsOf,
  publishedAbout,
  salesDays,
} from '../../src/views/products/store.ts'
import { listSales, salesByDay, salesByProduct } from '../../src/views/shops/store.ts'
import { readFigures } from '../../src/views/stats/store.ts'

const CHAIN = 1
const ROWS = 50_000
const MANY = ROWS / 20
const MODEL = 'test/model@1'
const owner = Buffer.from('2a'.padStart(40, '0'), 'hex')
const { reviewer, buyer, both, prover, merchant } = WHALES

let database: TestDatabase
/** Its buyer has voted and reviewed it, and the oracle has settled it. */
let onePurchase: EscrowRow

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await fillMarket(database.sql, CHAIN + 1, ROWS / 100)
  await fillMarket(database.sql, CHAIN, ROWS)
  await sellLate(database.sql)
  await decideMuch(database.sql)
  await listAll(database.sql)
  await queueMuch(database.sql)
  await tellMuch(database.sql)
  await spendMuch(database.sql)
  await receiveMuch(database.sql)
  onePurchase = await settleOne(database.sql)
  await database.sql`UPDATE market.agents SET flagged = true WHERE agent_id % 5000 = 0`
  await database.sql`VACUUM ANALYZE market.agents, market.daily_sales`
  await database.sql`UPDATE market.reviews SET comparison_outcome = 'disputed' WHERE internal_id % 1000 = 0`
  await database.sql`
    INSERT INTO market.spending_limits (owner, chain_id, updated_at)
    SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), ${CHAIN}, now() FROM generate_series(1, ${ROWS}) AS number`
  await database.sql`ANALYZE market.reviews, market.spending_limits`
  await database.sql`
    INSERT INTO market.registrations (chain_id, agent_id, uri, file)
    SELECT ${CHAIN}, number, '', '{}' FROM generate_series(1, ${ROWS}) AS number`
  await database.sql`VACUUM ANALYZE market.registrations`
}, 120_000)
afterAll(() => database.drop())

/** Every second proof has a receipt; one in twenty of these is due. */
async function receiveMuch(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO market.receipts (proof_id, chain_id, receipt_hash, due_at)
    SELECT proof_id, chain_id, sha256(proof_id::text::bytea), CASE WHEN proof_id % 40 = 0 THEN now() END
    FROM market.proofs WHERE proof_id % 2 = 0`
  await sql`
    INSERT INTO market.spent_receipts (chain_id, hash, proof_id)
    SELECT chain_id, receipt_hash, proof_id FROM market.receipts WHERE due_at IS NULL`
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`
      INSERT INTO chain.merchant_roles (chain_id, merchant_id, granted_by, role, account, granted)
      SELECT ${CHAIN}, n, ${owner}, ${owner}, ${owner}, true FROM generate_series(1, ${ROWS}) AS n`
  })
  await sql`VACUUM ANALYZE market.receipts, market.spent_receipts, chain.merchant_roles`
}

const spentHash = createHash('sha256').update('4242').digest()

/** Purchases of products that a buyer of thousands has reviewed. */
const purchases: EscrowKey[] = Array.from({ length: 20 }, (_, n) => ({
  contract: Buffer.from('384'.padStart(40, '0'), 'hex'),
  escrow_id: BigInt(1 + n),
}))

/** Most buyers have voted, a few bought what had been reviewed by then, and a few products have links that are out of date. */
async function sellLate(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`
      UPDATE chain.escrows SET deposited_at = '2026-06-01'
      WHERE chain_id = ${CHAIN} AND escrow_id = ANY(${purchases.map(({ escrow_id }) => escrow_id)}::bigint[])`
    await tx`
      UPDATE market.products SET endpoint_url = 'https://shop.example/',
        linked_signer = CASE WHEN rank > 0.998 THEN 'before' ELSE 'now' END,
        linked_endpoint = CASE WHEN rank > 0.001 THEN 'https://shop.example/' END`
    await tx`
      WITH ballot AS (
        INSERT INTO market.ballots (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry,
          signature, cast_at)
        SELECT chain_id, contract, payer, nonce, escrow_id, buyer_agent_id, nonce, nonce, 0, nonce, now()
        FROM chain.escrows WHERE escrow_id > 1000 AND buyer_agent_id IS NOT NULL RETURNING *
      )
      INSERT INTO market.votes
      SELECT ballot_id, (SELECT min(internal_id) FROM market.reviews) + ballot_id % 10000, 1, 'good', chain_id, voter_agent_id, 0, payer, true, 1, cast_at
      FROM ballot`
  })
  await sql`VACUUM ANALYZE market.products, market.ballots, market.votes, market.review_votes`
}

/** The oracle has settled most escrows of the first chain, and admins many disputes. */
async function decideMuch(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO market.disputes SELECT internal_id, now(), ''::bytea, 'wrong' FROM market.reviews WHERE internal_id % 10 = 0`
  await sql`
    INSERT INTO market.dispute_decisions (internal_id, decided_by, note)
    SELECT internal_id, ''::bytea, '' FROM market.disputes WHERE internal_id % 1000 <> 0`
  await sql`
    INSERT INTO sender.intents (chain_id, key, from_address, to_address, data, value)
    SELECT ${CHAIN}, 'settle ' || number, ${owner}, ${owner}, ''::bytea, 0 FROM generate_series(1, ${ROWS}) AS number`
  await sql`
    INSERT INTO market.escrow_decisions (chain_id, contract, payer, nonce, kind, attempt, escrow_id, contradicted, cashback_earned, inputs,
      decided_at, transaction_id)
    SELECT chain_id, contract, payer, nonce, 'settle', 1, escrow_id, false, false, '{}', now(), row_number() OVER () FROM chain.escrows
    WHERE chain_id = ${CHAIN}`
  await asIndexer(
    sql,
    (tx) => tx`
      INSERT INTO chain.skipped_escrows (chain_id, block_number, log_index, contract, payer, nonce, escrow_id, transaction_hash, reason)
      SELECT chain_id, row_number() OVER (), 0, contract, payer, nonce, escrow_id, nonce, ''::bytea FROM chain.escrows WHERE chain_id = ${CHAIN}`,
  )
  await sql`
    VACUUM ANALYZE market.disputes, market.dispute_decisions, market.escrow_decisions, sender.intents, chain.skipped_escrows`
}

/** All products have listings, with a vector for each review and a price that is higher the better the product is. */
async function listAll(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
    SELECT chain_id, merchant_id, product_id, p.active, coalesce(cardinality(r.ids), 0), coalesce(r.ids, '{}'), ''
    FROM chain.products AS p LEFT JOIN (
      SELECT chain_id, merchant_id, product_id, array_agg(internal_id) AS ids FROM market.reviews GROUP BY 1, 2, 3
    ) AS r USING (chain_id, merchant_id, product_id)`
  await sql`
    INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url, price)
    SELECT chain_id, merchant_id, product_id, endpoint_url, rank * 1000 FROM market.products`
  await sql`INSERT INTO market.embedders (embedder_id, dims) VALUES (${MODEL}, 16)`
  await sql`
    INSERT INTO market.review_vectors SELECT ${MODEL}, internal_id, ''::bytea, decode(md5(internal_id::text), 'hex') FROM market.reviews`
  await sql`
    INSERT INTO market.checklists (category, items, authored_by)
    SELECT 'category ' || number, ARRAY['Is it quick?'], ''::bytea FROM generate_series(1, 1000) AS number`
  await sql`VACUUM ANALYZE market.listings, market.offers, market.review_vectors, market.checklists`
}

/** An agent's runner hardly ever polled: thousands of its intents have expired. */
async function queueMuch(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO market.intents (intent_id, chain_id, agent_id, owner, type, payload, created_at, expires_at)
    SELECT md5(number::text), ${CHAIN}, CASE WHEN number % 2 = 0 THEN ${buyer} ELSE number END, ${owner}, 'buy_product', '{}', now(),
      CASE WHEN number % 500 = 0 THEN timestamptz '2100-01-01' ELSE now() END
    FROM generate_series(1, ${ROWS / 5}::bigint) AS number`
  await sql`
    INSERT INTO indexer.checkpoints (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
    SELECT chain, 1, ''::bytea, now(), 1, 1, now() FROM generate_series(${CHAIN}::bigint, ${CHAIN}::bigint + 999) AS chain`
  await sql`VACUUM ANALYZE market.intents, market.spent, indexer.checkpoints`
}

/** A product has an opinion of each day since 2023, and all others have one. */
async function tellMuch(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO market.opinions (chain_id, merchant_id, product_id, owner, internal_id, published_at, review_id, satisfaction, size, weight)
    SELECT chain_id, merchant_id, product_id, int8send(n), 1, timestamptz '2023-01-01' + n * interval '1 day', 1, 500000, 1, 1
    FROM market.products, generate_series(0, CASE WHEN product_id = ${productId(1)} THEN 1000 ELSE 0 END) AS n`
  await sql`
    INSERT INTO market.product_totals (chain_id, merchant_id, product_id, opinions, weight, rank, day)
    SELECT chain_id, merchant_id, product_id, 1, 1, 500000, 0 FROM market.products`
  await sql`INSERT INTO market.opinion_totals SELECT n, 1, 1, 1, 500000 FROM generate_series(1, 1000) AS n`
  await sql`VACUUM ANALYZE market.opinion_days, market.product_totals, market.opinion_totals`
}

/** An owner has bought at thousands of shops, and one shop has thousands of customers. */
async function spendMuch(sql: Sql): Promise<void> {
  const account = sql`decode(lpad(to_hex(n), 40, '0'), 'hex')`
  await sql`
    INSERT INTO market.spent_at_shops (chain_id, owner, merchant_id, spent)
    SELECT ${CHAIN}::bigint, ${account}, ${merchant}::bigint, ${inflationOf(0)}::numeric * (n % 1000 + 1) FROM generate_series(1, ${ROWS}::bigint) AS n
    UNION ALL SELECT ${CHAIN}::bigint, ${account}, n % 5000 + 10, ${inflationOf(0)}::numeric FROM generate_series(1, ${ROWS}::bigint) AS n
    UNION ALL SELECT ${CHAIN}::bigint, ${owner}::bytea, n, ${inflationOf(0)}::numeric * n
    FROM generate_series(${ROWS}::bigint, ${ROWS + MANY - 1}::bigint) AS n`
  await sql`INSERT INTO market.owner_standings SELECT ${CHAIN}, ${account}, 1 FROM generate_series(1, ${ROWS}::bigint) AS n`
  await sql`INSERT INTO market.shop_standings SELECT ${CHAIN}, n, 1, false FROM generate_series(1, ${ROWS}::bigint) AS n`
  await sql`
    INSERT INTO market.standing_passes SELECT ${CHAIN}, n, n, 1, 0, 1, 1, 1, now(), 1 FROM generate_series(1, 5000) AS n`
  await sql`
    INSERT INTO market.shop_verifications (chain_id, merchant_id, owner, is_verified, note, decided_by, decided_at)
    SELECT ${CHAIN}, n, ''::bytea, true, '', ''::bytea, now() FROM generate_series(1, ${ROWS}::bigint) AS n`
  await sql`
    VACUUM ANALYZE market.spent_at_shops, market.owner_standings, market.shop_standings, market.standing_passes, market.shop_verifications`
}

async function settleOne(sql: Sql): Promise<EscrowRow> {
  const [row] = await sql<[EscrowRow]>`
    SELECT e.* FROM chain.escrows AS e JOIN chain.reviews AS r
      ON r.chain_id = e.chain_id AND r.proof_kind = 2 AND r.proof_id = e.escrow_id AND r.agent_id = e.buyer_agent_id
        AND (r.merchant_id, r.product_id) = (e.merchant_id, e.product_id)
    WHERE e.chain_id = ${CHAIN} AND e.escrow_id > 2000 ORDER BY e.escrow_id LIMIT 1`
  await sql`
    UPDATE sender.intents SET mined_hash = ${Buffer.alloc(32, 7)} WHERE id = (
      SELECT transaction_id FROM market.escrow_decisions WHERE chain_id = ${CHAIN} AND payer = ${row.payer} AND nonce = ${row.nonce})`
  return row
}

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}
type Explained = { 'QUERY PLAN': [{ Plan: Node }] }[]

const ANALYZE = 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)'
const GENERIC = 'EXPLAIN (GENERIC_PLAN, FORMAT JSON)'

/** The plan of a read's statement for its parameters (`ran`), and the generic plan (`generic`). */
async function explain(read: (sql: Sql) => Promise<unknown>): Promise<{ ran: Node; generic: Node }> {
  const { sql } = database
  const found = Promise.withResolvers<{ ran: Node; generic: Node }>()
  const explained = async (query: Promise<unknown>) => {
    const ran = await sql<Explained>`${sql.unsafe(ANALYZE)} ${query as never}`
    const text = ran.statement.string.replace(ANALYZE, GENERIC)
    const generic = await sql.unsafe<Explained>(text)
    found.resolve({ ran: planOf(ran), generic: planOf(generic) })
    return []
  }
  // Every query that is awaited is explained; a fragment of another query is never awaited.
  const spy = new Proxy(sql, {
    apply(target, self, args) {
      const made: Promise<unknown> = Reflect.apply(target, self, args)
      const isQuery = Array.isArray(args[0]) && 'raw' in args[0]
      // biome-ignore lint/suspicious/noThenProperty: it is one already
      return isQuery ? Object.assign(made, { then: (...on: []) => explained(made).then(...on) }) : made
    },
  })
  await read(spy)
  return found.promise
}

function planOf([row]: Explained): Node {
  if (!row) throw new Error('EXPLAIN gave no plan')
  return row['QUERY PLAN'][0].Plan
}
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
const rowsOf = (node: Node) =>
  (node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)) *
  node['Actual Loops']
const scanned = (plan: Node) =>
  nodesOf(plan)
    .filter((node) => node['Relation Name'])
    .reduce((sum, node) => sum + rowsOf(node), 0)
const sorted = (plan: Node) =>
  nodesOf(plan)
    .filter((node) => /Sort|Hash/.test(node['Node Type']))
    .reduce((most, node) => Math.max(most, ...(node.Plans ?? []).map(rowsOf)), 0)
/** These tables have a few rows for each chain, so a sequential scan is the best plan. */
const SMALL = ['counts', 'rank_sums', 'trade_totals', 'category_products', 'range_counts', 'checkpoints']
const wholeTables = (plan: Node) =>
  nodesOf(plan)
    .filter((node) => node['Node Type'].endsWith('Seq Scan'))
    .map((node) => node['Relation Name'] ?? '')
    .filter((name) => !SMALL.includes(name))
const blocks = (plan: Node) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

/** Products with the most reviews, and others. */
const found = [1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 501, 502, 503, 504, 506, 507, 508, 509, 511, 512].map(
  (number) => keyOf(BigInt(number), productId(number)),
)
const due = { chainIds: [CHAIN, CHAIN + 1], now: new Date('2100-01-01') }
const unfiltered = { category: undefined, ceiling: undefined }

interface Read {
  /** The number of rows it asks for, including skipped ones; for a list without pages, how many its owner has. */
  size: number
  read(sql: Sql): Promise<unknown>
}

const page = { limit: 200, offset: 0 }
const queued = { chainId: CHAIN, agentId: buyer, owner }
const firstIds = Array.from({ length: page.limit }, (_, at) => BigInt(at))
const hour = { from: new Date('2026-01-01T01:00:00Z'), to: new Date('2026-01-01T02:00:00Z') }
const deep = { limit: 100, offset: ROWS / 2 }
/** The most rows that are skipped, wherever a page begins. */
const STRETCH = 1_000

const anyProduct = { merchantId: undefined, productId: undefined, category: undefined }
const oneProduct = { chainId: CHAIN, merchantId: 1n, productId: productId(1) }
const reads: Record<string, Read> = {
  'the first page of all reviews': { size: 200, read: (sql) => listReviews(sql, CHAIN, page) },
  'a page far down the list of all reviews': {
    size: STRETCH,
    read: (sql) => listReviews(sql, CHAIN, deep),
  },
  'the reviews of a product': { size: 100, read: (sql) => reviewsOfProduct(sql, CHAIN, 1n, productId(1)) },
  'the newest reviews of an agent with thousands': {
    size: 100,
    read: (sql) => reviewsOfAgent(sql, CHAIN, reviewer, 100),
  },
  'the number of reviews of an agent with thousands': {
    size: 2 * MANY,
    read: (sql) => countReviewsOfAgent(sql, CHAIN, reviewer),
  },
  'the products that an agent with thousands has reviewed': {
    size: 2 * MANY,
    read: (sql) => productsReviewedBy(sql, CHAIN, reviewer),
  },
  'a review by its id on the chain': {
    size: 1,
    read: (sql) => findReviews(sql, [{ chainId: CHAIN, reviewId: 500n }]),
  },
  'a review by the id of its record': { size: 1, read: (sql) => findReviewRecords(sql, [5_000n]) },
  'the first page of all agents': { size: 200, read: (sql) => listAgents(sql, CHAIN, page) },
  'a page far down the list of all agents': {
    size: STRETCH,
    read: (sql) => listAgents(sql, CHAIN, deep),
  },
  'the agents of an owner': { size: 100, read: (sql) => agentsOfOwner(sql, CHAIN, owner) },
  'an agent': { size: 1, read: (sql) => findAgent(sql, CHAIN, 500n) },
  'an agent with its registration file': {
    size: 1,
    read: (sql) => findAgentsAlone(sql, [{ chainId: CHAIN, agentId: 500n }]),
  },
  'registration files that are not queued': {
    size: 1_000,
    read: (sql) => queueMissing(sql, CHAIN, { turn: 7, size: 1_000 }),
  },
  'the newest escrows of a reviewer of thousands': {
    size: 200,
    read: (sql) => escrowsOfAgent(sql, CHAIN, reviewer, page),
  },
  'the newest escrows of a buyer of thousands': {
    size: 200,
    read: (sql) => escrowsOfAgent(sql, CHAIN, buyer, page),
  },
  'the newest escrows of an agent that is both in thousands': {
    size: 200,
    read: (sql) => escrowsOfAgent(sql, CHAIN, both, page),
  },
  'older escrows of an agent with thousands': {
    size: 1_200,
    read: (sql) => escrowsOfAgent(sql, CHAIN, both, { limit: 200, offset: 1_000 }),
  },
  'the escrows of an agent with few': { size: 10, read: (sql) => escrowsOfAgent(sql, CHAIN, 777n, page) },
  'an escrow of an agent': { size: 2, read: (sql) => findEscrowOfAgent(sql, CHAIN, reviewer, 501n) },
  'what an agent with thousands earned': { size: 1, read: (sql) => earningsOfAgent(sql, CHAIN, both) },
  'what an agent with thousands earned in an hour': {
    size: 3_600 / 20,
    read: (sql) => earningsInPeriod(sql, CHAIN, both, hour),
  },
  'what an agent with thousands earned since a moment': {
    size: MANY,
    read: (sql) => earningsInPeriod(sql, CHAIN, both, { from: new Date(0) }),
  },
  'where an agent is paid': { size: 1, read: (sql) => payeeOf(sql, CHAIN, 500n) },
  'the ranks of agents': {
    size: 3,
    read: (sql) =>
      ranksOf(
        sql,
        [500n, 1_000n, 10n ** 9n].map((agentId) => ({ chainId: CHAIN, agentId })),
      ),
  },
  'the mean ranks of chains': { size: 2, read: (sql) => meanRanksOf(sql, [CHAIN, CHAIN + 1]) },
  'products that an agent has not bought': {
    size: 200,
    read: (sql) => productsNotBought(sql, CHAIN, 777n, page),
  },
  'products that a buyer of thousands has not bought': {
    size: 200,
    read: (sql) => productsNotBought(sql, CHAIN, both, page),
  },
  'products of a category that an agent has not bought': {
    size: 200,
    read: (sql) => productsNotBought(sql, CHAIN, 777n, { ...page, category: 'api' }),
  },
  'products of a rare category that an agent has not bought': {
    size: 100,
    read: (sql) => productsNotBought(sql, CHAIN, 777n, { ...page, category: 'rare' }),
  },
  'products to review of an agent that bought forty thousands of times': {
    size: 40,
    read: (sql) => productsToReview(sql, CHAIN, buyer, page),
  },
  'the number of products to review of that agent': {
    size: 40,
    read: (sql) => countProductsToReview(sql, CHAIN, buyer),
  },
  'products of a category to review of that agent': {
    size: 40,
    read: (sql) => productsToReview(sql, CHAIN, buyer, { ...page, category: 'api' }),
  },
  'products to review of an agent that bought thousands': {
    size: MANY,
    read: (sql) => productsToReview(sql, CHAIN, both, page),
  },
  'the proofs of an agent with thousands waiting': {
    size: 100,
    read: (sql) => pendingProofsOf(sql, CHAIN, prover, 100),
  },
  'the number of proofs of that agent': {
    size: MANY,
    read: (sql) => countPendingProofsOf(sql, CHAIN, prover),
  },
  'the first proofs that wait for an admin': {
    size: 100,
    read: (sql) => listProofs(sql, CHAIN, { status: 'pending', limit: 100, offset: 0 }),
  },
  'the receipts that are due': {
    size: 8,
    read: (sql) =>
      claimReceipts(sql, { chainIds: [CHAIN], now: new Date(Date.now() + 60_000), leaseMs: 1_000, limit: 8 }),
  },
  'what a receipt is compared with': {
    size: 4,
    read: (sql) =>
      factsOf(sql, {
        ...{ chain_id: CHAIN, proof_id: 1n, attempts: 1, proof_data: '' },
        ...{ agent_id: prover, merchant_id: 1n, product_id: productId(1) },
      }),
  },
  'whether a receipt was used': { size: 1, read: (sql) => countSpent(sql, CHAIN, 1n, [spentHash]) },
  'a proof': { size: 1, read: (sql) => findProof(sql, CHAIN, prover, BigInt(ROWS / 100 + 20)) },
  'reviews in dispute': { size: 20, read: (sql) => listDisputes(sql, CHAIN, { limit: 20, offset: 0 }) },
  'the spending limit of a wallet': {
    size: 1,
    read: (sql) => readLimit({ sql } as Context, { owner: `0x${'2a'.padStart(40, '0')}`, chainId: CHAIN }),
  },
  'what counts against the caps of a wallet with fifty agents': {
    size: 200,
    read: (sql) => spentBy(sql, { chainId: CHAIN, owner }, hour.from),
  },
  'the pending intents of an agent with thousands that expired': {
    size: 20,
    read: (sql) => pendingIntents(sql, queued, { now: new Date('2099-01-01'), limit: 100 }),
  },
  'the newest intents of that agent': { size: 200, read: (sql) => listIntents(sql, queued, page) },
  'the first page of all merchants': { size: 200, read: (sql) => listMerchants(sql, CHAIN, page) },
  'a page far down the list of all merchants': {
    size: deep.offset + deep.limit,
    read: (sql) => listMerchants(sql, CHAIN, deep),
  },
  'a merchant': { size: 1, read: (sql) => findMerchant(sql, CHAIN, 500n) },
  'a merchant with its registration file': {
    size: 1,
    read: (sql) => findMerchantAlone(sql, CHAIN, 500n),
  },
  'the product ids of a merchant of thousands': {
    size: ROWS / 50 + 1,
    read: (sql) => productIdsOf(sql, CHAIN, [merchant], null),
  },
  'where a merchant of thousands sells its products': {
    size: ROWS / 50 + 1,
    read: (sql) => endpointsOf(sql, CHAIN, merchant),
  },
  'the hosts with most to be asked for': {
    size: 500,
    read: (sql) => dueHosts(sql, { ...due, not: ['busy.example'], offset: 0, limit: 500 }),
  },
  'the hosts behind those with most to be asked for': {
    size: 1_000,
    read: (sql) => dueHosts(sql, { ...due, not: ['busy.example'], offset: 500, limit: 500 }),
  },
  'the next offer to be asked for at a host with all of them': {
    size: 1,
    read: (sql) => takeDue(sql, 'shop.example', due),
  },
  'the first product ids of a page of merchants': {
    size: 300,
    read: (sql) => productIdsOf(sql, CHAIN, firstIds, 100),
  },
  'the sales of a merchant of thousands': {
    size: ROWS / 50 + 1,
    read: (sql) => salesOf(sql, CHAIN, merchant),
  },
  'a product': { size: 1, read: (sql) => findProduct(sql, CHAIN, 1n, productId(1)) },
  'products that were found': { size: 20, read: (sql) => findOpen(sql, CHAIN, found, unfiltered) },
  'products that were found and pass': {
    size: 20,
    read: (sql) => findOpen(sql, CHAIN, found, { category: 'api', ceiling: 900 }),
  },
  'the best-ranked products': { size: 20, read: (sql) => bestRanked(sql, CHAIN, unfiltered, 20) },
  'the best-ranked products of a rare category': {
    size: 100,
    read: (sql) => bestRanked(sql, CHAIN, { category: 'rare', ceiling: undefined }, 20),
  },
  'the best-ranked products, of which hardly any passes': {
    size: 1_000,
    read: (sql) => bestRanked(sql, CHAIN, { category: undefined, ceiling: 990 }, 20),
  },
  'reviews on the shortlists of products': {
    size: 20 + (10 * MANY) / 40,
    read: (sql) => findShortlisted(sql, CHAIN, found, MODEL),
  },
  'the open products of the catalogue': { size: 10_000, read: (sql) => openKeys(sql, CHAIN, undefined) },
  'the open products of a merchant of thousands in the catalogue': {
    size: MANY,
    read: (sql) => openKeys(sql, CHAIN, [merchant]),
  },
  'the merchants of an account': { size: 100, read: (sql) => merchantsPaying(sql, CHAIN, owner) },
  'products as resources of the catalogue': { size: 20, read: (sql) => findResources(sql, CHAIN, found) },
  'the tokens of links': { size: 3, read: (sql) => findRefTokens(sql, [500n, 501n, 502n]) },
  'a review whose text is brought': { size: 1, read: (sql) => findRegistrable(sql, CHAIN, 500n) },
  'the purchases of an id': { size: 2, read: (sql) => findPurchases(sql, CHAIN, 500n, 500n) },
  'reviews of a product that need a link': {
    size: 100,
    read: (sql) =>
      findToLink(
        sql as unknown as Transaction,
        { chainId: CHAIN, merchantId: 1n, productId: productId(1) },
        { tokenKey: 'new', below: 10n ** 9n, limit: 100 },
      ),
  },
  'reviews that come to the chain with their texts': {
    size: page.limit,
    read: (sql) => lockPublished(sql as unknown as Transaction, firstIds, 'one review'),
  },
  'products that need links': {
    size: 100,
    read: (sql) => findUnlinkedProducts(sql, CHAIN, 'now', 100),
  },
  'which purchases need votes': {
    size: 200,
    read: (sql) => votesMissing(sql, CHAIN, purchases),
  },
  'purchases whose buyers may vote': { size: 2, read: (sql) => findVotable(sql, CHAIN, 5_000n) },
  'reviews that are voted for': {
    size: 3,
    read: (sql) => findVotableReviews(sql, CHAIN, [5_000n, 6_000n, 7_000n]),
  },
  'a page beyond the last of all reviews': {
    size: (2 * ROWS) / STRETCH,
    read: (sql) => listReviews(sql, CHAIN, { limit: 100, offset: 2 * ROWS }),
  },
  'the newest purchases': { size: 20, read: (sql) => newestPurchases(sql, CHAIN, undefined, 21) },
  'purchases before another one': {
    size: 20,
    read: (sql) =>
      newestPurchases(
        sql,
        CHAIN,
        { deposited_at: hour.to, escrow_id: 1_800n, contract: Buffer.alloc(20, 255) },
        21,
      ),
  },
  'a purchase': { size: 2, read: (sql) => findPurchase(sql, CHAIN, 500n) },
  // Fifty agents have the same rank each time.
  'the agents with the best ranks': {
    size: 50,
    read: (sql) => bestAgents(sql, CHAIN, 'repeat', { limit: 21, offset: 0 }),
  },
  'the last page of the best agents': {
    size: 10_000,
    read: (sql) => bestAgents(sql, CHAIN, 'repeat', { limit: 21, offset: 9_980 }),
  },
  'the agents with the best ranks for one-off products': {
    size: ROWS / 6,
    read: (sql) => bestAgents(sql, CHAIN, 'one_off', { limit: 21, offset: 0 }),
  },
  'the figures of agents': {
    size: 3,
    read: (sql) => countsOfAgents(sql, CHAIN, [reviewer, buyer, 10n ** 9n]),
  },
  'the published reviews of an agent with thousands': {
    // The planner may walk all reviews by number: every twentieth is this agent's, so that a page of 21 reads some 350.
    size: 48,
    read: (sql) => publishedBy(sql, CHAIN, reviewer, { limit: 21, offset: 0 }),
  },
  'the earnings of an agent by day': {
    size: 366,
    read: (sql) => earningDays(sql, CHAIN, both, { first: '2025-06-01', last: '2026-06-01' }),
  },
  'the best open products': {
    size: 21,
    read: (sql) => openProducts(sql, CHAIN, anyProduct, { limit: 21, offset: 0 }),
  },
  'the last page of the best open products': {
    size: 10_000,
    read: (sql) => openProducts(sql, CHAIN, anyProduct, { limit: 21, offset: 7_000 }),
  },
  'the best open products of a merchant of thousands': {
    size: 30,
    read: (sql) =>
      openProducts(sql, CHAIN, { ...anyProduct, merchantId: merchant }, { limit: 21, offset: 0 }),
  },
  'the best open products of a category': {
    size: 21,
    read: (sql) => openProducts(sql, CHAIN, { ...anyProduct, category: 'api' }, { limit: 21, offset: 0 }),
  },
  'the best open products of a merchant of thousands in a category': {
    size: 42,
    read: (sql) =>
      openProducts(
        sql,
        CHAIN,
        { ...anyProduct, merchantId: merchant, category: 'api' },
        { limit: 21, offset: 0 },
      ),
  },
  'one product of a merchant of thousands': {
    size: 1,
    read: async (sql) => {
      const [product] = await database.sql<[{ product_id: Buffer }]>`
        SELECT product_id FROM chain.products WHERE chain_id = ${CHAIN} AND merchant_id = ${merchant} AND active
        ORDER BY product_id OFFSET 500 LIMIT 1`
      const filter = { ...anyProduct, merchantId: merchant, productId: product.product_id }
      return openProducts(sql, CHAIN, filter, { limit: 21, offset: 0 })
    },
  },
  'the reviews of a product, best first': {
    size: 2 * (MANY / 40),
    read: (sql) => publishedAbout(sql, oneProduct, 'best', { limit: 21, offset: 0 }),
  },
  'the reviews of a product, newest first': {
    size: 21,
    read: (sql) => publishedAbout(sql, oneProduct, 'newest', { limit: 21, offset: 0 }),
  },
  'the newest reviews': { size: 21, read: (sql) => newestReviews(sql, CHAIN, undefined, 21) },
  'reviews before another one': { size: 21, read: (sql) => newestReviews(sql, CHAIN, 25_000n, 21) },
  'the opinions of a product': { size: 1, read: (sql) => opinionsOf(sql, oneProduct) },
  'the opinions of a product by day': {
    size: 366,
    read: (sql) => opinionDays(sql, oneProduct, '2024-10-01'),
  },
  'the sales of a product by day': { size: 366, read: (sql) => salesDays(sql, oneProduct, '2025-06-01') },
  'the largest categories': { size: 3, read: (sql) => largestCategories(sql, CHAIN, 200) },
  'the reputation of a merchant of thousands': {
    size: ROWS / 50 + 1,
    read: (sql) => reputationOf(sql, CHAIN, merchant),
  },
  'the votes of a purchase': { size: 1, read: (sql) => votesOf(sql, CHAIN, onePurchase) },
  'the transactions of a purchase': { size: 1, read: (sql) => transactionsOf(sql, CHAIN, onePurchase) },
  'the review of a purchase': {
    size: 1,
    read: (sql) => findBuyerReview(sql, CHAIN, onePurchase),
  },
  'the figures of a chain': { size: 4, read: (sql) => readFigures(sql, CHAIN) },
  'the newest purchases of an agent with thousands': {
    size: 200,
    read: (sql) => purchasesOf(sql, CHAIN, { agentId: buyer }, page),
  },
  'the newest purchases of a wallet': {
    size: 1,
    read: (sql) => purchasesOf(sql, CHAIN, { payer: owner }, page),
  },
  'the newest proofs of an agent with thousands': {
    size: 200,
    read: (sql) => proofsOfAgent(sql, CHAIN, prover, page),
  },
  'the newest sales of a merchant of thousands': {
    size: 200,
    read: (sql) => listSales(sql, CHAIN, merchant, { first: '2025-06-01', last: '2026-05-31', ...page }),
  },
  'the sales of a merchant of thousands by day': {
    size: (2 * ROWS) / 50,
    read: (sql) => salesByDay(sql, CHAIN, merchant, { first: '2025-06-01', last: '2026-05-31' }),
  },
  'the sales of a merchant of thousands by product': {
    size: (2 * ROWS) / 50,
    read: (sql) => salesByProduct(sql, CHAIN, merchant, 500),
  },
  'the merchants of an owner': {
    size: 100,
    read: (sql) => merchantsOfOwner(sql, CHAIN, owner, { limit: 500, offset: 0 }),
  },
  'how many merchants an owner has': {
    size: 100,
    read: (sql) => countMerchantsOfOwner(sql, CHAIN, owner),
  },
  'the agents that are flagged': {
    size: 10,
    read: (sql) => listAgentIds(sql, CHAIN, { isFlagged: true, ...page }),
  },
  'the reviews of buyers of a product': {
    size: 50,
    read: (sql) =>
      buyerReviewsOf(sql, CHAIN, { merchantId: 1n, productId: productId(1), without: 0n, limit: 50 }),
  },
  'the last computation of standings': { size: 1, read: (sql) => lastPass(sql, CHAIN) },
  'what a computation of standings waits for': { size: 1, read: (sql) => horizonOf(sql, CHAIN) },
  'the spending of an owner at thousands of shops': {
    size: MANY + 100,
    read: (sql) => spentByOwner(sql, CHAIN, { owner, day: 0, most: 100 }),
  },
  'the largest customers of a shop with thousands': {
    size: 100,
    read: (sql) => customersOf(sql, CHAIN, { merchantId: merchant, day: 0, most: 100 }),
  },
  'the standing of an owner': { size: 1, read: (sql) => standingOfOwner(sql, CHAIN, owner) },
  'the standing of a shop': { size: 1, read: (sql) => shopOf(sql, CHAIN, merchant) },
  'a page of the standings of owners': { size: 101, read: (sql) => ownersAfter(sql, CHAIN, owner, 101) },
  'a page of the standings of shops': { size: 101, read: (sql) => shopsAfter(sql, CHAIN, 20_000n, 101) },
  'a page of all spending': {
    size: 101,
    read: (sql) => entriesAfter(sql, CHAIN, { after: { owner, merchant_id: 9n }, day: 0, most: 101 }),
  },
  'how many agents there are': { size: 1, read: (sql) => countAgents(sql, CHAIN) },
  'how many merchants there are': { size: 1, read: (sql) => countMerchants(sql, CHAIN) },
}

describe.each(Object.entries(reads))('reading %s', (_name, { size, read }) => {
  it('goes by indexes, and reads and sorts no more than it was asked for takes', async () => {
    const { ran, generic } = await explain(read)
    expect(ran['Actual Rows']).toBeGreaterThan(0)
    expect(wholeTables(ran)).toEqual([])
    expect(wholeTables(generic)).toEqual([])
    expect(scanned(ran)).toBeLessThanOrEqual(8 * size)
    expect(sorted(ran)).toBeLessThanOrEqual(2 * size)
    expect(blocks(ran)).toBeLessThanOrEqual(32 * size)
  })
})

describe('a page of a long list', () => {
  const limit = 7

  it.each(['first', 'last', 'any'])('begins where those before it end (%s)', async (which) => {
    const { sql } = database
    const [reviews] = await sql<{ ids: bigint[] }[]>`
      SELECT array_agg(internal_id ORDER BY internal_id DESC) AS ids
      FROM chain.reviews JOIN market.reviews AS m USING (internal_id) WHERE m.chain_id = ${CHAIN} AND m.content IS NOT NULL`
    const [agents] = await sql<{ ids: bigint[] }[]>`
      SELECT array_agg(agent_id ORDER BY agent_id) AS ids FROM chain.identities WHERE chain_id = ${CHAIN}`
    const offsetsOf = ({ length }: bigint[]) =>
      ({
        first: [0, 1, STRETCH - 1, STRETCH, STRETCH + 1],
        last: [length - limit - 1, length - 1, length, length + 5],
        any: Array.from({ length: 20 }, (_, at) => (at * 7_919) % length),
      })[which] ?? []
    for (const offset of offsetsOf(reviews?.ids ?? [])) {
      const { rows } = await listReviews(sql, CHAIN, { limit, offset })
      expect(rows.map((row) => row.internal_id)).toEqual(reviews?.ids.slice(offset, offset + limit))
    }
    for (const offset of offsetsOf(agents?.ids ?? [])) {
      const rows = await listAgents(sql, CHAIN, { limit, offset })
      expect(rows.map((row) => row.agent_id)).toEqual(agents?.ids.slice(offset, offset + limit))
    }
  })
})

import { migrate, type PostgresServer, type Sql } from '@referrer/database'
import { dayOf, inflate } from '@referrer/ranking'
import { migrations } from '@referrer/service'
import { withoutIndexes } from '@referrer/service/testing'
import { connectPatiently, createDatabase } from '../databases.ts'

export const CHAIN_ID = 8453
/** Wrote a fifth of all reviews, and has a fifth of all votes. */
const HOT_AUTHOR = 1
/** A fifth of all reviews are of it. */
const HOT_PRODUCT = 1
export const BEGAN = Date.parse('2026-01-01T00:00:00Z')
export const DAYS = 60

/** How many rows of each kind make up this many events: three votes for each review, and an opinion and a finding with each review. */
export const sizesOf = (events: number) => ({
  votes: (3 * events) / 5,
  reviews: events / 5,
  agents: events / 20,
  products: events / 100,
})

const account = (number: string) => `decode(lpad(to_hex(${number}), 40, '0'), 'hex')`
const bytes32 = (number: string) => `decode(lpad(to_hex(${number}), 64, '0'), 'hex')`
/** Spread over the days, in order. */
const moment = (number: string, of: number) =>
  `timestamptz '2026-01-01' + ${number}::float8 / ${of} * interval '${DAYS} days'`

/** The author and the product of review n, and the review that vote n is for, as SQL. */
const authorOf = (agents: number) =>
  `CASE WHEN n % 5 = 0 THEN ${HOT_AUTHOR} ELSE 2 + n * 7919 % ${agents - 1} END`
const productOf = (products: number) =>
  `CASE WHEN n % 5 = 1 THEN ${HOT_PRODUCT} ELSE 1 + n * 104729 % ${products} END`

/** A database of its own. */
export async function createFilled(server: PostgresServer, events: number): Promise<Sql> {
  const sql = connectPatiently(await createDatabase(server, `ranks_${events}`), 2)
  try {
    await migrate(sql, migrations)
    await sql.begin(async (tx) => {
      // Without triggers: what is filled in is not followed.
      await tx`SET LOCAL session_replication_role = replica`
      await withoutIndexes(tx, async () => {
        for (const statement of [...statements(events), ...DERIVED]) await tx.unsafe(statement)
      })
    })
    await sql`VACUUM ANALYZE`
    return sql
  } catch (error) {
    await sql.end()
    throw error
  }
}

function statements(events: number): string[] {
  const { votes, reviews, agents, products } = sizesOf(events)
  const many = (count: number) => `generate_series(1, ${count}::bigint) AS n`
  return [
    `INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
     SELECT ${CHAIN_ID}, n, ${account('n')}, ${account('0')}, '', now() FROM ${many(agents)}`,
    `INSERT INTO market.agents (chain_id, agent_id) SELECT ${CHAIN_ID}, n FROM ${many(agents)}`,
    `INSERT INTO chain.products
     SELECT ${CHAIN_ID}, n / 10, ${bytes32('n')}, 500, 0, n % 2, '', true, now() FROM ${many(products)}`,
    // The one that everybody buys: no opinions of it are filled in.
    `INSERT INTO chain.products VALUES (${CHAIN_ID}, 1, ${bytes32('1')}, 500, 0, 0, '', true, now())`,
    `INSERT INTO market.products (chain_id, merchant_id, product_id)
     SELECT ${CHAIN_ID}, n / 10, ${bytes32('n')} FROM ${many(products)}`,
    `INSERT INTO market.reviews (internal_id, chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
       cashback_bps, content, satisfaction_score, comparison_outcome, author_owner, opinion_size, opinion_weight)
     OVERRIDING SYSTEM VALUE
     SELECT n, ${CHAIN_ID}, author, product / 10, ${bytes32('product')}, ${bytes32('n')}, 2, n, 0, '{}', n % 5 / 4.0,
       CASE WHEN n % 4 = 0 THEN 'contradicted' ELSE 'confirmed' END, ${account('author')}, 1000000, 500000
     FROM ${many(reviews)}, LATERAL (SELECT ${authorOf(agents)} AS author, ${productOf(products)} AS product) AS choice`,
    `SELECT setval(pg_get_serial_sequence('market.reviews', 'internal_id'), ${reviews})`,
    `INSERT INTO chain.reviews
     SELECT chain_id, internal_id, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
       ${moment('internal_id', reviews)}
     FROM market.reviews`,
    `INSERT INTO market.findings
       (chain_id, internal_id, agent_id, outcome, satisfaction, others, others_weight, others_weighted, size, found_at)
     SELECT chain_id, internal_id, agent_id, comparison_outcome, 0, 3, 3000000, 0, 250000 + internal_id % 4 * 250000, ${moment('internal_id', reviews)}
     FROM market.reviews ORDER BY internal_id`,
    `INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, buyer_owner, payer, nonce, merchant_id,
       product_id, review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash)
     SELECT ${CHAIN_ID}, ${account('900')}, n, 1, voter, ${account('voter')}, ${account('n')}, ${bytes32('n')}, 1, ${bytes32('1')},
       1 + n * 13 % ${reviews}, 1000000, 50000, 5000,
       20000, 5000, now(), ${moment('n', votes)}, ${bytes32('n')}
     FROM ${many(votes)}, LATERAL (SELECT 1 + n * 31 % ${agents} AS voter) AS choice`,
    `INSERT INTO market.ballots OVERRIDING SYSTEM VALUE
     SELECT escrow_id, chain_id, contract, payer, nonce, escrow_id, buyer_agent_id, '', '', 0, '', deposited_at FROM chain.escrows`,
    `SELECT setval(pg_get_serial_sequence('market.ballots', 'ballot_id'), ${votes})`,
    `INSERT INTO market.votes
     SELECT ballot_id, m.internal_id, 1, 'It told what we found.', b.chain_id, voter_agent_id, m.agent_id, ${account('voter_agent_id')},
       true, 250000 + ballot_id % 4 * 250000, cast_at, true
     FROM market.ballots AS b JOIN market.reviews AS m ON m.internal_id = 1 + ballot_id * 17 % ${reviews}`,
    `INSERT INTO market.product_sales SELECT chain_id, merchant_id, product_id, count(*) FROM chain.escrows GROUP BY 1, 2, 3`,
  ]
}

const FACTORS = Array.from({ length: DAYS + 1 }, (_, n) => {
  const day = dayOf(new Date(BEGAN)) + n
  return `(${day}, ${inflate(1, day)}::numeric)`
})

/** What the followers would have derived. The ranks are of an earlier day: the followers update them. */
const DERIVED = [
  `INSERT INTO market.ranked_reviews
   SELECT m.internal_id, m.chain_id, m.author_owner, p.product_type, m.internal_id FROM market.reviews AS m
   JOIN chain.products AS p USING (chain_id, merchant_id, product_id)`,
  `INSERT INTO market.rank_evidence
   SELECT chain_id, review_internal_id, voter_owner, author_agent_id, owner, product_type, 'vote', voter_agent_id, ballot_id, weight, cast_at,
     floor(extract(epoch FROM cast_at) / 86400)
   FROM (
     SELECT *, row_number() OVER (
       PARTITION BY author_agent_id, owner, product_type, voter_owner ORDER BY cast_at DESC, ballot_id DESC) AS place
     FROM (
       SELECT DISTINCT ON (v.voter_owner, v.review_internal_id) v.*, r.owner, r.product_type
       FROM market.votes AS v JOIN market.ranked_reviews AS r ON r.internal_id = v.review_internal_id
       ORDER BY v.voter_owner, v.review_internal_id, v.cast_at DESC, v.ballot_id DESC) AS once) AS placed
   WHERE place <= 3`,
  `INSERT INTO market.rank_evidence
   SELECT chain_id, internal_id, '', agent_id, owner, product_type, outcome, NULL, finding_id,
     size * CASE outcome WHEN 'confirmed' THEN 2 ELSE 3 END, found_at, floor(extract(epoch FROM found_at) / 86400)
   FROM (
     SELECT *, row_number() OVER (PARTITION BY agent_id, owner, product_type, outcome ORDER BY finding_id DESC) AS place
     FROM (
       SELECT DISTINCT ON (f.agent_id, r.owner, r.product_type, f.outcome, m.merchant_id, m.product_id) f.*, r.owner, r.product_type
       FROM market.findings AS f JOIN market.reviews AS m USING (internal_id) JOIN market.ranked_reviews AS r USING (internal_id)
       ORDER BY f.agent_id, r.owner, r.product_type, f.outcome, m.merchant_id, m.product_id, f.finding_id DESC) AS once) AS placed
   WHERE place <= 10`,
  `INSERT INTO market.counted_purchases (chain_id, contract, payer, nonce, review_id, commission_bps, day, owner, merchant_id, spent,
     agent_id, author_owner, seller, sales, support_paid, support_spent)
   SELECT e.chain_id, e.contract, e.payer, e.nonce, e.review_id, 500, floor(extract(epoch FROM e.deposited_at) / 86400), e.buyer_owner,
     e.merchant_id, CASE WHEN ${account('1')} IN (e.buyer_owner, e.payer) THEN 0 ELSE 300000 END, m.agent_id, r.owner, r.owner,
     50000, 0, 0
   FROM chain.escrows AS e JOIN market.reviews AS m ON m.internal_id = e.review_id
   JOIN market.ranked_reviews AS r ON r.internal_id = m.internal_id`,
  `INSERT INTO market.spent_at_shops
   SELECT chain_id, owner, merchant_id, sum(spent * factor)
   FROM market.counted_purchases JOIN (VALUES ${FACTORS}) AS inflation (day, factor) USING (day) WHERE spent > 0 GROUP BY 1, 2, 3`,
  `INSERT INTO market.counted_votes
     (ballot_id, review_internal_id, chain_id, day, merchant_id, agent_id, author_owner, support_paid, support_spent)
   SELECT v.ballot_id, v.review_internal_id, v.chain_id, floor(extract(epoch FROM v.cast_at) / 86400), 1, v.author_agent_id, r.owner,
     475000, 150000
   FROM market.votes AS v JOIN market.ranked_reviews AS r ON r.internal_id = v.review_internal_id`,
  `INSERT INTO market.author_money
   SELECT chain_id, agent_id, author_owner, merchant_id, sum(sales * factor), sum(paid * factor), sum(spent * factor)
   FROM (
     SELECT chain_id, agent_id, author_owner, merchant_id, day, 0 AS sales, support_paid AS paid, support_spent AS spent
     FROM market.counted_votes
     UNION ALL SELECT chain_id, agent_id, author_owner, merchant_id, day, sales, 0, 0 FROM market.counted_purchases) AS parts
   JOIN (VALUES ${FACTORS}) AS inflation (day, factor) USING (day) GROUP BY 1, 2, 3, 4`,
  `INSERT INTO market.rank_totals
   SELECT chain_id, agent_id, owner, product_type, sum(CASE kind WHEN 'contradicted' THEN 0 ELSE weight * factor END),
     sum(CASE kind WHEN 'contradicted' THEN weight * factor ELSE 0 END), count(*)
   FROM market.rank_evidence JOIN (VALUES ${FACTORS}) AS inflation (day, factor) USING (day) GROUP BY 1, 2, 3, 4`,
  `INSERT INTO market.review_ranks (chain_id, agent_id) SELECT DISTINCT chain_id, agent_id FROM market.rank_totals`,
  `INSERT INTO market.opinions
   SELECT DISTINCT ON (merchant_id, product_id, author_owner) m.chain_id, m.merchant_id, m.product_id, author_owner, internal_id,
     published_at, review_id, round(satisfaction_score * 1000000), opinion_size, opinion_weight
   FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
   ORDER BY merchant_id, product_id, author_owner, published_at DESC, review_id DESC`,
  `INSERT INTO market.product_totals (chain_id, merchant_id, product_id, opinions, weight, weighted, rank, day)
   SELECT chain_id, merchant_id, product_id, count(internal_id), coalesce(sum(weight), 0),
     coalesce(sum(weight::numeric * satisfaction), 0), 500000, 0
   FROM market.products LEFT JOIN market.opinions USING (chain_id, merchant_id, product_id) GROUP BY 1, 2, 3`,
  `INSERT INTO market.opinion_totals
   SELECT chain_id, sum(weight), sum(weight::numeric * satisfaction), 0, 500000 FROM market.opinions GROUP BY 1`,
]

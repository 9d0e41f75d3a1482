import type { Queryable, Transaction } from '@referrer/database'
import { whenBought, whenPublished, whenTransferred } from '../../kit/chain-order.ts'
import { writeOldAgreement } from '../../market/reviews/opinions.ts'
import { ballotsLookedAt, type Payment, voteHolds } from './evidence-store.ts'
import {
  type Author,
  type CountedPurchase,
  type CountedVote,
  countedOf,
  countedVote,
  type Difference,
  differencesOf,
  type MoneyTotals,
  nameOfPayment,
  nameOfVote,
  type PurchaseNow,
  type Spent,
  type VoteNow,
} from './money.ts'

const paymentsIn = (sql: Queryable, payments: readonly Payment[]) => sql`
  unnest(
    ${payments.map(({ contract }) => contract)}::bytea[], ${payments.map(({ payer }) => payer)}::bytea[],
    ${payments.map(({ nonce }) => nonce)}::bytea[]) AS k (contract, payer, nonce)`

type AuthorColumns = { agentId: bigint | null; authorOwner: Buffer | null }

const authorOf = ({ agentId, authorOwner }: AuthorColumns): Author | null =>
  agentId === null || authorOwner === null ? null : { agentId, owner: authorOwner }

/** The purchases that buyers' reviews are about. */
export function purchasesOfReviews(sql: Queryable, reviewIds: readonly bigint[]): Promise<Payment[]> {
  return sql<Payment[]>`
    SELECT e.contract, e.payer, e.nonce FROM market.reviews AS m
    JOIN chain.escrows AS e ON e.chain_id = m.chain_id AND e.escrow_id = m.proof_id AND e.buyer_agent_id = m.agent_id
    WHERE m.internal_id = ANY(${[...reviewIds]}::bigint[]) AND m.proof_kind = 2`
}

/** Counts purchases again. */
export async function lookAtPurchases(
  tx: Transaction,
  chainId: number,
  payments: readonly Payment[],
  fullCommission: bigint,
): Promise<Difference<CountedPurchase>[]> {
  const distinct = [...new Map(payments.map((payment) => [nameOfPayment(payment), payment])).values()]
  if (distinct.length === 0) return []
  const before = await countedPurchases(tx, chainId, distinct)
  let now = await purchasesNow(tx, chainId, distinct)
  const old = now.flatMap(({ oldReview }) => oldReview ?? [])
  if (old.length > 0) {
    await writeOldAgreement(tx, old)
    now = await purchasesNow(tx, chainId, distinct)
  }
  return differencesOf(
    before,
    now.map(({ oldReview, ...purchase }) => countedOf(purchase, fullCommission)),
    nameOfPayment,
  )
}

async function countedPurchases(
  sql: Queryable,
  chainId: number,
  payments: readonly Payment[],
): Promise<CountedPurchase[]> {
  type Row = Omit<CountedPurchase, 'author' | 'support'> & AuthorColumns & SupportColumns
  const rows = await sql<Row[]>`
    SELECT x.contract, x.payer, x.nonce, x.review_id AS "reviewId", x.commission_bps AS "commissionBps", x.owner,
      x.merchant_id AS "merchantId", x.agent_id AS "agentId", x.author_owner AS "authorOwner", x.seller, x.day, x.spent, x.sales,
      x.support_paid AS "supportPaid", x.support_spent AS "supportSpent"
    FROM ${paymentsIn(sql, payments)}
    JOIN market.counted_purchases AS x
      ON x.chain_id = ${chainId} AND (x.payer, x.nonce, x.contract) = (k.payer, k.nonce, k.contract)`
  return rows.map(({ agentId, authorOwner, supportPaid, supportSpent, ...row }) => ({
    ...row,
    author: authorOf({ agentId, authorOwner }),
    support: { paid: supportPaid, spent: supportSpent },
  }))
}

type SupportColumns = { supportPaid: bigint; supportSpent: bigint }

type Now = PurchaseNow & {
  /** A buyer's review from before it was stored whether the buyer agrees. */
  oldReview: bigint | null
}

/** Who owned an identity when the purchase `e` was made, as SQL. */
const ownerAtPurchase = (sql: Queryable, agent: ReturnType<Queryable>) => sql`
  coalesce(
    (SELECT o.to_owner FROM chain.ownership_changes AS o
     WHERE o.chain_id = e.chain_id AND o.agent_id = ${agent} AND ${whenTransferred(sql)} <= ${whenBought(sql)}
     ORDER BY o.block_number DESC, o.log_index DESC LIMIT 1),
    (SELECT i.owner FROM chain.identities AS i WHERE i.chain_id = e.chain_id AND i.agent_id = ${agent}))`

/**
 * The purchases as they count now. The commission of a product can change, so the one of the first count stays. Whose
 * the shop was is read from the past for the same reason.
 */
async function purchasesNow(sql: Queryable, chainId: number, payments: readonly Payment[]): Promise<Now[]> {
  const rows = await sql<(Omit<Now, 'author'> & AuthorColumns)[]>`
    SELECT k.contract, k.payer, k.nonce, e.review_id AS "reviewId",
      coalesce(x.commission_bps, p.commission_bps, 0) AS "commissionBps", buyer.owner, e.merchant_id AS "merchantId",
      link.agent_id AS "agentId", link.owner AS "authorOwner", ${ownerAtPurchase(sql, sql`link.agent_id`)} AS seller, coalesce(said.opinion_agrees, false) AS agrees, e.price, e.commission, e.deposited_at AS "depositedAt",
      coalesce(shop.owner IN (buyer.owner, e.payer), false) AS "isOwnShop",
      CASE WHEN said.opinion_agrees IS NULL AND said.opinion_size IS NOT NULL AND link.agent_id IS NOT NULL
        THEN said.internal_id END AS "oldReview"
    FROM ${paymentsIn(sql, payments)}
    JOIN chain.escrows AS e ON e.chain_id = ${chainId} AND (e.payer, e.nonce) = (k.payer, k.nonce) AND e.contract = k.contract
    CROSS JOIN LATERAL (SELECT coalesce(e.buyer_owner, e.payer) AS owner) AS buyer
    LEFT JOIN market.counted_purchases AS x
      ON x.chain_id = ${chainId} AND (x.payer, x.nonce, x.contract) = (k.payer, k.nonce, k.contract)
    LEFT JOIN chain.products AS p
      ON (p.chain_id, p.merchant_id, p.product_id) = (e.chain_id, e.merchant_id, e.product_id)
    LEFT JOIN LATERAL (
      SELECT c.agent_id, r.owner FROM chain.reviews AS c JOIN market.ranked_reviews AS r USING (internal_id)
      WHERE c.chain_id = e.chain_id AND c.review_id = e.review_id) AS link ON true
    LEFT JOIN LATERAL (SELECT ${ownerAtPurchase(sql, sql`e.merchant_id`)} AS owner) AS shop ON true
    LEFT JOIN LATERAL (
      SELECT m.internal_id, m.opinion_agrees, m.opinion_size
      FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id) JOIN market.ranked_reviews AS r USING (internal_id)
      WHERE c.chain_id = e.chain_id AND c.proof_kind = 2 AND c.proof_id = e.escrow_id AND c.agent_id = e.buyer_agent_id
        AND (c.merchant_id, c.product_id) = (e.merchant_id, e.product_id) AND ${whenPublished(sql)} >= ${whenBought(sql)}
        AND NOT EXISTS (
          SELECT FROM market.agents AS a WHERE (a.chain_id, a.agent_id) = (c.chain_id, c.agent_id) AND a.flagged)
      ORDER BY c.review_id LIMIT 1) AS said ON true`
  return rows.map(({ agentId, authorOwner, ...row }) => ({
    ...row,
    author: authorOf({ agentId, authorOwner }),
  }))
}

/** Counts the votes of these ballots, and of the ballots for these purchases, again. */
export async function lookAtSupport(
  sql: Queryable,
  chainId: number,
  looked: { ballotIds: readonly bigint[]; payments: readonly Payment[] },
  fullCommission: bigint,
): Promise<Difference<CountedVote>[]> {
  const { ballotIds, payments } = looked
  if (ballotIds.length + payments.length === 0) return []
  const before = await countedVotes(sql, chainId, ballotIds, payments)
  type Row = Omit<VoteNow, 'author'> & { agentId: bigint; authorOwner: Buffer; holds: boolean }
  // Whether a vote holds is selected, because the planner would turn a condition into joins with whole tables.
  const now = await sql<Row[]>`
    WITH looked AS (${ballotsLookedAt(sql, chainId, ballotIds, payments)})
    SELECT v.ballot_id AS "ballotId", v.review_internal_id AS "reviewId", v.author_agent_id AS "agentId",
      r.owner AS "authorOwner", e.merchant_id AS "merchantId", e.price, e.commission, e.deposited_at AS "depositedAt",
      (SELECT count(*)::int4 FROM market.votes AS o WHERE o.ballot_id = b.ballot_id) AS votes,
      ${voteHolds(sql)} AND coalesce(v.supports, v.weight > 0) AS holds
    FROM looked JOIN market.ballots AS b USING (ballot_id) JOIN market.votes AS v USING (ballot_id)
    JOIN market.ranked_reviews AS r ON r.internal_id = v.review_internal_id
    JOIN chain.escrows AS e ON e.chain_id = b.chain_id AND (e.payer, e.nonce) = (b.payer, b.nonce) AND e.contract = b.contract`
  const after = now
    .filter(({ holds }) => holds)
    .map(({ agentId, authorOwner, holds: _, ...vote }) =>
      countedVote({ ...vote, author: { agentId, owner: authorOwner } }, fullCommission),
    )
  return differencesOf(before, after, nameOfVote)
}

async function countedVotes(
  sql: Queryable,
  chainId: number,
  ballotIds: readonly bigint[],
  payments: readonly Payment[],
): Promise<CountedVote[]> {
  type Row = Pick<CountedVote, 'ballotId' | 'reviewId' | 'merchantId' | 'day'> &
    SupportColumns & { agentId: bigint; authorOwner: Buffer }
  const rows = await sql<Row[]>`
    WITH looked AS (${ballotsLookedAt(sql, chainId, ballotIds, payments)})
    SELECT x.ballot_id AS "ballotId", x.review_internal_id AS "reviewId", x.merchant_id AS "merchantId", x.day,
      x.agent_id AS "agentId", x.author_owner AS "authorOwner", x.support_paid AS "supportPaid", x.support_spent AS "supportSpent"
    FROM looked JOIN market.counted_votes AS x USING (ballot_id)`
  return rows.map(({ agentId, authorOwner, supportPaid, supportSpent, ...row }) => ({
    ...row,
    author: { agentId, owner: authorOwner },
    seller: null,
    sales: 0n,
    support: { paid: supportPaid, spent: supportSpent },
  }))
}

export async function writePurchases(
  tx: Transaction,
  chainId: number,
  differences: readonly Difference<CountedPurchase>[],
): Promise<void> {
  const gone = differences.flatMap(({ before, after }) => (before && !after ? before : []))
  const come = differences.flatMap(({ after }) => after ?? [])
  if (gone.length > 0) {
    await tx`
      DELETE FROM market.counted_purchases AS x USING ${paymentsIn(tx, gone)}
      WHERE x.chain_id = ${chainId} AND (x.payer, x.nonce, x.contract) = (k.payer, k.nonce, k.contract)`
  }
  if (come.length === 0) return
  const column = <T>(pick: (purchase: CountedPurchase) => T) => come.map(pick)
  await tx`
    INSERT INTO market.counted_purchases
      (chain_id, contract, payer, nonce, review_id, commission_bps, day, owner, merchant_id, spent, agent_id, author_owner, seller,
      sales, support_paid, support_spent)
    SELECT ${chainId}, c.* FROM unnest(
      ${column(({ contract }) => contract)}::bytea[], ${column(({ payer }) => payer)}::bytea[],
      ${column(({ nonce }) => nonce)}::bytea[], ${column(({ reviewId }) => reviewId)}::bigint[],
      ${column(({ commissionBps }) => commissionBps)}::int4[], ${column(({ day }) => day)}::int4[],
      ${column(({ owner }) => owner)}::bytea[], ${column(({ merchantId }) => merchantId)}::bigint[],
      ${column(({ spent }) => spent)}::bigint[], ${column(({ author }) => author?.agentId ?? null)}::bigint[],
      ${column(({ author }) => author?.owner ?? null)}::bytea[], ${column(({ seller }) => seller)}::bytea[],
      ${column(({ sales }) => sales)}::numeric[],
      ${column(({ support }) => support.paid)}::numeric[], ${column(({ support }) => support.spent)}::numeric[]) AS c
    ON CONFLICT (chain_id, payer, nonce, contract) DO UPDATE SET
      review_id = excluded.review_id, commission_bps = excluded.commission_bps, day = excluded.day, owner = excluded.owner,
      merchant_id = excluded.merchant_id, spent = excluded.spent, agent_id = excluded.agent_id, author_owner = excluded.author_owner,
      seller = excluded.seller, sales = excluded.sales, support_paid = excluded.support_paid, support_spent = excluded.support_spent`
}

/** Adds differences to what owners spent at shops. Without spending there is no row. */
export async function addSpent(tx: Transaction, chainId: number, spent: readonly Spent[]): Promise<void> {
  if (spent.length === 0) return
  const owners = spent.map(({ owner }) => owner)
  const merchants = spent.map(({ merchantId }) => merchantId)
  await tx`
    INSERT INTO market.spent_at_shops AS s (chain_id, owner, merchant_id, spent)
    SELECT ${chainId}, d.* FROM unnest(${owners}::bytea[], ${merchants}::bigint[], ${spent.map(({ spent }) => spent)}::numeric[]) AS d
    ON CONFLICT (chain_id, owner, merchant_id) DO UPDATE SET spent = s.spent + excluded.spent`
  await tx`
    DELETE FROM market.spent_at_shops AS s USING unnest(${owners}::bytea[], ${merchants}::bigint[]) AS d (owner, merchant_id)
    WHERE s.chain_id = ${chainId} AND s.owner = d.owner AND s.merchant_id = d.merchant_id AND s.spent = 0`
}

export async function writeSupport(
  tx: Transaction,
  chainId: number,
  differences: readonly Difference<CountedVote>[],
): Promise<void> {
  const gone = differences.flatMap(({ before, after }) => (before && !after ? before : []))
  const come = differences.flatMap(({ after }) => after ?? [])
  if (gone.length > 0) {
    await tx`
      DELETE FROM market.counted_votes AS x
      USING unnest(${gone.map(({ ballotId }) => ballotId)}::bigint[], ${gone.map(({ reviewId }) => reviewId)}::bigint[]) AS g (ballot, review)
      WHERE x.ballot_id = g.ballot AND x.review_internal_id = g.review`
  }
  if (come.length === 0) return
  const column = <T>(pick: (vote: CountedVote) => T) => come.map(pick)
  await tx`
    INSERT INTO market.counted_votes
      (chain_id, ballot_id, review_internal_id, day, merchant_id, agent_id, author_owner, support_paid, support_spent)
    SELECT ${chainId}, c.* FROM unnest(
      ${column(({ ballotId }) => ballotId)}::bigint[], ${column(({ reviewId }) => reviewId)}::bigint[],
      ${column(({ day }) => day)}::int4[], ${column(({ merchantId }) => merchantId)}::bigint[],
      ${column(({ author }) => author.agentId)}::bigint[], ${column(({ author }) => author.owner)}::bytea[],
      ${column(({ support }) => support.paid)}::numeric[], ${column(({ support }) => support.spent)}::numeric[]) AS c
    ON CONFLICT (ballot_id, review_internal_id) DO UPDATE SET
      day = excluded.day, merchant_id = excluded.merchant_id, agent_id = excluded.agent_id, author_owner = excluded.author_owner,
      support_paid = excluded.support_paid, support_spent = excluded.support_spent`
}

/** Adds differences to the money of authors. Without money there is no row. */
export async function addMoney(
  tx: Transaction,
  chainId: number,
  totals: readonly MoneyTotals[],
): Promise<void> {
  if (totals.length === 0) return
  const column = <T>(pick: (one: MoneyTotals) => T) => totals.map(pick)
  const [agents, owners] = [column(({ agentId }) => agentId), column(({ owner }) => owner)]
  const merchants = column(({ merchantId }) => merchantId)
  await tx`
    INSERT INTO market.author_money AS m (chain_id, agent_id, owner, merchant_id, sales, paid, spent)
    SELECT ${chainId}, d.* FROM unnest(
      ${agents}::bigint[], ${owners}::bytea[], ${merchants}::bigint[], ${column(({ sales }) => sales)}::numeric[],
      ${column(({ paid }) => paid)}::numeric[], ${column(({ spent }) => spent)}::numeric[]) AS d
    ON CONFLICT (chain_id, agent_id, owner, merchant_id)
      DO UPDATE SET sales = m.sales + excluded.sales, paid = m.paid + excluded.paid, spent = m.spent + excluded.spent`
  await tx`
    DELETE FROM market.author_money AS m
    USING unnest(${agents}::bigint[], ${owners}::bytea[], ${merchants}::bigint[]) AS d (agent_id, owner, merchant_id)
    WHERE m.chain_id = ${chainId} AND (m.agent_id, m.owner, m.merchant_id) = (d.agent_id, d.owner, d.merchant_id)
      AND m.sales = 0 AND m.paid = 0 AND m.spent = 0`
}

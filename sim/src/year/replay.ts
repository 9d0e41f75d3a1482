// Replays the same year in the service's own tables: writes rows as the indexer and the operations do, and runs the
// service's followers.
import type { Sql, Transaction } from '@referrer/database'
import { MILLION, PRODUCT_TYPES } from '@referrer/ranking'
import type { Chain, Context } from '@referrer/service'
import {
  followOnce,
  opinionsFollower,
  oracleFollower,
  ranksFollower,
  standingFollower,
} from '@referrer/service/testing'
import type { Market } from '../market.ts'
import type { Event } from '../records.ts'
import { account, bytes32 } from './accounts.ts'

const CHAIN_ID = 31_337
const WINDOW_MS = 60 * 86_400_000

const NOBODY = account(0)

/** The follower logs a pass that failed; here it ends the replay. */
const STRICT = {
  info() {},
  error(fields: { err?: Error }) {
    throw fields.err ?? new Error('no standings could be computed')
  },
} as unknown as Context['log']

type Of<What extends Event['what']> = Event & { what: What }

/** `catchUp` writes the events since its last call and runs the followers until nothing is left to do. */
export function createReplay(sql: Sql, market: Market) {
  let written = 0
  const clock = () => market.now
  const chain = { config: { chainId: CHAIN_ID } } as Chain
  const config = { fullCommission: market.rules.full }
  const followers = [
    opinionsFollower,
    oracleFollower({ config: {}, sql, clock } as Context),
    standingFollower({ log: STRICT }),
    ranksFollower(config),
  ]

  async function catchUp(): Promise<void> {
    const events = market.events.slice(written)
    written = market.events.length
    await sql.begin((tx) => write(tx, events))
    while (await followOnce({ sql, clock }, chain, followers));
  }

  return { sql, chainId: CHAIN_ID, catchUp, productId: (id: number) => bytes32(id + 1) }
}

export type Replay = ReturnType<typeof createReplay>

async function write(tx: Transaction, events: readonly Event[]): Promise<void> {
  const of = <What extends Event['what']>(what: What) =>
    events.filter((event): event is Of<What> => event.what === what)
  await tx`SELECT set_config('indexer.block', 'final', true)`
  await writeShops(tx, of('minted'), of('opened'), of('listed'))
  await writeVerifications(tx, of('verified'))
  await writePurchases(tx, of('bought'))
  await writeReviews(tx, of('published'))
  await writeBallots(tx, of('voted'))
  for (const { at, agent, owner } of of('transferred')) {
    await tx`
      INSERT INTO chain.ownership_changes (chain_id, block_number, log_index, agent_id, from_owner, to_owner, changed_at)
      VALUES (${CHAIN_ID}, ${at}, ${agent.id}, ${agent.id}, ${NOBODY}, ${account(owner)}, ${new Date(at)})`
    await tx`UPDATE chain.identities SET owner = ${account(owner)} WHERE chain_id = ${CHAIN_ID} AND agent_id = ${agent.id}`
  }
  for (const { agent } of of('flagged')) {
    await tx`UPDATE market.agents SET flagged = true WHERE chain_id = ${CHAIN_ID} AND agent_id = ${agent.id}`
  }
  for (const { review } of of('disputed')) {
    await tx`UPDATE market.reviews SET comparison_outcome = 'disputed' WHERE internal_id = ${review.id}`
  }
  for (const { review, upheld } of of('resolved')) {
    await tx`
      INSERT INTO market.dispute_decisions (internal_id, decided_by, note, upheld) VALUES (${review.id}, ${NOBODY}, '', ${upheld})`
    await tx`UPDATE market.reviews SET comparison_outcome = 'resolved' WHERE internal_id = ${review.id}`
  }
}

async function writeShops(
  tx: Transaction,
  minted: readonly Of<'minted'>[],
  opened: readonly Of<'opened'>[],
  listed: readonly Of<'listed'>[],
): Promise<void> {
  const identities = [
    ...minted.map(({ at, agent, owner }) => ({ at, id: agent.id, owner })),
    ...opened.map(({ at, merchant }) => ({ at, ...merchant })),
  ]
  if (identities.length > 0) {
    await tx`
      INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
      SELECT ${CHAIN_ID}, id, owner, ${NOBODY}, '', at FROM unnest(
        ${identities.map(({ id }) => id)}::bigint[], ${identities.map(({ owner }) => account(owner))}::bytea[],
        ${identities.map(({ at }) => new Date(at))}::timestamptz[]) AS i (id, owner, at)`
    // A moment is its block.
    await tx`
      INSERT INTO chain.ownership_changes (chain_id, block_number, log_index, agent_id, from_owner, to_owner, changed_at)
      SELECT chain_id, floor(extract(epoch FROM minted_at) * 1000), agent_id, agent_id, ${NOBODY}, owner, minted_at FROM chain.identities
      WHERE chain_id = ${CHAIN_ID} AND agent_id = ANY(${identities.map(({ id }) => id)}::bigint[])`
    await tx`
      INSERT INTO market.agents (chain_id, agent_id) SELECT ${CHAIN_ID}, id
      FROM unnest(${minted.map(({ agent }) => agent.id)}::bigint[]) AS id`
  }
  if (listed.length === 0) return
  const products = listed.map(({ product }) => product)
  await tx`
    WITH listed AS (
      SELECT * FROM unnest(
        ${products.map(({ merchant }) => merchant.id)}::bigint[], ${products.map(({ id }) => bytes32(id + 1))}::bytea[],
        ${products.map(({ commissionBps }) => commissionBps)}::int4[],
        ${products.map(({ type }) => PRODUCT_TYPES.indexOf(type))}::int2[]) AS p (merchant_id, product_id, bps, type)
    ), known AS (
      INSERT INTO market.products (chain_id, merchant_id, product_id) SELECT ${CHAIN_ID}, merchant_id, product_id FROM listed
    )
    INSERT INTO chain.products SELECT ${CHAIN_ID}, merchant_id, product_id, bps, 0, type, '', true, now() FROM listed`
}

async function writeVerifications(tx: Transaction, verified: readonly Of<'verified'>[]): Promise<void> {
  if (verified.length === 0) return
  await tx`
    INSERT INTO market.shop_verifications (chain_id, merchant_id, owner, is_verified, note, decided_by, decided_at)
    SELECT ${CHAIN_ID}, v.merchant, v.owner, true, '', ${NOBODY}, v.at FROM unnest(
      ${verified.map(({ merchant }) => merchant.id)}::bigint[], ${verified.map(({ merchant }) => account(merchant.owner))}::bytea[],
      ${verified.map(({ at }) => new Date(at))}::timestamptz[]) WITH ORDINALITY AS v (merchant, owner, at, place)
    ORDER BY v.place`
}

async function writePurchases(tx: Transaction, bought: readonly Of<'bought'>[]): Promise<void> {
  if (bought.length === 0) return
  const column = <T>(pick: (purchase: Of<'bought'>['purchase']) => T) =>
    bought.map(({ purchase }) => pick(purchase))
  await tx`
    INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, buyer_owner, payer, nonce, merchant_id, product_id,
      review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash)
    SELECT ${CHAIN_ID}, ${account(1)}, id, reviewer, buyer, buyer_owner, payer, nonce, merchant, product, review, price, commission, fee, held_back,
      cashback, at + ${WINDOW_MS / 1_000} * interval '1 s', at, nonce
    FROM unnest(
      ${column(({ id }) => id)}::bigint[], ${column(({ link }) => link.agent.id)}::bigint[],
      ${column(({ buyer }) => buyer?.id ?? null)}::bigint[],
      ${column(({ buyer, payer }) => (buyer ? account(payer) : null))}::bytea[], ${column(({ payer }) => account(payer))}::bytea[],
      ${column(({ id }) => bytes32(id))}::bytea[], ${column(({ product }) => product.merchant.id)}::bigint[],
      ${column(({ product }) => bytes32(product.id + 1))}::bytea[], ${column(({ link }) => link.id)}::bigint[],
      ${column(({ price }) => price)}::bigint[], ${column(({ split }) => split.commission)}::bigint[],
      ${column(({ split }) => split.fee)}::bigint[], ${column(({ split }) => split.heldBack)}::bigint[],
      ${column(({ split }) => split.cashback)}::bigint[], ${column(({ boughtAt }) => new Date(boughtAt))}::timestamptz[])
      AS e (id, reviewer, buyer, buyer_owner, payer, nonce, merchant, product, review, price, commission, fee, held_back, cashback, at)`
}

/** The rows get the ids that the reviews have in the model. */
async function writeReviews(tx: Transaction, published: readonly Of<'published'>[]): Promise<void> {
  if (published.length === 0) return
  const column = <T>(pick: (review: Of<'published'>['review']) => T) =>
    published.map(({ review }) => pick(review))
  const ids = column(({ id }) => id)
  const rows = await tx<{ internal_id: bigint }[]>`
    INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content,
      satisfaction_score, author_owner, opinion_size, opinion_weight, opinion_agrees)
    SELECT ${CHAIN_ID}, agent, merchant, product, hash, kind, proof, 0, '{}', satisfaction, owner, size, weight, agrees
    FROM unnest(
      ${ids}::bigint[], ${column(({ agent }) => agent.id)}::bigint[], ${column(({ product }) => product.merchant.id)}::bigint[],
      ${column(({ product }) => bytes32(product.id + 1))}::bytea[], ${column(({ id }) => bytes32(id))}::bytea[],
      ${column(({ purchase }) => (purchase ? 2 : 1))}::int2[], ${column(({ id, purchase }) => purchase?.id ?? id)}::bigint[],
      ${column(({ satisfaction }) => satisfaction / MILLION)}::float8[], ${column(({ owner }) => account(owner))}::bytea[],
      ${column(({ opinion }) => opinion?.size ?? null)}::int4[], ${column(({ opinion }) => opinion?.weight ?? null)}::int4[],
      ${column(({ agrees }) => agrees)}::boolean[])
      AS r (id, agent, merchant, product, hash, kind, proof, satisfaction, owner, size, weight, agrees)
    ORDER BY id RETURNING internal_id`
  if (rows.some(({ internal_id }, at) => Number(internal_id) !== ids[at])) {
    throw new Error('the records of reviews are not numbered as expected: begin with an empty database')
  }
  await tx`
    INSERT INTO chain.reviews
      (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
    SELECT chain_id, internal_id, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, r.at
    FROM market.reviews AS m
    JOIN unnest(${ids}::bigint[], ${column(({ publishedAt }) => new Date(publishedAt))}::timestamptz[]) AS r (id, at)
      ON m.internal_id = r.id`
}

async function writeBallots(tx: Transaction, voted: readonly Of<'voted'>[]): Promise<void> {
  if (voted.length === 0) return
  await tx`
    INSERT INTO market.ballots
      (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry, signature, cast_at)
    SELECT ${CHAIN_ID}, ${account(1)}, payer, nonce, escrow, voter, '', '', 0, '', at
    FROM unnest(
      ${voted.map(({ purchase }) => account(purchase.payer))}::bytea[], ${voted.map(({ purchase }) => bytes32(purchase.id))}::bytea[],
      ${voted.map(({ purchase }) => purchase.id)}::bigint[], ${voted.map(({ purchase }) => purchase.buyer?.id ?? null)}::bigint[],
      ${voted.map(({ at }) => new Date(at))}::timestamptz[], ${voted.map((_, place) => place)}::int4[])
      AS b (payer, nonce, escrow, voter, at, place)
    ORDER BY place`
  const votes = voted.flatMap(({ votes }) => votes)
  await tx`
    INSERT INTO market.votes (ballot_id, review_internal_id, position, reasoning, chain_id, voter_agent_id, author_agent_id, voter_owner,
      qualifies, weight, supports, cast_at)
    SELECT ballot, review, row_number() OVER (PARTITION BY ballot), 'was right', ${CHAIN_ID}, voter, author, owner, qualifies, weight, supports, at
    FROM unnest(
      ${votes.map(({ ballot }) => ballot)}::bigint[], ${votes.map(({ review }) => review.id)}::bigint[],
      ${votes.map(({ voter }) => voter.id)}::bigint[], ${votes.map(({ review }) => review.agent.id)}::bigint[],
      ${votes.map(({ voterOwner }) => account(voterOwner))}::bytea[], ${votes.map(({ qualifies }) => qualifies)}::boolean[],
      ${votes.map(({ weight }) => weight)}::int4[], ${votes.map(({ supports }) => supports)}::boolean[],
      ${votes.map(({ castAt }) => new Date(castAt))}::timestamptz[])
      AS v (ballot, review, voter, author, owner, qualifies, weight, supports, at)`
}

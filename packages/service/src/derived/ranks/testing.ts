// A test market with only the events that ranks depend on: writes rows as the indexer and the operations do.
import type { Sql, Transaction } from '@referrer/database'
import { MILLION } from '@referrer/ranking'
import type { Chain } from '../../kit/context.ts'
import { asIndexer } from '../../testing/records.ts'
import { type Follower, followOnce } from '../following/following.ts'
import { ranksFollower } from './follow.ts'

const DAY_MS = 86_400_000
const WALLET = Buffer.alloc(20)

export const account = (number: number): Buffer => Buffer.from(number.toString(16).padStart(40, '0'), 'hex')
export const bytes32 = (number: number): Buffer => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')

export interface Product {
  merchantId: number
  number: number
}

export interface Written {
  isOnChain?: boolean
  hasText?: boolean
  satisfaction?: number
  /** Only for a buyer's review. Null: from before it was stored whether the buyer agrees. */
  opinion?: { size: number; weight: number; agrees?: boolean | null }
  /** The purchase that a buyer's review is about. */
  purchase?: number
}

/** A purchase. By default it comes through the link of an unknown review. */
export interface Bought {
  /** The internal id of the review. */
  link?: bigint
  price?: bigint
  commission?: bigint
}

/** A vote. By default it has full weight. */
export interface Cast {
  weight?: number
  /** By default the voter's owner. */
  voterOwner?: Buffer
  /** Null: from before it was stored. */
  supports?: boolean | null
}

/** Standings in millionths, as a pass writes them. Without a verified shop they are off. */
export interface Pass {
  /** By owner. */
  owners?: Record<number, number>
  /** By merchant. */
  shops?: Record<number, { standing: number; isVerified?: boolean }>
}

/** The commission that counts in full. */
export const FULL = 10_000n

export type History = ReturnType<typeof createHistory>

export function createHistory(
  sql: Sql,
  chainId: number,
  followers: readonly Follower[] = [ranksFollower({ fullCommission: FULL })],
) {
  const clock = { now: Date.parse('2026-01-01T12:00:00Z') }
  const chain = { config: { chainId } } as Chain
  let numbers = 0
  /** The purchases by their numbers, as they were made first. */
  const purchases = new Map<
    number,
    Required<Omit<Bought, 'link'>> & {
      reviewId: bigint
      reviewer: bigint
      owner: Buffer | null
      escrowId: number
      /** Where it was made: it is put back there. */
      block: number
    }
  >()

  const at = () => new Date(clock.now)
  const onChain = (work: (tx: Transaction) => PromiseLike<unknown>) => asIndexer(sql, work)

  const owned = (tx: Transaction, agentId: number, owner: number) => tx`
    INSERT INTO chain.ownership_changes VALUES (${chainId}, ${++numbers}, 0, ${agentId}, ${WALLET}, ${account(owner)}, ${at()})`

  const history = {
    sql,
    chainId,
    chain,
    clock,

    /** Every call moves the clock forward, at least by a second. */
    pass(days = 0): void {
      clock.now += 1_000 + days * DAY_MS
    },

    async agent(agentId: number, owner: number): Promise<void> {
      await onChain(async (tx) => {
        await tx`
          INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
          VALUES (${chainId}, ${agentId}, ${account(owner)}, ${WALLET}, '', ${at()})`
        await tx`INSERT INTO market.agents (chain_id, agent_id) VALUES (${chainId}, ${agentId})`
        await owned(tx, agentId, owner)
      })
    },

    async transfer(agentId: number, owner: number): Promise<void> {
      await onChain(async (tx) => {
        await tx`UPDATE chain.identities SET owner = ${account(owner)} WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
        await owned(tx, agentId, owner)
      })
    },

    async flag(agentId: number, flagged: boolean): Promise<void> {
      await sql`UPDATE market.agents SET flagged = ${flagged} WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
    },

    /** `type`: 0 repeat, 1 one-off. */
    async product(type: 0 | 1, merchantId = 900): Promise<Product> {
      const number = ++numbers
      await onChain(async (tx) => {
        await tx`
          INSERT INTO chain.products VALUES (${chainId}, ${merchantId}, ${bytes32(number)}, 500, 0, ${type}, '', true, ${at()})`
        await tx`INSERT INTO market.products (chain_id, merchant_id, product_id) VALUES (${chainId}, ${merchantId}, ${bytes32(number)})`
      })
      return { merchantId, number }
    },

    /** Changes the commission of a product, in basis points. */
    async offer({ merchantId, number }: Product, bps: number): Promise<void> {
      await onChain(
        (tx) => tx`
          UPDATE chain.products SET commission_bps = ${bps}
          WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${bytes32(number)}`,
      )
    },

    /** A review under its author's present owner, by default published and with its text. Returns its internal id. */
    async review(
      agentId: number,
      { merchantId, number }: Product,
      { isOnChain = true, hasText = true, satisfaction = 0.5, opinion, purchase }: Written = {},
    ): Promise<bigint> {
      const hash = bytes32(++numbers)
      const escrowId = purchase === undefined ? undefined : purchases.get(purchase)?.escrowId
      const [row] = await sql<{ internal_id: bigint }[]>`
        INSERT INTO market.reviews
          (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, author_owner, satisfaction_score,
          opinion_size, opinion_weight, opinion_agrees)
        SELECT ${chainId}, ${agentId}, ${merchantId}, ${bytes32(number)}, ${hash}, ${escrowId === undefined ? 1 : 2}, ${escrowId ?? numbers}, 0,
          owner, ${satisfaction}, ${opinion?.size ?? null}, ${opinion?.weight ?? null}, ${opinion?.agrees ?? null}
        FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${agentId} RETURNING internal_id`
      if (!row) throw new Error(`there is no agent ${agentId}`)
      if (isOnChain) await history.publish(row.internal_id)
      if (hasText) await history.bringText(row.internal_id)
      return row.internal_id
    },

    /** Publishes a review under a new on-chain id. */
    async publish(internalId: bigint): Promise<void> {
      const reviewId = ++numbers
      await onChain(
        (tx) => tx`
          INSERT INTO chain.reviews
            (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at,
            block_number)
          SELECT chain_id, ${reviewId}, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, ${at()},
            ${++numbers}
          FROM market.reviews WHERE internal_id = ${internalId}`,
      )
    },

    async unpublish(internalId: bigint): Promise<void> {
      await onChain((tx) => tx`DELETE FROM chain.reviews WHERE internal_id = ${internalId}`)
    },

    async bringText(internalId: bigint): Promise<void> {
      await sql`UPDATE market.reviews SET content = '{}' WHERE internal_id = ${internalId}`
    },

    async edit(internalId: bigint, satisfaction: number): Promise<void> {
      await sql`UPDATE market.reviews SET satisfaction_score = ${satisfaction} WHERE internal_id = ${internalId}`
    },

    /** Changes the owner at publication, as a reorganisation does that swaps a transfer and a publication. */
    async publishedUnder(internalId: bigint, owner: number): Promise<void> {
      await sql`UPDATE market.reviews SET author_owner = ${account(owner)} WHERE internal_id = ${internalId}`
    },

    /** Returns the number that identifies the purchase in this history. */
    async buy(
      product: Product,
      buyerAgentId: number | null,
      { link, price = 1_000_000n, commission = 50_000n }: Bought = {},
    ): Promise<number> {
      const purchase = ++numbers
      const [review] = await sql<{ review_id: bigint; agent_id: bigint }[]>`
        SELECT review_id, agent_id FROM chain.reviews WHERE internal_id = ${link ?? null}`
      const [buyer] = await sql<{ owner: Buffer }[]>`
        SELECT owner FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${buyerAgentId}`
      purchases.set(purchase, {
        price,
        commission,
        reviewId: review?.review_id ?? 1n,
        reviewer: review?.agent_id ?? 1n,
        owner: buyer?.owner ?? null,
        escrowId: ++numbers,
        block: ++numbers,
      })
      await history.redo(purchase, product, buyerAgentId)
      return purchase
    },

    /** Puts a purchase on-chain, again or for the first time. A reorganisation may give it another escrow id. */
    async redo(
      purchase: number,
      { merchantId, number }: Product,
      buyerAgentId: number | null,
      isRenumbered = false,
    ): Promise<void> {
      const made = purchases.get(purchase)
      if (!made) throw new Error(`there is no purchase ${purchase}`)
      if (isRenumbered) made.escrowId = ++numbers
      const { price, commission } = made
      await onChain(
        (tx) => tx`
          INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, buyer_owner, payer, nonce, merchant_id,
            product_id, review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, block_number, transaction_hash)
          VALUES (${chainId}, ${account(1)}, ${made.escrowId}, ${made.reviewer}, ${buyerAgentId}, ${made.owner}, ${account(purchase)},
            ${bytes32(purchase)}, ${merchantId}, ${bytes32(number)}, ${made.reviewId}, ${price}, ${commission}, ${commission / 10n},
            ${(commission * 4n) / 10n}, ${commission / 10n}, ${at()}, ${at()}, ${made.block}, ${bytes32(purchase)})`,
      )
    },

    async undo(purchase: number): Promise<void> {
      await onChain(
        (tx) => tx`DELETE FROM chain.escrows WHERE chain_id = ${chainId} AND nonce = ${bytes32(purchase)}`,
      )
    },

    /** Sets the agent that made a purchase. */
    async bind(purchase: number, buyerAgentId: number | null): Promise<void> {
      await onChain(
        (tx) =>
          tx`UPDATE chain.escrows SET buyer_agent_id = ${buyerAgentId} WHERE chain_id = ${chainId} AND nonce = ${bytes32(purchase)}`,
      )
    },

    /** Casts all votes of a purchase. */
    async cast(
      purchase: number,
      voterAgentId: number,
      reviewIds: readonly bigint[],
      { weight = MILLION, voterOwner, supports = null }: Cast = {},
    ): Promise<void> {
      await sql.begin(async (tx) => {
        const [ballot] = await tx<{ ballot_id: bigint }[]>`
          INSERT INTO market.ballots
            (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry, signature, cast_at)
          VALUES (${chainId}, ${account(1)}, ${account(purchase)}, ${bytes32(purchase)}, ${purchase}, ${voterAgentId}, '', '', 0, '', ${at()})
          RETURNING ballot_id`
        await tx`
          INSERT INTO market.votes (ballot_id, review_internal_id, position, reasoning, chain_id, voter_agent_id, author_agent_id, voter_owner,
            qualifies, weight, cast_at, supports)
          SELECT ${ballot?.ballot_id ?? 0n}, v.review_id, v.at, 'because', ${chainId}, ${voterAgentId}, m.agent_id,
            coalesce(${voterOwner ?? null}::bytea, i.owner), true, ${weight}, ${at()}, ${supports}::boolean
          FROM unnest(${[...reviewIds]}::bigint[]) WITH ORDINALITY AS v (review_id, at)
          JOIN market.reviews AS m ON m.internal_id = v.review_id
          JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = ${voterAgentId}`
      })
    },

    /** Writes standings as a pass does. */
    async stand({ owners = {}, shops = {} }: Pass): Promise<void> {
      const all = Object.values(shops)
      await sql.begin(async (tx) => {
        await tx`DELETE FROM market.owner_standings WHERE chain_id = ${chainId}`
        await tx`DELETE FROM market.shop_standings WHERE chain_id = ${chainId}`
        await tx`
          INSERT INTO market.owner_standings SELECT ${chainId}, o.* FROM unnest(
            ${Object.keys(owners).map((owner) => account(Number(owner)))}::bytea[], ${Object.values(owners)}::int4[]) AS o`
        await tx`
          INSERT INTO market.shop_standings SELECT ${chainId}, s.* FROM unnest(
            ${Object.keys(shops).map(Number)}::bigint[], ${all.map(({ standing }) => standing)}::int4[],
            ${all.map(({ isVerified = false }) => isVerified)}::boolean[]) AS s`
        await tx`
          INSERT INTO market.standing_passes
            (chain_id, pass, day, as_of_block, verification_id, verified, owners, shops, computed_at, took_ms)
          SELECT ${chainId}, coalesce(max(pass), 0) + 1, 0, 0, 0, ${all.filter(({ isVerified }) => isVerified).length},
            ${Object.keys(owners).length}, ${all.length}, ${at()}, 0
          FROM market.standing_passes WHERE chain_id = ${chainId}`
      })
    },

    /** Writes a finding as the oracle does. */
    async find(
      internalId: bigint,
      outcome: 'pending' | 'confirmed' | 'contradicted',
      size = MILLION,
    ): Promise<void> {
      await sql.begin(async (tx) => {
        await tx`
          INSERT INTO market.findings
            (chain_id, internal_id, agent_id, outcome, satisfaction, others, others_weight, others_weighted, size, found_at)
          SELECT chain_id, internal_id, agent_id, ${outcome}, 0, 0, 0, 0, ${size}, ${at()} FROM market.reviews WHERE internal_id = ${internalId}`
        await history.outcome(internalId, outcome, tx)
      })
    },

    async outcome(internalId: bigint, outcome: string, tx: Sql | Transaction = sql): Promise<void> {
      await tx`UPDATE market.reviews SET comparison_outcome = ${outcome} WHERE internal_id = ${internalId}`
    },

    /** Writes an admin's decision of a dispute. */
    async resolve(internalId: bigint, upheld: boolean): Promise<void> {
      await sql.begin(async (tx) => {
        await tx`
          INSERT INTO market.dispute_decisions (internal_id, decided_by, note, upheld) VALUES (${internalId}, ${WALLET}, '', ${upheld})`
        await history.outcome(internalId, 'resolved', tx)
      })
    },

    followOnce: () => followOnce({ sql, clock: () => clock.now }, chain, followers),

    /** Follows until nothing is left to do. */
    async follow(): Promise<void> {
      while (await history.followOnce()) {}
    },
  }
  return history
}

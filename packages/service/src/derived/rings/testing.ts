// A test market in which owners buy and vote: writes the rows that the search for rings reads.
import type { Sql } from '@referrer/database'
import { dayOf, inflate } from '@referrer/ranking'
import { asIndexer } from '../../testing/records.ts'
import type { Found, Search } from './found-store.ts'

const bytes = (number: number, length: number) =>
  Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex')
export const account = (number: number): Buffer => bytes(number, 20)

/** What one purchase counts as spending. */
export const SPENT = 50_000

/** A ring as a search finds it. */
export const ringOf = (owners: readonly Buffer[], merchantId: bigint): Found => ({
  members: owners.map((owner) => ({ owner, cast: 6, got: 6 })),
  shops: [{ merchantId, votes: 6 * owners.length, spent: SPENT }],
  votes: { inside: 6 * owners.length, all: 8 * owners.length, first: 1_780_000_000, last: 1_780_086_400 },
  spent: { inside: SPENT, all: 2 * SPENT },
  standing: 120_000,
})

export const searchOn = (chainId: number, at = new Date()): Search => ({
  chainId,
  day: dayOf(at),
  owners: 0,
  votes: 0,
  isComplete: true,
  at,
  tookMs: 0,
})

export interface VoteCast {
  /** Agents; each belongs to the owner of the same number. */
  voter: number
  author: number
  merchantId: number
}

export type Town = ReturnType<typeof createTown>

export function createTown(sql: Sql, chainId: number) {
  const clock = { now: Date.parse('2026-06-01T12:00:00Z') }
  const reviews = new Map<string, bigint>()
  let numbers = 0

  async function reviewOf(author: number, merchantId: number): Promise<bigint> {
    const known = reviews.get(`${author} ${merchantId}`)
    if (known) return known
    const number = ++numbers
    const [row] = await sql<{ internal_id: bigint }[]>`
      INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps,
        author_owner, satisfaction_score, content)
      VALUES (${chainId}, ${author}, ${merchantId}, ${bytes(merchantId, 32)}, ${bytes(number, 32)}, 1, ${number}, 0,
        ${account(author)}, 1, '{}')
      RETURNING internal_id`
    const internalId = row?.internal_id ?? 0n
    reviews.set(`${author} ${merchantId}`, internalId)
    return internalId
  }

  return {
    sql,
    chainId,
    clock,

    async agents(...ids: number[]): Promise<void> {
      await asIndexer(sql, async (tx) => {
        for (const id of ids) {
          await tx`
            INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
            VALUES (${chainId}, ${id}, ${account(id)}, ${account(0)}, '', now())`
          await tx`INSERT INTO market.agents (chain_id, agent_id) VALUES (${chainId}, ${id})`
        }
      })
    },

    async standing(owner: number, standing: number): Promise<void> {
      await sql`INSERT INTO market.owner_standings VALUES (${chainId}, ${account(owner)}, ${standing})`
    },

    async shops(isVerified: boolean, ...ids: number[]): Promise<void> {
      for (const id of ids) {
        await sql`INSERT INTO market.shop_standings VALUES (${chainId}, ${id}, ${isVerified ? 1_000_000 : 50_000}, ${isVerified})`
      }
    },

    async vote({ voter, author, merchantId }: VoteCast): Promise<void> {
      clock.now += 1_000
      const at = new Date(clock.now)
      const purchase = ++numbers
      const review = await reviewOf(author, merchantId)
      await sql`
        WITH ballot AS (
          INSERT INTO market.ballots
            (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry, signature, cast_at)
          VALUES (${chainId}, ${account(1)}, ${account(voter)}, ${bytes(purchase, 32)}, ${purchase}, ${voter}, '', '', 0, '', ${at})
          RETURNING ballot_id)
        INSERT INTO market.votes (ballot_id, review_internal_id, position, reasoning, chain_id, voter_agent_id, author_agent_id,
          voter_owner, qualifies, weight, cast_at)
        SELECT ballot_id, ${review}, 1, 'because', ${chainId}, ${voter}, ${author}, ${account(voter)}, ${voter !== author}, 0, ${at}
        FROM ballot`
      await sql`
        INSERT INTO market.spent_at_shops AS s (chain_id, owner, merchant_id, spent)
        VALUES (${chainId}, ${account(voter)}, ${merchantId}, ${inflate(SPENT, dayOf(at))})
        ON CONFLICT (chain_id, owner, merchant_id) DO UPDATE SET spent = s.spent + excluded.spent`
    },

    /** Each votes for each other one. */
    async collude(members: readonly number[], merchantId: number, times = 1): Promise<void> {
      for (let round = 0; round < times; round++) {
        for (const voter of members) {
          for (const author of members) {
            if (voter !== author) await this.vote({ voter, author, merchantId })
          }
        }
      }
    },

    /** The standings of a day. */
    async pass(verified = 1): Promise<void> {
      await sql`
        INSERT INTO market.standing_passes
        SELECT ${chainId}, coalesce(max(pass), 0) + 1, ${dayOf(new Date(clock.now))}, 0, 0, ${verified}, 0, 0, now(), 0
        FROM market.standing_passes WHERE chain_id = ${chainId}`
    },

    goOn(days: number): void {
      clock.now += days * 86_400_000
    },
  }
}

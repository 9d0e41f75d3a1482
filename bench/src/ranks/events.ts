// Adds votes, findings and opinions as the indexer and the doors write them.
import type { Sql, Transaction } from '@referrer/database'
import { BEGAN, CHAIN_ID, DAYS, sizesOf } from './fill.ts'

export type Kind = 'vote' | 'finding' | 'opinion'
export const KINDS: readonly Kind[] = ['vote', 'finding', 'opinion']

const DAY_MS = 86_400_000
const account = (number: number) => Buffer.from(number.toString(16).padStart(40, '0'), 'hex')
const bytes32 = (number: number) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')

/** Events of a market that was filled, in the shares that it was filled with. Each is later than all before. */
export function createEvents(sql: Sql, events: number) {
  const { reviews, agents } = sizesOf(events)
  const clock = { now: BEGAN + (DAYS + 1) * DAY_MS }
  let count = events

  /** Returns the agent whose rank it moves. */
  async function happen(tx: Transaction, kind: Kind): Promise<number> {
    count += 1
    clock.now += 1_000
    const at = new Date(clock.now)
    const review = 1 + ((count * 7_907) % reviews)
    const agent = 1 + ((count * 37) % agents)
    if (kind === 'opinion') {
      const [row] = await tx<{ internal_id: bigint; agent_id: bigint }[]>`
        INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content,
          satisfaction_score, author_owner, opinion_size, opinion_weight)
        SELECT chain_id, agent_id, merchant_id, product_id, ${bytes32(count)}, 2, ${count}, 0, '{}', 1, author_owner, 1000000, 500000
        FROM market.reviews WHERE internal_id = ${review} RETURNING internal_id, agent_id`
      await tx`
        INSERT INTO chain.reviews
        SELECT chain_id, ${count}, internal_id, agent_id, merchant_id, product_id, published_hash, 2, proof_id, ${at}
        FROM market.reviews WHERE internal_id = ${row?.internal_id ?? 0n}`
      return Number(row?.agent_id)
    }
    if (kind === 'finding') {
      const [row] = await tx<{ agent_id: bigint }[]>`
        UPDATE market.reviews SET comparison_outcome = CASE comparison_outcome WHEN 'confirmed' THEN 'contradicted' ELSE 'confirmed' END
        WHERE internal_id = ${review} RETURNING agent_id`
      await tx`
        INSERT INTO market.findings
          (chain_id, internal_id, agent_id, outcome, satisfaction, others, others_weight, others_weighted, size, found_at)
        SELECT chain_id, internal_id, agent_id, comparison_outcome, 0, 3, 3000000, 0, 1000000, ${at} FROM market.reviews WHERE internal_id = ${review}`
      return Number(row?.agent_id)
    }
    await tx`
      INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, buyer_owner, payer, nonce, merchant_id,
        product_id, review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash)
      VALUES (${CHAIN_ID}, ${account(900)}, ${count}, 1, ${agent}, ${account(agent)}, ${account(count)}, ${bytes32(count)}, 1, ${bytes32(1)},
        ${1 + ((count * 13) % reviews)}, 1000000, 50000,
        5000, 20000, 5000, ${at}, ${at}, ${bytes32(count)})`
    const [ballot] = await tx<{ ballot_id: bigint }[]>`
      INSERT INTO market.ballots (chain_id, contract, payer, nonce, escrow_id, voter_agent_id, votes_hash, commitment_nonce, expiry, signature, cast_at)
      VALUES (${CHAIN_ID}, ${account(900)}, ${account(count)}, ${bytes32(count)}, ${count}, ${agent}, '', '', 0, '', ${at}) RETURNING ballot_id`
    const [vote] = await tx<{ author_agent_id: bigint }[]>`
      INSERT INTO market.votes
      SELECT ${ballot?.ballot_id ?? 0n}, internal_id, 1, 'It told what we found.', chain_id, ${agent}, agent_id, ${account(agent)}, true, 1000000, ${at}, true
      FROM market.reviews WHERE internal_id = ${review} RETURNING author_agent_id`
    return Number(vote?.author_agent_id)
  }

  return {
    now: () => clock.now,
    /** So many at once. Returns the agents whose ranks they move. */
    happen: (kind: Kind, times: number) =>
      sql.begin(async (tx) => {
        await tx`SELECT set_config('indexer.block', 'final', true)`
        const authors: number[] = []
        for (let n = 0; n < times; n += 1) authors.push(await happen(tx, kind))
        return authors
      }),
  }
}
export type Events = ReturnType<typeof createEvents>

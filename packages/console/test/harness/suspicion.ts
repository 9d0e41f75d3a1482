// A suspected ring in the demo market: it has none of its own.
import { inDatabase, type TestSandbox } from '../../../../sandbox/test/sandbox.ts'

/** Owners who voted for each other at the shop with the most votes. The same ones are suspected once. Returns the number of the ring. */
export const suspectRing = (sandbox: Pick<TestSandbox, 'state' | 'directory'>): Promise<number> =>
  inDatabase(sandbox, async (sql) => {
    const { chainId } = sandbox.state
    const [known] = await sql<{ ring_id: bigint }[]>`
      SELECT ring_id FROM market.rings WHERE chain_id = ${chainId} AND NOT is_dismissed ORDER BY ring_id DESC LIMIT 1`
    if (known) return Number(known.ring_id)
    const [made] = await sql<{ ring_id: bigint }[]>`
      WITH cast_votes AS (
        SELECT v.voter_owner AS voter, w.author_owner AS author, w.merchant_id
        FROM market.votes AS v JOIN market.reviews AS w ON w.internal_id = v.review_internal_id
        WHERE v.chain_id = ${chainId} AND v.qualifies),
      place AS (SELECT merchant_id, count(*)::integer AS votes FROM cast_votes GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1),
      inside AS (SELECT voter, author FROM cast_votes JOIN place USING (merchant_id)),
      people AS (
        SELECT owner, sum(given)::integer AS given, sum(got)::integer AS got FROM (
          SELECT voter AS owner, 1 AS given, 0 AS got FROM inside UNION ALL SELECT author, 0, 1 FROM inside) AS each
        GROUP BY 1 ORDER BY sum(given + got) DESC, owner LIMIT 8),
      ring AS (
        INSERT INTO market.rings (chain_id, members, votes_inside, votes_all, spent_inside, spent_all, standing, first_vote_at,
          last_vote_at, found_at, seen_at)
        SELECT ${chainId}, (SELECT count(*) FROM people), votes, votes + 5, 2400000, 3100000, 140000,
          now() - interval '40 days', now() - interval '1 day', now(), now() FROM place
        RETURNING ring_id),
      shops AS (INSERT INTO market.ring_shops SELECT ring_id, merchant_id, votes, 2400000 FROM ring, place),
      members AS (
        INSERT INTO market.ring_members (ring_id, owner, standing, cast_inside, got_inside)
        SELECT ring_id, owner, 140000, given, got FROM ring, people)
      SELECT ring_id FROM ring`
    if (!made) throw new Error('nobody has voted in the demo market')
    return Number(made.ring_id)
  })

import { migrate, type PostgresServer, type Sql } from '@referrer/database'
import { migrations } from '@referrer/service'
import { withoutIndexes } from '@referrer/service/testing'
import { connectPatiently, createDatabase } from '../databases.ts'

export const CHAIN_ID = 8453
export const NOW = new Date('2026-03-01T00:00:00Z')
/** The purchases were made one after the other during so many days before. */
const DAYS = 59
const AGENTS = 10_000

const account = (number: string) => `decode(lpad(to_hex(${number}), 40, '0'), 'hex')`
const bytes32 = (number: string) => `decode(lpad(to_hex(${number}), 64, '0'), 'hex')`
const now = `timestamptz '${NOW.toISOString()}'`

/** A database with so many open escrows, half of them reviewed. All owners are linked to a chat, and no reminder is due. */
export async function createFilled(server: PostgresServer, escrows: number): Promise<Sql> {
  // One connection: what it has read is counted exactly.
  const sql = connectPatiently(await createDatabase(server, `reminders_${escrows}`), 1)
  try {
    await migrate(sql, migrations)
    await sql.begin(async (tx) => {
      // Without triggers: what is filled in is not followed.
      await tx`SET LOCAL session_replication_role = replica`
      await withoutIndexes(tx, async () => {
        for (const statement of statements(escrows)) await tx.unsafe(statement)
      })
    })
    await sql`VACUUM ANALYZE`
    return sql
  } catch (error) {
    await sql.end()
    throw error
  }
}

const statements = (escrows: number) => [
  `INSERT INTO indexer.checkpoints (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
   VALUES (${CHAIN_ID}, 1, ${bytes32('1')}, ${now}, 1, 1, ${now})`,
  `INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
   SELECT ${CHAIN_ID}, n, ${account('n')}, ${account('0')}, '', ${now} FROM generate_series(1, ${AGENTS}) AS n`,
  `INSERT INTO market.chat_links (owner, channel, chat, linked_at)
   SELECT ${account('n')}, 'bench', n, ${now} FROM generate_series(1, ${AGENTS}) AS n`,
  `INSERT INTO market.products (chain_id, merchant_id, product_id, name) VALUES (${CHAIN_ID}, 1, ${bytes32('1')}, 'Weather')`,
  `INSERT INTO chain.escrows (chain_id, contract, escrow_id, reviewer_agent_id, buyer_agent_id, payer, nonce, merchant_id,
     product_id, review_id, price, commission, fee, held_back, cashback, window_end, deposited_at, transaction_hash)
   SELECT ${CHAIN_ID}, ${account('900')}, n, 1, 1 + n % ${AGENTS}, ${account('n')}, ${bytes32('n')}, 1, ${bytes32('1')}, 1, 1000000,
     50000, 5000, 20000, 5000, deposited_at + interval '60 days', deposited_at, ${bytes32('n')}
   FROM generate_series(1, ${escrows}) AS n,
     LATERAL (SELECT ${now} - n::float8 / ${escrows} * interval '${DAYS} days' AS deposited_at) AS made`,
  `INSERT INTO market.reviews (internal_id, chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id,
     cashback_bps, content)
   OVERRIDING SYSTEM VALUE
   SELECT escrow_id, chain_id, buyer_agent_id, merchant_id, product_id, ${bytes32('escrow_id')}, 2, escrow_id, 0, '{}'
   FROM chain.escrows WHERE escrow_id % 2 = 0`,
  `INSERT INTO chain.reviews
   SELECT chain_id, internal_id, internal_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, ${now}
   FROM market.reviews`,
  `INSERT INTO market.notices (chain_id, contract, payer, nonce, escrow_id, window_end, pinged, done_at, due_at)
   SELECT chain_id, contract, payer, nonce, escrow_id, window_end, true, ${now}, CASE WHEN escrow_id % 2 = 1 THEN (
     SELECT min(deposited_at + days * interval '1 day') FROM unnest(ARRAY[3, 14, 30, 50]) AS days
     WHERE deposited_at + days * interval '1 day' > ${now}) END
   FROM chain.escrows`,
]

/** Makes reminders of so many purchases due. */
export async function makeDue(sql: Sql, count: number): Promise<void> {
  await sql`
    UPDATE market.notices SET remind_at = ${NOW}, due_at = ${NOW}
    WHERE escrow_id = ANY(SELECT 2 * n + 1 FROM generate_series(1, ${count}::bigint) AS n)`
  await sql`VACUUM ANALYZE market.notices`
}

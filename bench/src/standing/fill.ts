import { migrate, type PostgresServer, type Sql } from '@referrer/database'
import { dayOf, inflationOf } from '@referrer/ranking'
import { migrations } from '@referrer/service'
import { withoutIndexes } from '@referrer/service/testing'
import { connectPatiently, createDatabase } from '../databases.ts'

export const CHAIN_ID = 8453
export const NOW = new Date('2026-11-01T12:00:00Z')
/** Everybody bought at so many shops, within so many days. */
const SHOPS_OF_OWNER = 10
const DAYS = 360

export interface Size {
  owners: number
  shops: number
}

/** A database in which every owner has bought at ten shops, and every second shop is verified. */
export async function createFilled(server: PostgresServer, size: Size): Promise<Sql> {
  const sql = connectPatiently(await createDatabase(server, `standing_${size.owners}`), 1)
  try {
    await migrate(sql, migrations)
    await sql.begin(async (tx) => {
      // Without triggers: what is filled in is not followed.
      await tx`SET LOCAL session_replication_role = replica`
      await withoutIndexes(tx, async () => {
        for (const statement of statements(size)) await tx.unsafe(statement)
      })
    })
    await sql`VACUUM ANALYZE`
    return sql
  } catch (error) {
    await sql.end()
    throw error
  }
}

const account = (text: string) => `substring(sha256(convert_to(${text}, 'UTF8')) FOR 20)`
/** A number from 0 up to, and without, 1; the same one for the same text. */
const chance = (text: string) => `(hashtextextended(${text}, 0) & 1048575) / 1048576.0::float8`
const now = `timestamptz '${NOW.toISOString()}'`

/** The low numbers of shops sell most. */
const statements = ({ owners, shops }: Size) => [
  `INSERT INTO indexer.checkpoints (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
   VALUES (${CHAIN_ID}, 1, '', ${now}, 1, 1, ${now})`,
  `INSERT INTO chain.identities (chain_id, agent_id, owner, wallet, uri, minted_at)
   SELECT ${CHAIN_ID}, n, ${account("'shop ' || n")}, '', '', ${now} FROM generate_series(1, ${shops}) AS n`,
  `INSERT INTO market.shop_verifications (chain_id, merchant_id, owner, is_verified, note, decided_by, decided_at)
   SELECT chain_id, agent_id, owner, true, 'known', '', ${now} FROM chain.identities WHERE agent_id % 2 = 0`,
  `CREATE TEMP TABLE inflations ON COMMIT DROP AS SELECT * FROM (VALUES ${inflations()}) AS i (ago, inflation)`,
  // Made faster than it is kept.
  'ALTER TABLE market.spent_at_shops DROP CONSTRAINT spent_at_shops_pkey',
  `INSERT INTO market.spent_at_shops (chain_id, owner, merchant_id, spent)
   SELECT ${CHAIN_ID}, ${account("'owner ' || n")},
     1 + floor(${shops} * power((k + ${chance("n || '/' || k")}) / ${SHOPS_OF_OWNER}, 2))::bigint,
     (1000000 + floor(50000000 * ${chance("n || ' spent ' || k")})::bigint) * inflation
   FROM generate_series(0, ${SHOPS_OF_OWNER - 1}) AS k CROSS JOIN generate_series(1, ${owners}) AS n
   JOIN inflations ON ago = (n + 37 * k) % ${DAYS}`,
  'ALTER TABLE market.spent_at_shops ADD PRIMARY KEY (chain_id, owner, merchant_id)',
]

const inflations = () =>
  Array.from({ length: DAYS }, (_, ago) => `(${ago}, ${inflationOf(dayOf(NOW) - ago)}::numeric)`).join(', ')
